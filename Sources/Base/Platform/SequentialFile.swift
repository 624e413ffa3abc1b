/// A file, a pipe or a device that is read from its beginning to its end.
///
/// Reads block. The descriptor is closed with the last reference.
package final class SequentialFile: Sendable {
  package let path: String
  package let descriptor: Int32

  /// Standard input, which stays open.
  package static let standardInput = SequentialFile(descriptor: STDIN_FILENO, path: "standard input")

  private init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  /// Opens a file for reading. A symbolic link is followed.
  ///
  /// - Throws: `StorageError`.
  package init(_ path: String) throws(StorageError) {
    // The path is a C string during the call.
    descriptor = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    if descriptor < 0 { throw StorageError(operation: "open", path: path, code: errno) }
    self.path = path
  }

  deinit { close(descriptor) }

  /// Reads the next bytes.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Returns: At least one byte; nothing at the end.
  /// - Throws: `StorageError`.
  package func read(upTo limit: Int) throws(StorageError) -> [UInt8] {
    var code: Int32 = 0
    // The system writes at most `count` bytes to the buffer.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
      let result = retrying { unsafe systemRead(descriptor, buffer.baseAddress, buffer.count) }
      code = result < 0 ? errno : 0
      count = max(0, result)
    }
    if code != 0 { throw StorageError(operation: "read", path: path, code: code) }
    return bytes
  }

  /// Reads the next bytes of a file that is read to its end, 256 KiB of them at most; `nil` at the end.
  ///
  /// - Throws: `StorageError`.
  package func next() throws(StorageError) -> [UInt8]? {
    let bytes = try read(upTo: 1 << 18)
    return bytes.isEmpty ? nil : bytes
  }

  /// Reads to the end, but not more than `limit` bytes.
  ///
  /// - Throws: `StorageError`.
  package func readAll(limit: Int) throws(StorageError) -> [UInt8] {
    var all: [UInt8] = []
    while all.count < limit {
      let bytes = try read(upTo: min(limit - all.count, 1 << 18))
      if bytes.isEmpty { break }
      all += bytes
    }
    return all
  }
}

/// The function of the C library, whose name the method has too.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}
