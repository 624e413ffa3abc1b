import Storage

// A writer holds its lock and its file open; both keep their meaning only for as long as the file has the log's name. Programs
// respect the lock. People who move, restore or remove files do not.

extension StoreWriter {
  /// Throws unless the name of the log still leads to the file that this writer knows.
  func checkName() throws(StoreError) {
    let identity = try storage { () throws(StorageError) in try location.directory.identity(of: location.log) }
    if identity != namedFile { throw .replaced(path: location.directory.path + "/" + location.log) }
  }

  /// Throws unless `log` has its name and, where `end` is told, ends there: before a commit is written behind that end.
  ///
  /// - Complexity: two system calls.
  func checkLog(_ log: LogFile, endsAt end: Int?) throws(StoreError) {
    try checkName()
    guard let end else { return }
    let size = try log.size()
    if size < end { throw log.damage(size, "the file ends here, \(end) bytes were committed") }
    if size > end { throw log.damage(end, "something else wrote behind the last commit; open the store again") }
  }
}
