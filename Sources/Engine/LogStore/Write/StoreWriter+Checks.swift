import Platform

// A writer holds its lock and has its file open. Both are meaningful only while the file has the log's name. Programs
// respect the lock, but users who move, restore or remove files do not.

extension StoreWriter {
  /// Throws an error unless the log's name still refers to the file that this writer knows.
  func checkName() throws(StoreError) {
    let identity = try storage { () throws(StorageError) in try location.directory.identity(of: location.log) }
    if identity != namedFile { throw .replaced(path: location.directory.path + "/" + location.log) }
  }

  /// Throws an error unless `log` has its name and, if `end` is given, ends there. Called before a commit is written at
  /// that end.
  ///
  /// - Complexity: Two system calls.
  func checkLog(_ log: LogFile, endsAt end: Int?) throws(StoreError) {
    try checkName()
    guard let end else { return }
    let size = try log.size()
    if size < end { throw log.damage(size, "the file ends here, \(end) bytes were committed") }
    if size > end { throw log.damage(end, "another program wrote after the last commit; open the store again") }
  }
}
