import Platform
import RecordFormat

// A writer holds its lock and has its file open. Both are meaningful only while the file has the log's name. Programs
// respect the lock, but users who move, restore or remove files do not.

extension StoreWriter {
  /// Throws an error unless the log's name still refers to the file that this writer knows.
  func checkName() throws(StoreError) {
    let identity = try storage { () throws(StorageError) in try location.directory.identity(of: location.log) }
    if identity != namedFile { throw .replaced(path: location.directory.path + "/" + location.log) }
  }

  /// Throws an error unless `log` has its name and still has the commit that `last` ends. Called before anything is
  /// written after that commit.
  ///
  /// - Parameter mayBeLonger: Whether the file may have bytes after the commit, because this writer is writing them.
  /// - Complexity: Three system calls.
  func checkLog(_ log: LogFile, after last: SegmentFooter, mayBeLonger: Bool = false) throws(StoreError) {
    try checkName()
    let end = Int(last.end)
    let size = try log.size()
    guard size >= end, try log.hasCommit(last) else { throw location.overwritten(log, at: size, last) }
    if size > end, !mayBeLonger {
      throw log.damage(end, "another program wrote after the last commit; open the store again")
    }
  }

  /// Throws an error unless `log` still has its name, the commit that `footer` ends, and the one before it. Called before
  /// a commit is reported: one that cannot be found must not be acknowledged.
  func checkWritten(_ footer: SegmentFooter, after last: SegmentFooter?, in log: LogFile) throws(StoreError) {
    try checkName()
    for footer in [footer, last] {
      if let footer, try !log.hasCommit(footer) { throw .replaced(path: log.path) }
    }
  }
}

extension StoreLocation {
  /// Returns the error for a log without the commit that `last` ends, which it had before: somebody truncated it or wrote
  /// another file over it.
  func overwritten(_ log: LogFile, at size: Int, _ last: SegmentFooter) -> StoreError {
    if let footer = try? LogFile.open(self, .read)?.recover().footer, footer != last {
      return .replaced(path: log.path)
    }
    if size < Int(last.end) { return log.damage(size, "the file ends here, \(last.end) bytes were committed") }
    return log.damage(Int(last.offset), "footer of commit \(last.sequence): another program wrote over it")
  }
}
