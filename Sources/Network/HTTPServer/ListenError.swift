import NIOCore
import Platform

/// Why a server cannot listen on its address.
package struct ListenError: Error, Sendable, CustomStringConvertible {
  /// The reason, for people, such as `Address already in use`.
  package let reason: String

  init(_ error: any Error) {
    switch error {
    // The text of a system call's error number is a C string that is copied at once.
    case let error as IOError: reason = unsafe String(cString: strerror(error.errnoCode))
    case is SocketAddressError, is SocketAddressError.UnknownHost: reason = "this is no address of this machine"
    default: reason = "\(error)"
    }
  }

  package var description: String { reason }
}
