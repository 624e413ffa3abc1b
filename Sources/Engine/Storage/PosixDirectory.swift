import CStorage
package import Platform
import Synchronization

/// A directory of the operating system, held open, so that later changes to its path do not redirect operations.
///
/// A name is a single path component. A name that ``isName(_:)`` rejects is a programmer's error, because it might
/// refer to something outside the directory.
package final class PosixDirectory: StorageDirectory {
  package let path: String
  let descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  package var systemDescriptor: Int32? { descriptor }

  deinit { close(descriptor) }

  /// Returns whether `name` can be the name of a directory entry: it is not empty, contains no slash and no zero byte,
  /// which would end a C string, and is neither `.` nor `..`.
  package static func isName(_ name: String) -> Bool {
    !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }

  /// Returns the name after checking it.
  func checked(_ name: String) -> String {
    precondition(Self.isName(name), "a name is one component of a path")
    return name
  }

  /// Opens the directory at `path`; returns `nil` if there is no such directory.
  package static func open(_ path: String) throws(StorageError) -> PosixDirectory? {
    // The system would truncate the path at the zero byte.
    if path.utf8.contains(0) { throw StorageError(operation: "open directory", path: path, code: EINVAL) }
    // The path is a C string for the call, as is every name below.
    let descriptor = retrying { unsafe shelfmark_open_directory(path) }
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      throw StorageError(operation: "open directory", path: path, code: errno)
    }
    return PosixDirectory(path: path, descriptor: descriptor)
  }

  /// Opens the directory at `path`, creating it and every missing parent with mode 0700.
  ///
  /// Its name is durable on return, even if another process created the directory: a process that crashed before it
  /// synced the parent must not cost us later commits below it.
  package static func create(_ path: String) throws(StorageError) -> PosixDirectory {
    let (parent, name) = split(path)
    if let existing = try open(path) {
      // A parent that we may not read belongs to another user and existed before.
      _ = try? open(parent)?.sync()
      return existing
    }
    guard !name.isEmpty else { throw StorageError(operation: "create directory", path: path, code: ENOENT) }
    let made = try create(parent)
    if isName(name) { return try made.makeSubdirectory(name) }
    // Once its parent exists, so does `.` or `..` in it.
    guard let directory = try open(path) else {
      throw StorageError(operation: "create directory", path: path, code: ENOENT)
    }
    return directory
  }

  /// Opens the directory `name` in this one; returns `nil` if there is no such directory. Never follows a link.
  package func subdirectory(_ name: String) throws(StorageError) -> PosixDirectory? {
    let descriptor = retrying { unsafe shelfmark_openat(self.descriptor, checked(name), O_RDONLY | O_DIRECTORY, 0) }
    if descriptor < 0 {
      if errno == ENOENT { return nil }
      let failure = failure("open directory", name)
      // For a link to a directory, the system only reports that it is not a directory.
      if failure.code == ENOTDIR, let status = try status(of: name), status.st_mode & S_IFMT == S_IFLNK {
        throw StorageError(operation: failure.operation, path: failure.path, code: ELOOP)
      }
      throw failure
    }
    return PosixDirectory(path: path + "/" + name, descriptor: descriptor)
  }

  /// Opens the directory `name` in this one, creating it if it is missing. Its name is durable on return, even if
  /// another process created it.
  package func makeSubdirectory(_ name: String) throws(StorageError) -> PosixDirectory {
    if retrying({ unsafe mkdirat(descriptor, checked(name), 0o700) }) == 0 {
      if let owner = try ownerOfNewEntries() {
        try give(directory: name, to: owner)
      } else if retrying({ unsafe fchmodat(descriptor, name, 0o700, 0) }) != 0 {
        // The umask may have left a mode with which the directory could not even be opened.
        throw failure("change the mode of", name)
      }
    } else if errno != EEXIST {
      throw failure("create directory", name)
    }
    try sync()
    guard let made = try subdirectory(name) else {
      throw StorageError(operation: "open directory", path: path + "/" + name, code: ENOENT)
    }
    return made
  }

  /// Returns the directory at `path` or its nearest existing ancestor; `nil` if none can be opened.
  package static func nearest(to path: String) -> PosixDirectory? {
    var path = path
    while true {
      if let directory = try? open(path) { return directory }
      let (parent, name) = split(path)
      if name.isEmpty || parent == path { return nil }
      path = parent
    }
  }

  /// Removes the empty directories from `path` up to `ancestor`, an existing directory above it, which stays.
  package static func removeEmpty(from path: String, upTo ancestor: PosixDirectory) {
    var path = path
    while path != ancestor.path {
      let (parent, name) = split(path)
      // `.` and `..` are no entries to remove.
      if isName(name), (try? open(parent)?.removeDirectory(name)) == nil { return }
      if parent == path { return }
      path = parent
    }
  }

  /// Whether this directory is `other` or lies below it, by whatever path either was opened. A directory above this one
  /// that cannot be looked at is not `other`.
  package func isWithin(_ other: PosixDirectory) throws(StorageError) -> Bool {
    let wanted = try other.identity()
    var (path, last) = (".", FileIdentity?.none)
    while true {
      var status = stat()
      // The call fills in the local structure.
      if retrying({ unsafe fstatat(descriptor, path, &status, 0) }) != 0 { return false }
      let found = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      if found == wanted { return true }
      // Above the topmost directory there is itself.
      if found == last { return false }
      last = found
      path += "/.."
    }
  }

  // MARK: Properties that matter to a store

  /// Returns the user ID of the owner of the directory.
  package func owner() throws(StorageError) -> UInt32 {
    var status = stat()
    // The call fills in the local structure.
    if retrying({ unsafe fstat(descriptor, &status) }) != 0 {
      throw StorageError(operation: "look at", path: path, code: errno)
    }
    return status.st_uid
  }

  /// Returns the user ID of the owner of the file `name`; `nil` if there is no such file.
  package func owner(of name: String) throws(StorageError) -> UInt32? { try status(of: name)?.st_uid }

  /// The effective user ID of this process.
  package static var effectiveUser: UInt32 { geteuid() }

  /// Returns the name of the directory's file system if it is unsuitable for a store; otherwise `nil`.
  package func unsuitableFileSystem() throws(StorageError) -> String? {
    let (magic, remoteName) = try fileSystem()
    return remoteName.isEmpty ? FileSystem.unsuitableName(magic: magic) : remoteName
  }

  /// Whether the directory lies on overlayfs, as the files of a container do that are on no volume.
  package func isOnOverlay() throws(StorageError) -> Bool { try fileSystem().magic == FileSystem.overlay }

  /// Returns the Linux kernel's magic number for the file system, or the name of one that an Apple system reports as
  /// not local.
  package func fileSystem() throws(StorageError) -> (magic: UInt32, remoteName: String) {
    try FileSystem.kind(of: descriptor, at: path)
  }

  package func availableByteCount() -> Int? {
    let count = shelfmark_available_bytes(descriptor)
    return count < 0 ? nil : Int(clamping: count)
  }

  package func names() throws(StorageError) -> [String] {
    let copy = retrying { unsafe shelfmark_openat(descriptor, ".", O_RDONLY | O_DIRECTORY, 0) }
    guard copy >= 0 else { throw StorageError(operation: "list", path: path, code: errno) }
    // The stream takes ownership of the descriptor and is closed below.
    var opened = unsafe fdopendir(copy)
    while unsafe opened == nil && errno == EINTR { unsafe opened = fdopendir(copy) }
    guard let stream = unsafe opened else {
      let code = errno
      close(copy)
      throw StorageError(operation: "list", path: path, code: code)
    }
    defer { unsafe closedir(stream) }
    var (names, code) = Self.all {
      // The entry is valid until the next call; its name is copied at once.
      guard let entry = unsafe readdir(stream) else { return nil }
      return unsafe withUnsafePointer(to: entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
    }
    if code != 0 { throw StorageError(operation: "list", path: path, code: code) }
    names.removeAll { $0 == "." || $0 == ".." }
    return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
  }

  /// Returns all names that `next` returns before its first `nil`, and `errno` if that `nil` was not the end but an
  /// error.
  static func all(_ next: () -> String?) -> (names: [String], code: Int32) {
    var names: [String] = []
    while true {
      // The system does not change `errno` at the end of a directory. Resetting it distinguishes the end from an error.
      errno = 0
      if let name = next() {
        names.append(name)
      } else if errno != EINTR {
        return (names, errno)
      }
    }
  }

  package func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)? {
    let flags: Int32 =
      switch mode {
      case .read: O_RDONLY
      case .write: O_RDWR
      case .create: O_RDWR | O_CREAT | O_TRUNC
      }
    if mode == .create, let owner = try ownerOfNewEntries() {
      // A file that is there may be a link to any other file, made by the owner of the directory. So it is not written.
      if let found = try status(of: name), found.st_mode & S_IFMT != S_IFDIR { _ = try remove(name) }
      return try PosixFile(path: path + "/" + name, descriptor: create(name, for: owner))
    }
    let file = retrying { unsafe shelfmark_openat(descriptor, checked(name), flags | O_NONBLOCK, 0o600) }
    if file < 0 {
      if errno == ENOENT, mode != .create { return nil }
      throw failure("open", name)
    }
    if mode == .create { _ = retrying { fchmod(file, 0o600) } }
    return try PosixFile(path: path + "/" + name, descriptor: file)
  }

  package func rename(_ old: String, to new: String) throws(StorageError) {
    if retrying({ unsafe renameat(descriptor, checked(old), descriptor, checked(new)) }) != 0 {
      throw failure("rename", old)
    }
  }

  /// Moves the entry `old`, which may be a directory, to `other` under the name `new`, which must be free.
  package func move(_ old: String, to other: PosixDirectory, as new: String) throws(StorageError) {
    if retrying({ unsafe renameat(descriptor, checked(old), other.descriptor, checked(new)) }) != 0 {
      throw failure("rename", old)
    }
  }

  package func link(_ old: String, to new: String) throws(StorageError) {
    if retrying({ unsafe linkat(descriptor, checked(old), descriptor, checked(new), 0) }) != 0 {
      throw failure("link", old)
    }
  }

  package func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError) {
    guard let source = other.systemDescriptor else {
      throw StorageError(operation: "link", path: path + "/" + new, code: EXDEV)
    }
    if retrying({ unsafe linkat(source, checked(old), descriptor, checked(new), 0) }) != 0 {
      let code = errno
      throw StorageError(operation: "link", path: other.path + "/" + old, code: code)
    }
  }

  package func remove(_ name: String) throws(StorageError) -> Bool {
    if retrying({ unsafe unlinkat(descriptor, checked(name), 0) }) == 0 { return true }
    if errno == ENOENT { return false }
    throw failure("remove", name)
  }

  /// Removes the empty directory `name`. Returns `false` if there was no such directory.
  @discardableResult
  package func removeDirectory(_ name: String) throws(StorageError) -> Bool {
    if retrying({ unsafe unlinkat(descriptor, checked(name), AT_REMOVEDIR) }) == 0 { return true }
    if errno == ENOENT { return false }
    throw failure("remove directory", name)
  }

  /// Returns the identity of this directory.
  package func identity() throws(StorageError) -> FileIdentity {
    var status = stat()
    // The call fills in the local structure.
    if retrying({ unsafe fstat(descriptor, &status) }) != 0 {
      throw StorageError(operation: "look at", path: path, code: errno)
    }
    return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// Returns whether `name` is a directory. It is `false` for a link to a directory and for a missing entry.
  package func isDirectory(_ name: String) throws(StorageError) -> Bool {
    try status(of: name).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
  }

  package func sync() throws(StorageError) {
    if retrying({ fsync(descriptor) }) != 0 {
      throw StorageError(operation: "sync directory", path: path, code: errno)
    }
  }

  package func identity(of name: String) throws(StorageError) -> FileIdentity? {
    try status(of: name).map { FileIdentity(device: UInt64($0.st_dev), inode: UInt64($0.st_ino)) }
  }

  /// Returns the size of the file `name` in bytes; `nil` if there is no such file, or if it is not a regular file but,
  /// for example, a link.
  package func byteCount(of name: String) throws(StorageError) -> Int? {
    guard let status = try status(of: name), status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  package func modificationTime(of name: String) throws(StorageError) -> Int64? {
    guard let status = try status(of: name) else { return nil }
    #if canImport(Darwin)
    let time = status.st_mtimespec
    #else
    let time = status.st_mtim
    #endif
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }

  package func setModificationTime(of name: String, to microseconds: Int64) throws(StorageError) {
    let time = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1000)
    // The times of the last access and the last modification, which the call copies.
    let times = [time, time]
    let result = unsafe times.withUnsafeBufferPointer { buffer in
      retrying { unsafe utimensat(descriptor, checked(name), buffer.baseAddress!, AT_SYMLINK_NOFOLLOW) }
    }
    if result != 0 { throw failure("set the time of", name) }
  }

  private func status(of name: String) throws(StorageError) -> stat? {
    var status = stat()
    // The call fills in the local structure.
    if retrying({ unsafe fstatat(descriptor, checked(name), &status, AT_SYMLINK_NOFOLLOW) }) != 0 {
      if errno == ENOENT { return nil }
      throw failure("look at", name)
    }
    return status
  }

  package func lock(_ name: String) throws(StorageError) -> (any StorageLock)? {
    let file = try openOrCreate(name)
    var status = stat()
    // The call fills in the local structure.
    guard retrying({ unsafe fstat(file, &status) }) == 0 else {
      let code = errno
      close(file)
      throw StorageError(operation: "look at", path: path + "/" + name, code: code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw StorageError(operation: "lock (it is not a regular file)", path: path + "/" + name, code: EINVAL)
    }
    // Whoever may write in this directory may have linked any other file to the name, which a program of root's could
    // write: it is locked, and stays as it is.
    let isOwn = try isSole(status)
    if isOwn { _ = retrying { fchmod(file, 0o600) } }
    return try lock(file, name, isWritable: isOwn)
  }

  /// Whether a file has one name only, and belongs to the user to whom this process's files in this directory belong.
  private func isSole(_ status: stat) throws(StorageError) -> Bool {
    let owner = try ownerOfNewEntries()
    return status.st_nlink == 1 && (owner == nil || owner?.user == status.st_uid)
  }

  /// Opens the file `name` for writing if this directory has its only name, and if it belongs to the user to whom this
  /// process's files in this directory belong. Otherwise, or if there is no such file, returns `nil`.
  package func openSole(_ name: String) throws(StorageError) -> (any StorageFile)? {
    let file = retrying { unsafe shelfmark_openat(descriptor, checked(name), O_RDWR | O_NONBLOCK, 0) }
    if file < 0 {
      if errno == ENOENT { return nil }
      throw failure("open", name)
    }
    let opened = try PosixFile(path: path + "/" + name, descriptor: file)
    var status = stat()
    // The call fills in the local structure.
    guard retrying({ unsafe fstat(file, &status) }) == 0, try isSole(status) else { return nil }
    return opened
  }

  /// Locks an open file and takes ownership of its descriptor. Returns `nil` if another process has the lock.
  private func lock(_ file: Int32, _ name: String, isWritable: Bool = false) throws(StorageError) -> PosixLock? {
    if retrying({ shelfmark_lock(file) }) == 0 { return PosixLock(descriptor: file, isWritable: isWritable) }
    let code = errno
    close(file)
    if code == EAGAIN || code == EACCES { return nil }
    throw StorageError(operation: "lock", path: path + "/" + name, code: code)
  }

  package func lockFile(_ name: String) throws(StorageError) -> FileLock {
    // Each further attempt requires that another file got the name in the meantime.
    for _ in 0..<8 {
      let file = retrying { unsafe shelfmark_openat(descriptor, checked(name), O_RDWR | O_NONBLOCK, 0) }
      if file < 0 { return .unneeded }
      var status = stat()
      // The call fills in the local structure.
      guard retrying({ unsafe fstat(file, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG else {
        close(file)
        return .unneeded
      }
      guard let lock = try lock(file, name) else { return .held }
      // The process that held it may have given the name to another file.
      let identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
      if try self.identity(of: name) == identity { return .taken(lock) }
      lock.release()
    }
    return .held
  }

  package func holder(of name: String) -> LockHolder? {
    guard let file = try? open(name, .read), let bytes = try? file.read(LockHolder.lineLimit, at: 0) else { return nil }
    return LockHolder(bytes).flatMap { $0.hasEnded ? nil : $0 }
  }

  func failure(_ operation: String, _ name: String) -> StorageError {
    let code = errno
    return StorageError(operation: operation, path: path + "/" + name, code: code)
  }

  /// Returns the directory and last component of a path. The directory of a bare name is ".".
  private static func split(_ path: String) -> (parent: String, name: String) {
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else {
      return (".", String(decoding: bytes, as: UTF8.self))
    }
    let parent = slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    return (parent, String(decoding: bytes[(slash + 1)...], as: UTF8.self))
  }
}

/// An advisory lock on an open file. It is released when the file is closed.
final class PosixLock: StorageLock {
  private let descriptor: Int32
  /// Whether the process that holds the lock may write its line into the file.
  private let isWritable: Bool
  private let process = getpid()
  private let isHeld = Atomic(true)

  init(descriptor: Int32, isWritable: Bool) {
    self.descriptor = descriptor
    self.isWritable = isWritable
  }

  deinit { release() }

  func sign() {
    let line = Array((LockHolder.current.line + "\n").utf8)
    // A writer that rests between commits finds its own line.
    guard let found = replaceableLine(), found != line else { return }
    if found.count > line.count { ftruncate(descriptor, 0) }
    // The array is alive during the call.
    _ = unsafe line.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress!, $0.count, 0) }
  }

  func unsign() {
    guard getpid() == process, isHeld.load(ordering: .acquiring), replaceableLine() != nil else { return }
    ftruncate(descriptor, 0)
  }

  /// The contents of the lock file if they may be replaced: it has one name, and is empty or has the line of a holder
  /// and nothing else. Otherwise `nil`: the file is not, or not only, a lock file.
  private func replaceableLine() -> [UInt8]? {
    var status = stat()
    // The call fills in the local structure.
    guard isWritable, retrying({ unsafe fstat(descriptor, &status) }) == 0, status.st_nlink == 1,
      0...LockHolder.lineLimit ~= Int(status.st_size)
    else { return nil }
    var found = [UInt8](repeating: 0, count: Int(status.st_size))
    if found.isEmpty { return found }
    // The array is alive during the call.
    let count = unsafe found.withUnsafeMutableBytes { unsafe pread(descriptor, $0.baseAddress!, $0.count, 0) }
    guard count == found.count, found.firstIndex(of: UInt8(ascii: "\n")) == count - 1, LockHolder(found) != nil else {
      return nil
    }
    return found
  }

  func release() {
    // Only the process that took the lock releases it. A forked child shares the lock and must not release it.
    guard getpid() == process, isHeld.exchange(false, ordering: .acquiringAndReleasing) else { return }
    // Closing alone would leave the lock to a child that was forked meanwhile and has not yet begun its program.
    shelfmark_unlock(descriptor)
    close(descriptor)
  }
}
