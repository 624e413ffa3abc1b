import Bytes
import Platform
package import Sealing
package import Storage

// Documentation/Format/Keys.md says what a power cut leaves at each step.

extension KeyFile {
  /// The name of the file in a user's directory.
  package static let name = "user.keys"
  /// The name of a file that is being written. It is never read.
  static let newName = "user.keys.new"
  /// The name of the lock file of changes.
  package static let lockName = "user.lock"

  /// Whether a directory has keys. Nothing of them is checked.
  package static func exists(in directory: any StorageDirectory) throws(KeyError) -> Bool {
    try keyStorage { () throws(StorageError) in try directory.identity(of: name) != nil }
  }

  /// Whether a directory has keys, or the rest of a change of them.
  static func isAnything(in directory: any StorageDirectory) throws(KeyError) -> Bool {
    try keyStorage { () throws(StorageError) in
      if try directory.identity(of: name) != nil { return true }
      return try directory.identity(of: newName) != nil
    }
  }

  /// Reads the keys of a directory; `nil` if it has none, so that its stores are in clear.
  ///
  /// - Throws: `KeyError.damaged`, `.newer`, `.io`.
  package static func read(in directory: any StorageDirectory) throws(KeyError) -> KeyFile? {
    let bytes = try keyStorage { () throws(StorageError) in
      // One byte more tells a file that is too long.
      try directory.open(name, .read)?.read(Layout.size + 1, at: 0)
    }
    guard let bytes else { return nil }
    return try KeyFile(bytes, path: directory.path + "/" + name)
  }

  /// Takes the lock of changes, without waiting.
  ///
  /// - Throws: `KeyError.locked`, `.io`.
  package static func lock(in directory: any StorageDirectory) throws(KeyError) -> any StorageLock {
    let lock = try keyStorage { () throws(StorageError) in try directory.lock(lockName) }
    guard let lock else { throw .locked(path: directory.path + "/" + lockName) }
    return lock
  }

  /// Writes the file durably instead of the one that is there, and overwrites that one with zeros. The caller has the
  /// lock of changes.
  ///
  /// - Throws: `KeyError.io`. Then the old file is there, or the new one, whole.
  package func write(in directory: any StorageDirectory) throws(KeyError) {
    let bytes = bytes
    try keyStorage { () throws(StorageError) in
      // What an interrupted change left has wrappings too.
      try Self.destroy(Self.newName, in: directory)
      let old = try Self.openSole(Self.name, in: directory)
      guard let new = try directory.open(Self.newName, .create) else {
        throw StorageError(operation: "create", path: directory.path + "/" + Self.newName, code: ENOENT)
      }
      try new.write(bytes, at: 0)
      try new.sync()
      try directory.rename(Self.newName, to: Self.name)
      try directory.sync()
      // The change is done. Overwriting is an attempt: the medium may keep the old bytes in any case.
      if let old, (try? old.linkCount()) == 0 { try? Self.overwrite(old) }
    }
  }

  /// Destroys the keys of a directory, so that nobody can open its sealed stores any more. Needs no key.
  ///
  /// - Returns: Whether there were keys.
  /// - Throws: `KeyError.io`.
  @discardableResult
  package static func destroy(in directory: any StorageDirectory) throws(KeyError) -> Bool {
    try keyStorage { () throws(StorageError) in
      let hadNew = try destroy(newName, in: directory)
      let had = try destroy(name, in: directory)
      if had || hadNew { try directory.sync() }
      return had || hadNew
    }
  }

  /// Overwrites a file, makes that durable, and removes the name.
  @discardableResult
  private static func destroy(_ name: String, in directory: any StorageDirectory) throws(StorageError) -> Bool {
    guard try directory.identity(of: name) != nil else { return false }
    if let file = try openSole(name, in: directory) { try overwrite(file) }
    return try directory.remove(name)
  }

  /// Opens a file that may be overwritten: one with a single name, and of the owner of the directory's files. Others
  /// may have been linked there to be destroyed. `nil` for those, for a link, and if there is no file.
  private static func openSole(
    _ name: String, in directory: any StorageDirectory
  ) throws(StorageError) -> (any StorageFile)? {
    do throws(StorageError) {
      if let directory = directory as? PosixDirectory { return try directory.openSole(name) }
      guard let file = try directory.open(name, .write), try file.linkCount() == 1 else { return nil }
      return file
    } catch {
      if error.code == ELOOP { return nil }
      throw error
    }
  }

  private static func overwrite(_ file: any StorageFile) throws(StorageError) {
    let size = min(try file.size(), Layout.size)
    if size > 0 { try file.write([UInt8](repeating: 0, count: size), at: 0) }
    try file.sync()
  }

  /// Writes a mark into the keys file of a directory, in place and without a sync. The caller has the lock of the store
  /// that the mark is about. Does nothing if there is no keys file, or no place for the name.
  ///
  /// - Throws: `KeyError.io`, `.system`.
  package static func update(
    _ mark: StoreMark, _ key: DataKey, in directory: any StorageDirectory
  ) throws(KeyError) {
    guard let offset = mark.offset else { return }
    let bytes = try sealing { () throws(SealingError) in try mark.bytes(key) }
    try keyStorage { () throws(StorageError) in
      // A file that is being destroyed, or is no keys file, stays as it is.
      guard let file = try openSole(name, in: directory), try file.size() == Layout.size else { return }
      try file.write(bytes, at: offset)
    }
  }
}
