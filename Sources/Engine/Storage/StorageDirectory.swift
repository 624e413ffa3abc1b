import Bytes
package import Platform

/// A directory that contains stores: the small protocol through which all other modules access the operating system.
///
/// Names contain no slash and never follow a link. Tests replace it with an in-memory device that distinguishes between
/// written and durable data.
package protocol StorageDirectory: Sendable {
  /// The path, for messages.
  var path: String { get }
  /// The descriptor for system calls that involve two directories; `nil` for a directory that does not belong to the
  /// operating system.
  var systemDescriptor: Int32? { get }

  /// Opens a file; returns `nil` if the file does not exist and `mode` does not create it.
  func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)?
  /// Renames the file `old` to `new`, replacing any file with that name.
  func rename(_ old: String, to new: String) throws(StorageError)
  /// Creates a hard link `new`, which must be a free name, to the file `old`.
  func link(_ old: String, to new: String) throws(StorageError)
  /// Creates a hard link `new`, which must be a free name, in this directory to the file `old` of another directory.
  func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError)
  /// Removes a name. Returns `false` if there was no such name.
  @discardableResult
  func remove(_ name: String) throws(StorageError) -> Bool
  /// Makes the names in this directory durable.
  func sync() throws(StorageError)
  /// Returns the identity of the file that has the name now; `nil` if there is no such file.
  func identity(of name: String) throws(StorageError) -> FileIdentity?
  /// Returns the names in this directory in byte order, without `.` and `..`.
  func names() throws(StorageError) -> [String]
  /// Takes the lock file `name`, which is created if missing; returns `nil` if another process has the lock.
  func lock(_ name: String) throws(StorageError) -> (any StorageLock)?
  /// Locks the file `name` itself, whichever other names it has, so that nobody writes to it who uses another lock file.
  func lockFile(_ name: String) throws(StorageError) -> FileLock
  /// Returns a description of the process that holds the lock file `name`; `nil` if it is not known. Call it only when
  /// ``lock(_:)`` has returned `nil`: the holder of a lock that is free is not meant.
  func holder(of name: String) -> LockHolder?
  /// Returns the free space in bytes; `nil` if it is not known. Other processes may use it in the meantime.
  func availableByteCount() -> Int?
  /// Returns the size of the file `name` in bytes; `nil` if there is no regular file with this name.
  func byteCount(of name: String) throws(StorageError) -> Int?
  /// Returns the modification time of the file `name`, in microseconds since 1970 UTC; `nil` if there is no such file,
  /// or if the directory stores no times.
  func modificationTime(of name: String) throws(StorageError) -> Int64?
  /// Sets the time that ``modificationTime(of:)`` returns.
  func setModificationTime(of name: String, to microseconds: Int64) throws(StorageError)
}

extension StorageDirectory {
  package var systemDescriptor: Int32? { nil }
  package func lockFile(_ name: String) throws(StorageError) -> FileLock { .unneeded }
  package func holder(of name: String) -> LockHolder? { nil }
  package func availableByteCount() -> Int? { nil }
  package func byteCount(of name: String) throws(StorageError) -> Int? { try open(name, .read)?.size() }
  package func modificationTime(of name: String) throws(StorageError) -> Int64? { nil }
  package func setModificationTime(of name: String, to microseconds: Int64) throws(StorageError) {}
}

/// The mode in which a file is opened.
package enum OpenMode: Sendable {
  /// For reading.
  case read
  /// For reading and writing an existing file.
  case write
  /// For reading and writing an empty file, which is created or truncated.
  case create
}

/// The identity of a file: its device and inode. Two names with the same identity belong to the same file.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64

  package init(device: UInt64, inode: UInt64) {
    self.device = device
    self.inode = inode
  }
}

/// An open file.
package protocol StorageFile: AnyObject, Sendable {
  /// The path, for messages.
  var path: String { get }
  var identity: FileIdentity { get }
  /// The descriptor for system calls that involve two files; `nil` for a file that is not exactly one file of the
  /// operating system.
  var systemDescriptor: Int32? { get }

  /// Sets the path for messages after the file was renamed.
  func wasRenamed(to path: String)

  /// Returns the current size of the file in bytes.
  func size() throws(StorageError) -> Int
  /// Reads up to `count` bytes at `offset`. Returns fewer only at the end of the file.
  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8]
  /// Writes all of `bytes` at `offset`, with as many system calls as necessary.
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError)
  /// Truncates the file, or extends it with zeros.
  func truncate(to byteCount: Int) throws(StorageError)
  /// Makes everything written, and the size of the file, durable.
  func sync() throws(StorageError)
  /// Whether a separate thread may write this file. A test wants all calls from one thread, in one order.
  var canWriteBehind: Bool { get }
  /// Starts writing back `count` written bytes from `offset` on to the device. This is a hint: nothing is durable
  /// before ``sync()``, which then has less to wait for.
  func startSync(_ offset: Int, _ count: Int)
  /// Returns the space of a range, which will not be read again, to the file system. This is a hint: if it is not
  /// supported, it has no effect.
  func release(_ range: Range<Int>)
  /// Maps the first `byteCount` bytes for reading. The mapping may extend past the end of the file, which may grow
  /// under it. Bytes past the end must not be accessed.
  func map(_ byteCount: Int) throws(StorageError) -> Mapping

  /// Maps `range` of the file for reading at addresses that the caller has reserved, replacing what is mapped there.
  /// Both start on a page boundary. Only the caller keeps the memory alive. As above, the range may extend past the end
  /// of the file.
  @unsafe func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError)

  /// Returns the number of names (hard links) of the file in all directories.
  func linkCount() throws(StorageError) -> Int

  /// Whether the file system copies the file when it is first opened for writing, as overlayfs copies a file of a lower
  /// layer. Mappings through descriptors that were opened before the copy go on showing the old bytes, while every read
  /// returns the new ones.
  ///
  /// - Complexity: One system call.
  var isCopiedOnWrite: Bool { get }

  /// Fills `range` with the bytes of `source` at the same offsets, sharing their storage (reflink) if the file system
  /// supports that.
  func copy(_ range: Range<Int>, from source: any StorageFile) throws(StorageError)

  /// The file that has the name, if this file is joined from several; otherwise this file.
  var named: any StorageFile { get }

  /// The shared file, if this file is joined from several; `nil` for any other file.
  var shared: (any StorageFile)? { get }

  /// Returns the path of the file that contains the byte at `offset`, and its offset in that file.
  func location(of offset: Int) -> (path: String, offset: Int)
}

extension StorageFile {
  package var systemDescriptor: Int32? { nil }
  package var canWriteBehind: Bool { false }
  package var isCopiedOnWrite: Bool { false }
  package func startSync(_ offset: Int, _ count: Int) {}
  package func release(_ range: Range<Int>) {}
  package var named: any StorageFile { self }
  package var shared: (any StorageFile)? { nil }

  package func location(of offset: Int) -> (path: String, offset: Int) { (path, offset) }

  package func copy(_ range: Range<Int>, from source: any StorageFile) throws(StorageError) {
    try copyByReading(range, from: source)
  }

  /// Writes the bytes of an array.
  package func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) { try write(bytes.rawSpan, at: offset) }

  /// Copies in chunks. If `source` ends early, so does the copy.
  package func copyByReading(_ range: Range<Int>, from source: any StorageFile) throws(StorageError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let bytes = try source.read(min(1 << 20, range.upperBound - offset), at: offset)
      if bytes.isEmpty { return }
      try write(bytes.rawSpan, at: offset)
      offset += bytes.count
    }
  }
}

/// A lock that is held until it is released or its process ends.
package protocol StorageLock: AnyObject, Sendable {
  /// Releases the lock.
  func release()
  /// Writes into the lock file which process holds it. This is a hint: if it cannot be written, the lock is held anyway.
  func sign()
  /// Removes what ``sign()`` wrote.
  func unsign()
}

extension StorageLock {
  package func sign() {}
  package func unsign() {}
}

/// The result of locking a file itself.
package enum FileLock: Sendable {
  /// The file is locked, and has the name.
  case taken(any StorageLock)
  /// Another process has locked the file.
  case held
  /// There is no such file, or it cannot be opened for writing, so that nobody needs a lock.
  case unneeded
}
