import Bytes

/// A directory that holds stores: the small protocol through which everything above reaches the operating system.
///
/// Names have no slash and never follow a link. A test replaces it with a device in memory that knows what
/// was written from what was made durable.
package protocol StorageDirectory: Sendable {
  /// For messages.
  var path: String { get }
  /// The descriptor for calls of the operating system that involve two directories; `nil` for a directory that is not the
  /// system's.
  var systemDescriptor: Int32? { get }

  /// Opens a file; `nil` if a file that is not to be created does not exist.
  func open(_ name: String, _ mode: OpenMode) throws(StorageError) -> (any StorageFile)?
  /// Gives the file `old` the name `new`, replacing what had it.
  func rename(_ old: String, to new: String) throws(StorageError)
  /// Gives the file `old` the additional name `new`, which must be free.
  func link(_ old: String, to new: String) throws(StorageError)
  /// Gives the file `old` of another directory the additional name `new` in this one, which must be free.
  func link(_ old: String, of other: any StorageDirectory, to new: String) throws(StorageError)
  /// Takes away a name; false if there was none.
  @discardableResult
  func remove(_ name: String) throws(StorageError) -> Bool
  /// Makes the names in this directory durable.
  func sync() throws(StorageError)
  /// Which file has the name now; `nil` for none.
  func identity(of name: String) throws(StorageError) -> FileIdentity?
  /// The names in this directory, sorted bytewise, without `.` and `..`.
  func names() throws(StorageError) -> [String]
  /// Takes the lock that belongs to `name`, made when missing; `nil` if someone else has it.
  func lock(_ name: String) throws(StorageError) -> (any StorageLock)?
  /// Bytes that can still be written here; `nil` if nobody knows. Others may take them meanwhile.
  func availableByteCount() -> Int?
  /// Bytes in the file `name`; `nil` if there is no regular file of this name.
  func byteCount(of name: String) throws(StorageError) -> Int?
  /// When the file `name` was last changed, in microseconds since 1970 UTC; `nil` if there is no such file, or the
  /// directory keeps no times.
  func modificationTime(of name: String) throws(StorageError) -> Int64?
  /// Sets what ``modificationTime(of:)`` returns.
  func setModificationTime(of name: String, to microseconds: Int64) throws(StorageError)
}

extension StorageDirectory {
  package var systemDescriptor: Int32? { nil }
  package func availableByteCount() -> Int? { nil }
  package func byteCount(of name: String) throws(StorageError) -> Int? { try open(name, .read)?.size() }
  package func modificationTime(of name: String) throws(StorageError) -> Int64? { nil }
  package func setModificationTime(of name: String, to microseconds: Int64) throws(StorageError) {}
}

/// How a file is opened.
package enum OpenMode: Sendable {
  /// To read.
  case read
  /// To read and write what exists.
  case write
  /// To read and write, empty: made when missing, emptied when not.
  case create
}

/// A file's device and inode: two names with one identity are one file.
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
  /// For messages.
  var path: String { get }
  var identity: FileIdentity { get }
  /// The descriptor for calls of the operating system that involve two files; `nil` for a file that is not one of the system's
  /// alone.
  var systemDescriptor: Int32? { get }

  /// Says what messages call the file from now on: it was renamed.
  func isNamed(_ path: String)

  /// Bytes in the file now.
  func size() throws(StorageError) -> Int
  /// Reads up to `count` bytes at `offset`; fewer only at the end of the file.
  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8]
  /// Writes all of `bytes` at `offset`, whatever number of calls that takes.
  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError)
  /// Cuts the file, or lengthens it with zeros.
  func truncate(to byteCount: Int) throws(StorageError)
  /// Returns when what was written, and the length, is durable.
  func sync() throws(StorageError)
  /// Whether a thread of its own may write this file. A test wants its calls from one thread, in one order.
  var canWriteBehind: Bool { get }
  /// Sends `count` bytes from `offset` on, which were written, on their way to the device. A hint: nothing is durable before
  /// ``sync()``, which has less to wait for.
  func startSync(_ offset: Int, _ count: Int)
  /// Gives the space of a range, which nobody reads any more, back to the file system. A hint: where that cannot be done
  /// nothing happens.
  func release(_ range: Range<Int>)
  /// Maps the first `byteCount` bytes to read. The mapping may reach beyond the end of the file, which may grow
  /// under it; bytes beyond the end must not be touched.
  func map(_ byteCount: Int) throws(StorageError) -> Mapping

  /// Shows `range` of the file, to read, at addresses that the caller reserved, in place of what is mapped there. Both
  /// begin on a page. Nothing keeps the memory but the caller; as above the range may reach beyond the end of the file.
  @unsafe func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError)

  /// How many names the file has, in all directories.
  func linkCount() throws(StorageError) -> Int

  /// Fills `range` with the bytes that `source` has there, sharing them with it where the file system can.
  func copy(_ range: Range<Int>, from source: any StorageFile) throws(StorageError)

  /// The file that has the name, of one that is joined from several.
  var named: any StorageFile { get }

  /// The file that others may share, of one that is joined from several; `nil` for any other file.
  var shared: (any StorageFile)? { get }

  /// Which file the byte at `offset` stands in, and where in it.
  func place(of offset: Int) -> (path: String, offset: Int)
}

extension StorageFile {
  package var systemDescriptor: Int32? { nil }
  package var canWriteBehind: Bool { false }
  package func startSync(_ offset: Int, _ count: Int) {}
  package func release(_ range: Range<Int>) {}
  package var named: any StorageFile { self }
  package var shared: (any StorageFile)? { nil }

  package func place(of offset: Int) -> (path: String, offset: Int) { (path, offset) }

  package func copy(_ range: Range<Int>, from source: any StorageFile) throws(StorageError) {
    try copyByReading(range, from: source)
  }

  /// The same for bytes in an array.
  package func write(_ bytes: [UInt8], at offset: Int) throws(StorageError) { try write(bytes.rawSpan, at: offset) }

  /// Copies a piece at a time. Where `source` ends before, so does the copy.
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

/// A lock that is held until it is released or its process dies.
package protocol StorageLock: AnyObject, Sendable {
  func release()
}
