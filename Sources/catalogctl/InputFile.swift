import Foundation
import Storage

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
      if ClosedStreams.isInputClosed { throw Failure(.noInput, "standard input is closed; give it a file or a pipe") }
      return
    }
    name = path
    // The path is a C string for the call.
    let descriptor = retrying { unsafe open(path, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      throw Failure(
        .noInput, "\(path): " + (errno == ENOENT ? "no such file" : "cannot be opened: \(Self.reason(errno))"))
    }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    if let type = status?.st_mode, type & S_IFMT == S_IFDIR {
      throw Failure(.noInput, "\(path): is a directory, not a file")
    }
  }

  /// What the system says about the file; `nil` where it says nothing.
  private var status: stat? {
    var status = stat()
    // The call fills the local structure.
    return retrying { unsafe fstat(handle.fileDescriptor, &status) } == 0 ? status : nil
  }

  /// What an error's number means.
  private static func reason(_ code: Int32) -> String {
    // The text is valid until the next call on this thread.
    unsafe String(cString: strerror(code)) + (code == EACCES ? "; check who may read it" : "")
  }

  /// Bytes in the file, where that can be known.
  var byteCount: Int? {
    guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
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
      throw Failure(.noInput, "\(name): cannot be read: \(Self.reason(fault))")
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
