import Essentials
import Platform

/// The system calls of a ``DirectoryStore``. Paths are C strings during a call; each failed call is a `StorageError`.
enum DirectoryFiles {
  /// The path of the directory that has a file.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Creates a directory that everybody may read, and those above it. Does nothing if it is there.
  static func create(_ path: String) throws(ObjectStoreError) {
    if unsafe mkdir(path, 0o755) == 0 { return try sync(directory: parent(of: path)) }
    switch errno {
    case EEXIST:
      var status = stat()
      // The call fills in the local structure.
      guard unsafe stat(path, &status) == 0 else { throw failure("open", path) }
      if status.st_mode & S_IFMT != S_IFDIR {
        throw .storage(StorageError(operation: "create", path: path, code: ENOTDIR))
      }
    case ENOENT where path != "/" && path != ".":
      try create(parent(of: path))
      if unsafe mkdir(path, 0o755) != 0, errno != EEXIST { throw failure("create", path) }
      try sync(directory: parent(of: path))
    default: throw failure("create", path)
    }
  }

  /// Makes the names in a directory durable.
  static func sync(directory path: String) throws(ObjectStoreError) {
    let descriptor = retrying { unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    if descriptor < 0 { throw failure("open", path) }
    defer { close(descriptor) }
    // Some file systems cannot sync a directory, and need not.
    if retrying({ fsync(descriptor) }) != 0, errno != EINVAL, errno != ENOTSUP { throw failure("sync", path) }
  }

  /// Writes a new file that everybody may read, and makes its contents durable.
  static func write(
    _ bytes: [UInt8], to path: String, beforeSync: () throws(ObjectStoreError) -> Void
  ) throws(ObjectStoreError) {
    let descriptor = retrying { unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
    if descriptor < 0 { throw failure("create", path) }
    defer { close(descriptor) }
    var written = 0
    while written < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        // The system reads from the rest of the buffer.
        retrying { unsafe systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[written...])) }
      }
      if count < 0 { throw failure("write", path) }
      written += count
    }
    try beforeSync()
    if retrying({ fsync(descriptor) }) != 0 { throw failure("sync", path) }
  }

  /// Gives a file a further name.
  ///
  /// - Returns: `false` if the name is taken, or the file system has no links.
  static func link(_ path: String, to name: String) throws(ObjectStoreError) -> Bool {
    if systemLink(path, name) == 0 { return true }
    let error = StorageError(operation: "link", path: name, code: errno)
    if error.code == EEXIST || error.cannotLink { return false }
    throw .storage(error)
  }

  /// Gives a file a time that is at least a second after that of another one, if there is another one.
  ///
  /// Web servers tell the versions of a file apart by the second of its time (`Last-Modified`, and the `ETag` of nginx): two
  /// versions of one second would be the same for those who ask whether something has changed.
  static func makeLater(_ path: String, than other: String) {
    let files = FileManager.default
    guard let old = (try? files.attributesOfItem(atPath: other))?[.modificationDate] as? Date,
      let new = (try? files.attributesOfItem(atPath: path))?[.modificationDate] as? Date
    else { return }
    let next = old.timeIntervalSince1970.rounded(.down) + 1
    if new.timeIntervalSince1970 >= next { return }
    // If the time cannot be set, the file is as good as any other.
    try? files.setAttributes([.modificationDate: Date(timeIntervalSince1970: next)], ofItemAtPath: path)
  }

  /// Gives a file another name, which it takes from the file that has it.
  static func rename(_ path: String, to name: String) throws(ObjectStoreError) {
    if systemRename(path, name) != 0 { throw failure("rename", name) }
  }

  /// Removes a file, if it is there.
  static func remove(_ path: String) throws(ObjectStoreError) {
    if unsafe unlink(path) != 0, errno != ENOENT { throw failure("remove", path) }
  }

  static func exists(_ path: String) throws(ObjectStoreError) -> Bool {
    var status = stat()
    // The call fills in the local structure.
    if unsafe lstat(path, &status) == 0 { return true }
    if errno == ENOENT || errno == ENOTDIR { return false }
    throw failure("open", path)
  }

  /// The names in a directory.
  static func names(in path: String) throws(ObjectStoreError) -> [String] {
    guard let stream = unsafe opendir(path) else { throw failure("open", path) }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    // The entry is valid until the next call; its name is copied at once.
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafePointer(to: entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      names.append(name)
    }
    return names
  }

  /// Opens the file of a lock, and creates it if it is not there.
  static func openLock(_ path: String) throws(ObjectStoreError) -> Int32 {
    let descriptor = retrying { unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o644) }
    if descriptor < 0 { throw failure("open", path) }
    return descriptor
  }

  /// Takes the lock of an open file, unless another one has it.
  static func tryLock(_ descriptor: Int32, path: String) throws(ObjectStoreError) -> Bool {
    if retrying({ flock(descriptor, LOCK_EX | LOCK_NB) }) == 0 { return true }
    if errno == EWOULDBLOCK { return false }
    throw failure("lock", path)
  }

  private static func failure(_ operation: String, _ path: String) -> ObjectStoreError {
    .storage(StorageError(operation: operation, path: path, code: errno))
  }
}

// The functions of the C library, whose names the methods have too.

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  unsafe write(descriptor, bytes.baseAddress, bytes.count)
}

private func systemLink(_ path: String, _ name: String) -> Int32 { unsafe link(path, name) }

private func systemRename(_ path: String, _ name: String) -> Int32 { unsafe rename(path, name) }
