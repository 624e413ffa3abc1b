import Platform

/// The reason why a source cannot be read now, for people. It may be temporary.
package struct InputError: Error, Equatable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  /// Creates an error from a failed system call.
  ///
  /// - Parameter code: The value of `errno`.
  init(_ operation: String, code: CInt) { description = operation + ": " + Self.text(code) }

  /// The system's message for a value of `errno`.
  static func text(_ code: CInt) -> String {
    // strerror returns a C string that is valid until the next call on this thread.
    unsafe String(cString: strerror(code))
  }
}
