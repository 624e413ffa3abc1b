import Foundation
import LogStore
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
  /// What was read of a pipe, if it is read from there.
  private var spool: Spool?

  /// What a pipe held, in a file, and how far it was read.
  private final class Spool {
    let file: SpillFile
    var offset = 0

    init(_ file: SpillFile) { self.file = file }
  }

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

  /// The file's type and who may do what with it; `nil` for what is no regular file.
  var mode: mode_t? { status.flatMap { $0.st_mode & S_IFMT == S_IFREG ? $0.st_mode : nil } }

  /// Bytes in the file, where that can be known.
  var byteCount: Int? {
    if let spool { return spool.file.byteCount }
    guard let status, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// The same bytes, of which none has to be waited for: a pipe is read to its end first, into a file next to a store.
  /// A pipe that is filled slowly then keeps no writer of the store waiting.
  ///
  /// - Throws: `Failure` with exit code 66; `StoreError.io` for what cannot be kept.
  func arrived(nextTo location: StoreLocation) throws -> InputFile {
    if byteCount != nil { return self }
    let file = try SpillFile(nextTo: location)
    while let piece = try next() { try file.append(piece.span) }
    var arrived = self
    arrived.spool = Spool(file)
    return arrived
  }

  /// Begins to read anew: for a file, or a pipe that arrived.
  ///
  /// - Throws: `Failure` with exit code 66.
  func rewind() throws {
    if let spool {
      spool.offset = 0
    } else if lseek(handle.fileDescriptor, 0, SEEK_SET) < 0 {
      throw Failure(.noInput, "\(name): cannot be read twice: \(Self.reason(errno))")
    }
  }

  /// The next bytes; `nil` at the end.
  ///
  /// - Throws: `Failure` with exit code 66.
  func next() throws -> [UInt8]? {
    if let spool {
      let piece = try spool.file.read(at: spool.offset)
      spool.offset += piece.count
      return piece.isEmpty ? nil : piece
    }
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
