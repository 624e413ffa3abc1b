import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What an error of the client or of the system means, in a few words.
enum SystemReason {
  static func text(_ error: any Error) -> String {
    switch error {
    // The text of a system call's error number is a C string that is copied at once.
    case let error as IOError: unsafe String(cString: strerror(error.errnoCode))
    case is ChannelError: "the connection could not be opened"
    default: String(String(describing: error).prefix(300).map { $0.isNewline ? " " : $0 })
    }
  }
}
