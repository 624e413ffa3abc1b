import CStorage
import Platform
import Synchronization

/// A file of the operating system.
final class PosixFile: StorageFile {
  let identity: FileIdentity
  /// The path, which changes when the file is renamed.
  private let name: Mutex<String>
  private let descriptor: Int32

  /// Takes ownership of the descriptor.
  ///
  /// - Throws: `StorageError` if it is not a regular file.
  init(path: String, descriptor: Int32) throws(StorageError) {
    name = Mutex(path)
    self.descriptor = descriptor
    var status = stat()
    // The call fills in the local structure.
    guard retrying({ unsafe fstat(descriptor, &status) }) == 0 else {
      let code = errno
      close(descriptor)
      throw StorageError(operation: "look at", path: path, code: code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw StorageError(operation: "use (it is not a regular file)", path: path, code: EINVAL)
    }
    identity = FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  package var systemDescriptor: Int32? { descriptor }

  deinit { close(descriptor) }

  var path: String { name.withLock { $0 } }

  func wasRenamed(to path: String) { name.withLock { $0 = path } }

  func size() throws(StorageError) -> Int {
    var status = stat()
    // The call fills in the local structure.
    guard retrying({ unsafe fstat(descriptor, &status) }) == 0 else { throw failure("look at") }
    return Int(status.st_size)
  }

  func read(_ count: Int, at offset: Int) throws(StorageError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      // The buffer has `count - done` bytes from `done` on.
      let result = unsafe bytes.withUnsafeMutableBytes { buffer in
        retrying { unsafe pread(descriptor, buffer.baseAddress! + done, count - done, off_t(offset + done)) }
      }
      if result < 0 { throw failure("read") }
      if result == 0 { break }
      done += result
    }
    bytes.removeLast(count - done)
    return bytes
  }

  func write(_ bytes: RawSpan, at offset: Int) throws(StorageError) {
    var done = 0
    while done < bytes.byteCount {
      let rest = bytes.extracting(done...)
      // The span is alive during the call.
      let result = unsafe rest.withUnsafeBytes { buffer in
        retrying { unsafe pwrite(descriptor, buffer.baseAddress!, buffer.count, off_t(offset + done)) }
      }
      if result < 0 { throw failure("write") }
      // A device that writes nothing and reports no error would cause an endless loop.
      if result == 0 { throw StorageError(operation: "write", path: path, code: EIO) }
      done += result
    }
  }

  func truncate(to byteCount: Int) throws(StorageError) {
    if retrying({ ftruncate(descriptor, off_t(byteCount)) }) != 0 { throw failure("truncate") }
  }

  func sync() throws(StorageError) {
    // An interrupted sync is retried; any other error is final, because the kernel may have dropped the pages.
    if retrying({ shelfmark_sync_data(descriptor) }) != 0 { throw failure("sync") }
  }

  var canWriteBehind: Bool { true }

  func startSync(_ offset: Int, _ count: Int) { shelfmark_start_sync(descriptor, Int64(offset), Int64(count)) }

  func release(_ range: Range<Int>) { shelfmark_release(descriptor, Int64(range.lowerBound), Int64(range.count)) }

  func map(_ byteCount: Int) throws(StorageError) -> Mapping {
    var base: UnsafeMutableRawPointer?
    // The memory that the kernel returns is not used by anything else.
    repeat {
      unsafe base = mmap(nil, byteCount, PROT_READ, MAP_SHARED, descriptor, 0)
    } while unsafe base == MAP_FAILED && errno == EINTR
    guard let base = unsafe base, unsafe base != MAP_FAILED else { throw failure("map") }
    // The kernel mapped `byteCount` bytes, which the mapping unmaps in its `deinit`.
    guard let range = unsafe shelfmark_guard(base, byteCount) else {
      unsafe munmap(base, byteCount)
      throw StorageError(operation: "map", path: path, code: ENOMEM)
    }
    // Lookups access single pages: with read-ahead, a cold lookup would load a hundred pages instead of two. Code that
    // reads sequentially calls `Mapping.adviseWillNeed`. This is a hint, and nothing depends on it.
    _ = unsafe madvise(base, byteCount, MADV_RANDOM)
    return unsafe Mapping(base: UnsafeRawPointer(base), byteCount: byteCount, range: range) { base, count in
      unsafe munmap(UnsafeMutableRawPointer(mutating: base), count)
    }
  }

  func map(_ range: Range<Int>, at address: UnsafeMutableRawPointer) throws(StorageError) {
    var base: UnsafeMutableRawPointer?
    // The caller reserved the addresses.
    repeat {
      unsafe base = mmap(
        address, range.count, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, off_t(range.lowerBound))
    } while unsafe base == MAP_FAILED && errno == EINTR
    if unsafe base == MAP_FAILED { throw failure("map") }
    // As for a complete file.
    _ = unsafe madvise(address, range.count, MADV_RANDOM)
  }

  func linkCount() throws(StorageError) -> Int {
    var status = stat()
    // The call fills in the local structure.
    guard retrying({ unsafe fstat(descriptor, &status) }) == 0 else { throw failure("look at") }
    return Int(status.st_nlink)
  }

  var isCopiedOnWrite: Bool {
    (try? FileSystem.kind(of: descriptor, at: path))?.magic == FileSystem.overlay
  }

  func copy(_ range: Range<Int>, from source: any StorageFile) throws(StorageError) {
    guard let sourceDescriptor = source.systemDescriptor else { return try copyByReading(range, from: source) }
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = retrying {
        shelfmark_copy_range(sourceDescriptor, descriptor, Int64(offset), range.upperBound - offset)
      }
      if count == 0 { return }
      // Not every pair of file systems supports this call. Copying by reading and writing also gives a better error
      // message.
      if count < 0 { return try copyByReading(offset..<range.upperBound, from: source) }
      offset += count
    }
  }

  private func failure(_ operation: String) -> StorageError {
    StorageError(operation: operation, path: path, code: errno)
  }
}
