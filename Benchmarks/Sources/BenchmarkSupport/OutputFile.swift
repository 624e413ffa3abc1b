#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A file that is written from its beginning.
package struct OutputFile: ~Copyable {
  private let descriptor: Int32
  private let path: String

  package init(creating path: String) throws {
    self.path = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("create", path) }
  }

  /// Standard output.
  package init() {
    path = "standard output"
    descriptor = dup(1)
  }

  deinit { close(descriptor) }

  package func append(_ bytes: some Collection<UInt8>) throws {
    let bytes = Array(bytes)
    var start = 0
    while start < bytes.count {
      // The array is alive during the call.
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress! + start, $0.count - start) }
      guard count > 0 else { throw SystemError("write", path) }
      start += count
    }
  }

  package func sync() throws {
    guard fdatasync(descriptor) == 0 else { throw SystemError("sync", path) }
  }
}
