#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Why a source cannot be read now, for people. It may pass.
package struct InputError: Error, Equatable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  /// - Parameter code: The value of `errno`.
  init(_ operation: String, code: CInt) { description = operation + ": " + Self.text(code) }

  /// What the system calls a value of `errno`.
  static func text(_ code: CInt) -> String {
    // strerror returns a C string that is valid until the next call on this thread.
    unsafe String(cString: strerror(code))
  }
}
