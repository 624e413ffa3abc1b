#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A call of the operating system that failed.
package struct SystemError: Error, CustomStringConvertible {
  package let call: String
  package let path: String
  package let code: Int32

  package init(_ call: String, _ path: String) {
    self.call = call
    self.path = path
    code = errno
  }

  package var description: String { "\(call) \(path): error \(code)" }
}

/// `read`, by a name that a method `read` does not hide.
private func readBytes(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
  // The caller vouches for the buffer.
  unsafe read(file, bytes, count)
}

/// The few file operations that benchmarks need.
package enum Files {
  package static func read(_ path: String) throws -> [UInt8] {
    var contents: [UInt8] = []
    try forEachPiece(of: path) { piece in
      for index in piece.indices { contents.append(piece[index]) }
    }
    return contents
  }

  /// Reads a file in pieces of 1 MiB.
  package static func forEachPiece(of path: String, _ body: (Span<UInt8>) throws -> Void) throws {
    // The path is copied for the call; so in all calls below.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw SystemError("open", path) }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      // The buffer is alive during the call, which writes no further than its end.
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe readBytes(file, $0.baseAddress!, $0.count) }
      guard count >= 0 else { throw SystemError("read", path) }
      if count == 0 { return }
      try body(buffer.span.extracting(0..<count))
    }
  }

  package static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  package static func size(_ path: String) -> Int {
    var status = stat()
    // The call fills the local structure.
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
