#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A mistake in the command line.
package struct UsageError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// An answer that was not the right one: no number is worth anything then.
package struct WrongAnswer: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// Writes a line to standard error: what happens, apart from the results.
package func complain(_ text: String) {
  let line = Array((text + "\n").utf8)
  // The array is alive during the call.
  _ = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress!, $0.count) }
}
