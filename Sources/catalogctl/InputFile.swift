import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file, or with `-` standard input, read piece by piece.
struct InputFile {
  /// Bytes asked for at once.
  private static let pieceByteCount = 1 << 18

  /// For messages.
  let name: String
  private let handle: FileHandle

  /// - Throws: `Failure` with exit code 66.
  init(_ path: String) throws {
    if path == "-" {
      name = "standard input"
      handle = .standardInput
      return
    }
    name = path
    var isDirectory: ObjCBool = false
    // The call fills the local variable.
    let exists = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
    guard exists else { throw Failure(.noInput, "\(path): no such file") }
    guard !isDirectory.boolValue else { throw Failure(.noInput, "\(path): is a directory, not a file") }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw Failure(.noInput, "\(path): cannot be opened; check who may read it")
    }
    self.handle = handle
  }

  /// Bytes in the file, where that can be known.
  var byteCount: Int? {
    guard name != "standard input" else { return nil }
    let attributes = try? FileManager.default.attributesOfItem(atPath: name)
    return (attributes?[.size] as? NSNumber)?.intValue
  }

  /// The next bytes; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66.
  func next() throws -> [UInt8]? {
    while true {
      var fault: Int32 = 0
      // The system fills the buffer with `count` bytes at most.
      let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceByteCount) { buffer, count in
        let result = unsafe read(handle.fileDescriptor, buffer.baseAddress, buffer.count)
        fault = result < 0 ? errno : 0
        count = max(0, result)
      }
      if fault == 0 { return piece.isEmpty ? nil : piece }
      if fault == EINTR { continue }
      // The text is valid until the next call on this thread.
      throw Failure(.noInput, unsafe "\(name): cannot be read: \(String(cString: strerror(fault)))")
    }
  }

  /// Calls `body` with each line, without its line feed, as soon as it is complete.
  func forEachLine(_ body: (String) throws -> Void) throws {
    var rest: [UInt8] = []
    while let piece = try next() {
      var start = piece.startIndex
      while let end = piece[start...].firstIndex(of: UInt8(ascii: "\n")) {
        try body(String(decoding: rest + piece[start..<end], as: UTF8.self))
        rest.removeAll(keepingCapacity: true)
        start = end + 1
      }
      rest += piece[start...]
    }
    if !rest.isEmpty { try body(String(decoding: rest, as: UTF8.self)) }
  }
}
