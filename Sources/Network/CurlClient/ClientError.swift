import Platform

/// Why a request got no complete answer.
package enum ClientError: Error, Sendable, Equatable {
  /// libcurl cannot be used, and why.
  case noLibrary(String)
  /// A time limit was exceeded.
  case timedOut(TimeLimit)
  /// The name of the server or of the proxy was not found.
  case nameNotFound(isProxy: Bool)
  /// The server's certificate is signed by an authority that is not trusted, or is not valid at this time.
  case untrusted
  /// The server's certificate is for another host name.
  case otherHost
  /// The connection could not be encrypted.
  case noEncryption(String)
  /// The file of certificate authorities cannot be used.
  case authorityFile
  /// The connection to a proxy that speaks TLS could not be encrypted, and why.
  indirect case proxyEncryption(ClientError)
  /// A proxy asked for a user and a password.
  case proxyAuthentication
  /// A proxy did not open a tunnel.
  case proxyRefused
  /// The bytes that arrived are not HTTP.
  case notHTTP
  /// The connection was closed before the answer was complete.
  case closed
  /// Any other reason, for people: that of the system, or libcurl's.
  case other(String)

  /// The limits of a ``ClientRequest``.
  package enum TimeLimit: Sendable {
    case connect, silence, deadline
  }

  /// The error of a request that ended with a number of libcurl's (`libcurl-errors(3)`).
  ///
  /// - Parameters:
  ///   - systemError: The number of the system's error, 0 for none.
  ///   - proxyStatus: The status of a proxy's answer to `CONNECT`, 0 for none.
  ///   - isProxySecure: Whether the proxy speaks TLS.
  ///   - message: What libcurl says.
  init(code: Int32, systemError: Int32, proxyStatus: Int32, isProxySecure: Bool, message: String) {
    // TLS with the server begins after the proxy's answer.
    if isProxySecure, proxyStatus == 0, [35, 51, 60, 77].contains(code) {
      self = .proxyEncryption(
        ClientError(
          code: code, systemError: systemError, proxyStatus: 0, isProxySecure: false, message: message))
      return
    }
    self =
      switch code {
      // 1: neither HTTP nor a version of it that libcurl knows. 23: a head that is too large.
      case 1, 8, 23: .notHTTP
      case 5: .nameNotFound(isProxy: true)
      case 6: .nameNotFound(isProxy: false)
      case 28: .timedOut(.connect)
      case 51: .otherHost
      case 60: Self.isOtherHost(message) ? .otherHost : .untrusted
      case 77: .authorityFile
      case _ where proxyStatus == 407: .proxyAuthentication
      case _ where proxyStatus != 0 && !(200...299).contains(proxyStatus): .proxyRefused
      // With TLS 1.3, a server asks for a certificate of the client after the handshake.
      case _ where code == 35 || message.contains("certificate required"): Self.encryptionError(message, systemError)
      case 18, 52: .closed
      case _ where [7, 55, 56].contains(code) && systemError != 0: .other(Self.text(systemError))
      case 7: .other("the connection could not be opened")
      case 55, 56: .closed
      default: .other(String(message.prefix(300).map { $0.isNewline ? " " : $0 }))
      }
  }

  private static func isOtherHost(_ message: String) -> Bool {
    ["does not match", "no alternative certificate subject name"].contains { message.contains($0) }
  }

  private static func text(_ systemError: Int32) -> String {
    // The text of an error number is a C string that is copied at once.
    unsafe String(cString: strerror(systemError))
  }

  /// Texts of OpenSSL and GnuTLS, and their meanings. The first one that a message contains is used.
  private static let encryptionFaults: [(sign: String, meaning: String)] = [
    ("wrong version number", "the port does not speak TLS; an http URL may be meant"),
    ("unexpected TLS packet", "the port does not speak TLS; an http URL may be meant"),
    ("http request", "the port speaks plain HTTP; an http URL may be meant"),
    ("protocol version", "the server speaks no version of TLS that is safe today"),
    ("unsupported protocol", "the server speaks no version of TLS that is safe today"),
    ("certificate required", "the server asks for a certificate of the client, which is not supported"),
    ("unrecognized name", "the server does not know this host name"),
    ("unrecognized_name", "the server does not know this host name"),
    ("handshake failure", "the server and this program have no way of encryption in common"),
  ]

  private static func encryptionError(_ message: String, _ systemError: Int32) -> ClientError {
    let lowered = message.lowercased()
    if let fault = encryptionFaults.first(where: { lowered.contains($0.sign.lowercased()) }) {
      return .noEncryption(fault.meaning)
    }
    if systemError != 0 { return .other(text(systemError)) }
    // A server that hangs up during the handshake.
    if lowered.contains("ssl_error_syscall") || lowered.contains("unexpected eof") || lowered.contains("non-properly") {
      return .closed
    }
    return .noEncryption(String(message.prefix(300).map { $0.isNewline ? " " : $0 }))
  }

  /// The reason in a few words for people, in lower case unless it begins with a name.
  ///
  /// - Parameters:
  ///   - host: The name or address of the server.
  ///   - proxy: The name or address of the proxy, if one was used.
  package func reason(host: String, proxy: String? = nil) -> String {
    switch self {
    case .noLibrary(let text): text
    case .timedOut(.connect): "no connection in time"
    case .timedOut: "no answer in time"
    case .nameNotFound(let isProxy): "the name \(isProxy ? proxy ?? host : host) was not found"
    case .untrusted, .otherHost, .noEncryption, .authorityFile: "no secure connection: \(encryptionReason(host: host))"
    case .proxyEncryption: "no secure connection to the proxy: \(encryptionReason(host: proxy ?? host))"
    case .proxyAuthentication: "the proxy asks for a user and password"
    case .proxyRefused: "the proxy refused to connect to the server"
    case .notHTTP: "what it answered is not HTTP"
    case .closed: "closed without an answer"
    case .other(let text): Self.lowered(text)
    }
  }

  /// Why there was no secure connection, in words for people.
  ///
  /// - Parameter host: The name or address of the server, or of the proxy if that is the one without TLS.
  package func encryptionReason(host: String) -> String {
    switch self {
    case .untrusted:
      "the server's certificate is signed by an authority that is not trusted here, or it is not valid at this time"
    case .otherHost: "the server's certificate is for another host name than \(host)"
    case .authorityFile: "the certificates of the system's authorities cannot be read; install ca-certificates"
    case .noEncryption(let meaning): meaning
    // The reasons name the server, whose part the proxy has here.
    case .proxyEncryption(let error):
      error.encryptionReason(host: host)
        .replacing("the server", with: "the proxy").replacing("the port", with: "the proxy's port")
    default: reason(host: host)
    }
  }

  private static func lowered(_ text: String) -> String {
    // Names like TLS keep their capitals.
    let isName = text.dropFirst().first?.isUppercase ?? false
    return isName ? text : text.prefix(1).lowercased() + text.dropFirst()
  }
}
