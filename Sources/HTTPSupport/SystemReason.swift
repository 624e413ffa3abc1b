import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Short descriptions of errors of the HTTP client, of TLS and of the system, instead of the libraries' developer
/// messages.
package enum SystemReason {
  /// A description of a system error.
  package static func text(_ error: any Error) -> String {
    switch error {
    // The text of a system call's error number is a C string that is copied at once.
    case let error as IOError: unsafe String(cString: strerror(error.errnoCode))
    case is ChannelError: "the connection could not be opened"
    default: String(String(describing: error).prefix(300).map { $0.isNewline ? " " : $0 })
    }
  }

  /// Why a request got no response.
  ///
  /// - Parameter host: The name or address that the request was sent to.
  package static func text(_ error: any Error, host: String) -> String {
    switch error {
    case let error as NIOConnectionError:
      error.connectionErrors.first.map { lowered(text($0.error)) } ?? "the name \(error.host) was not found"
    case let error as HTTPClientError: text(error)
    case NIOSSLError.uncleanShutdown: "closed without an answer"
    case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
      "no secure connection: \(TLSReason.reason(error, host: host))"
    case is HTTPParserError: "what it answered is not HTTP"
    default: lowered(text(error))
    }
  }

  private static func text(_ error: HTTPClientError) -> String {
    switch error {
    case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout: "no connection in time"
    case .deadlineExceeded, .readTimeout, .writeTimeout: "no answer in time"
    case .remoteConnectionClosed, .uncleanShutdown: "closed without an answer"
    default: lowered(error.shortDescription)
    }
  }

  private static func lowered(_ text: String) -> String {
    // Names like TLS keep their capitals.
    let isName = text.dropFirst().first?.isUppercase ?? false
    return isName ? text : text.prefix(1).lowercased() + text.dropFirst()
  }
}
