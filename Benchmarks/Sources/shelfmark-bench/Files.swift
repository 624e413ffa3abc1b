#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A call of the operating system that failed.
struct SystemError: Error, CustomStringConvertible {
  let call: String
  let path: String
  let code: Int32

  init(_ call: String, _ path: String) {
    self.call = call
    self.path = path
    code = errno
  }

  var description: String { "\(call) \(path): error \(code)" }
}

/// `read`, by a name that a method `read` does not hide.
private func readBytes(_ file: Int32, _ bytes: UnsafeMutableRawPointer, _ count: Int) -> Int {
  // The caller vouches for the buffer.
  unsafe read(file, bytes, count)
}

/// The few file operations that benchmarks need.
enum Files {
  static func read(_ path: String) throws -> [UInt8] {
    var contents: [UInt8] = []
    try forEachPiece(of: path) { piece in
      for index in piece.indices { contents.append(piece[index]) }
    }
    return contents
  }

  /// Reads a file in pieces of 1 MiB.
  static func forEachPiece(of path: String, _ body: (Span<UInt8>) throws -> Void) throws {
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

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  static func size(_ path: String) -> Int {
    var status = stat()
    // The call fills the local structure.
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}

/// A file that is written from its beginning.
struct OutputFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  init(creating path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("create", path) }
  }

  /// Standard output.
  init() {
    path = "standard output"
    descriptor = dup(1)
  }

  deinit { close(descriptor) }

  func append(_ bytes: some Collection<UInt8>) throws {
    let bytes = Array(bytes)
    var start = 0
    while start < bytes.count {
      // The array is alive during the call.
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress! + start, $0.count - start) }
      guard count > 0 else { throw SystemError("write", path) }
      start += count
    }
  }

  func sync() throws {
    guard fdatasync(descriptor) == 0 else { throw SystemError("sync", path) }
  }
}

/// The directory that a run works in.
struct WorkFolder {
  let path: String
  let isKept: Bool

  init(keeping kept: String?) throws {
    if let kept {
      _ = unsafe mkdir(kept, 0o700)
      path = kept
      isKept = true
    } else {
      path = "\(Self.temporary)/shelfmark-bench.\(getpid())"
      guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("create directory", path) }
      isKept = false
    }
  }

  private static var temporary: String {
    // The text is copied at once.
    unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
  }

  /// A new directory inside that was not there before.
  func scratch(_ name: String) throws -> String {
    let path = "\(path)/\(name).\(getpid())"
    _ = try Subprocess.run(["rm", "-rf", path])
    guard unsafe mkdir(path, 0o700) == 0 else { throw SystemError("create directory", path) }
    return path
  }

  func remove() {
    if !isKept { _ = try? Subprocess.run(["rm", "-rf", path]) }
  }
}
