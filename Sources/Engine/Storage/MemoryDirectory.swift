import CStorage
package import Platform
import Synchronization

/// A directory in memory, for stores that nobody else needs to see and that need not last. Its files go with it, and with
/// those who have them open.
package final class MemoryDirectory: StorageDirectory {
  package let path = "memory"
  /// Guards the names of the files.
  private let files = Mutex<[String: PosixFile]>([:])

  package init() {}

  package func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? {
    if let file = files.withLock({ $0[name] }) {
      if mode == .create { try file.truncate(to: 0) }
      return file
    }
    if mode != .create { return nil }
    let descriptor = shelfmark_unnamed_file()
    if descriptor < 0 { throw StorageError(operation: "create", path: path(of: name), code: errno) }
    let file = try PosixFile(path: path(of: name), descriptor: descriptor)
    files.withLock { $0[name] = file }
    return file
  }

  private func path(of name: String) -> String { path + "/" + name }

  package func rename(_ old: String, to new: String) throws(StorageError) {
    let isThere = files.withLock { files in
      guard let file = files.removeValue(forKey: old) else { return false }
      files[new] = file
      return true
    }
    if !isThere { throw StorageError(operation: "rename", path: path(of: old), code: ENOENT) }
  }

  package func link(_ old: String, to new: String) throws(StorageError) {
    let code: Int32 = files.withLock { files in
      guard let file = files[old] else { return ENOENT }
      if files[new] != nil { return EEXIST }
      files[new] = file
      return 0
    }
    if code != 0 { throw StorageError(operation: "link", path: path(of: old), code: code) }
  }

  package func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    throw StorageError(operation: "link", path: path(of: new), code: EXDEV)
  }

  package func remove(_ name: String) throws(StorageError) -> Bool {
    files.withLock { $0.removeValue(forKey: name) } != nil
  }

  package func sync() throws(StorageError) {}

  package func identity(of name: String) throws(StorageError) -> FileIdentity? {
    files.withLock { $0[name]?.identity }
  }

  package func names() throws(StorageError) -> [String] {
    files.withLock { $0.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
  }

  package func lock(_ name: String) throws(StorageError) -> (any StorageLock)? { NoLock() }

  /// A lock that nobody else wants: who has the directory has one writer.
  private final class NoLock: StorageLock {
    func release() {}
  }
}
