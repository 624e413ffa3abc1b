package import Platform

/// An error of a fetch.
///
/// Every `url` is without user, password, query and fragment, so that an error can be logged and mailed. `attempts` is
/// the number of requests that were made. Cancellation is thrown as `CancellationError`, and errors of the caller's
/// closures are thrown unchanged.
public enum TransportError: Error, Equatable, Sendable {
  // Thrown when a transport is created.

  /// The text is not an `http` or `https` URL with a host.
  case invalidURL(url: String, reason: String)
  /// A header cannot be sent: its name is not a token or one that the client sets itself, or its value contains control
  /// characters.
  case invalidHeader(name: String)

  /// A proxy from the environment cannot be used.
  case invalidProxy(variable: String, value: String, reason: String)

  // Thrown by a fetch without retries.

  /// The system has no libcurl, or one that is too old.
  case noLibrary(reason: String)
  /// The certificate authority file cannot be read, or contains no certificate.
  case certificateFile(path: String, reason: String)
  /// TLS failed: the certificate is not trusted, is for another host, or there is no common version.
  case insecure(url: String, reason: String)
  /// The redirect would leave the host or give up encryption.
  case redirectRefused(url: String, target: String, reason: String)
  case tooManyRedirects(url: String, maximum: Int)
  /// The body is longer than ``TransportOptions/maximumBodyByteCount``.
  case bodyTooLong(url: String, maximum: Int)

  // Thrown by a fetch after the last attempt.

  /// No connection: the name was not found, or the connection was refused, not routable or reset.
  case unreachable(url: String, reason: String, attempts: Int)
  /// A time limit was exceeded.
  case timedOut(url: String, limit: TimeLimit, seconds: Double, attempts: Int)
  /// The server responded with a status other than 200; `message` is the beginning of its explanation, if any.
  case refused(url: String, status: Int, message: String?, attempts: Int)
  /// The body ended before its announced length, or the connection broke within it. `expected` is `nil` if no length
  /// was announced.
  case bodyCutShort(url: String, received: Int, expected: Int?, attempts: Int)
  /// The server's data is not a valid HTTP response.
  case notUnderstood(url: String, reason: String, attempts: Int)

  /// The exceeded limit of ``TransportOptions`` in a ``timedOut(url:limit:seconds:attempts:)``.
  public enum TimeLimit: Sendable {
    /// ``TransportOptions/connectTimeout``.
    case connect
    /// ``TransportOptions/idleTimeout``.
    case idle
    /// ``TransportOptions/minimumRate``.
    case rate
    /// ``TransportOptions/totalTimeout``.
    case total
  }
}

extension TransportError {
  /// The same error as after a first attempt, for callers that report the number of attempts themselves.
  public var ofOneAttempt: TransportError {
    switch self {
    case .unreachable(let url, let reason, _): .unreachable(url: url, reason: reason, attempts: 1)
    case .timedOut(let url, let limit, let seconds, _):
      .timedOut(url: url, limit: limit, seconds: seconds, attempts: 1)
    case .refused(let url, let status, let message, _):
      .refused(url: url, status: status, message: message, attempts: 1)
    case .bodyCutShort(let url, let received, let expected, _):
      .bodyCutShort(url: url, received: received, expected: expected, attempts: 1)
    case .notUnderstood(let url, let reason, _): .notUnderstood(url: url, reason: reason, attempts: 1)
    default: self
    }
  }
}

extension TransportError: CustomStringConvertible {
  /// What happened and what to do, for people, without the names of a program's options.
  public var description: String { description(naming: OptionNames()) }

  /// What happened and what to do, for people.
  ///
  /// - Parameter names: The program's names of the options that may help.
  public func description(naming names: OptionNames) -> String {
    func named(_ name: String?) -> String { name.map { " (\($0))" } ?? "" }
    return switch self {
    case .invalidURL(let url, let reason):
      "\(url): \(reason); give a URL such as https://example.com/catalogue"
    case .invalidHeader(let name):
      "the request header “\(name)” cannot be sent: only visible characters and blanks are allowed, and no header "
        + "that the program sets itself"
    case .invalidProxy(let variable, let value, let reason):
      "\(variable)=\(value): \(reason); correct the variable, or name the server in no_proxy"
    case .noLibrary(let reason): "nothing can be fetched: \(reason)"
    case .certificateFile(let path, let reason):
      "\(path): \(reason); give a PEM file with the certificates to trust"
    case .insecure(let url, let reason):
      "\(url): no secure connection: \(reason); check the certificate and this machine's clock, "
        + "or name the file of the company's authority\(named(names.certificateAuthorityFile))"
    case .redirectRefused(let url, let target, let reason):
      "\(url): redirects to \(target), \(reason); if that is right, use that URL yourself"
    case .tooManyRedirects(let url, let maximum):
      "\(url): more than \(maximum) redirects; the server sends requests in a circle"
    case .bodyTooLong(let url, let maximum):
      "\(url): the answer is longer than \(maximum) bytes; is this the catalogue's URL?"
    case .unreachable(let url, let reason, let attempts):
      "\(url): cannot be reached (\(reason))\(Self.after(attempts)); check network, host name and port"
    case .timedOut(let url, let limit, let seconds, let attempts):
      switch limit {
      case .connect:
        "\(url): no connection within \(seconds) s\(Self.after(attempts)); check network and host"
      case .idle:
        "\(url): silent for \(seconds) s\(Self.after(attempts)); the server hangs or the line is down; a longer time may"
          + " be allowed\(named(names.idleTimeout))"
      case .rate:
        "\(url): too few bytes in \(seconds) s\(Self.after(attempts)); the server or the line is too slow; a lower rate may"
          + " be allowed\(named(names.minimumRate))"
      case .total: "\(url): not done within \(seconds) s\(Self.after(attempts)); allow more time or try later"
      }
    case .refused(let url, let status, let message, let attempts):
      "\(url): the server answered \(status)\(message.map { " (\($0))" } ?? "")\(Self.after(attempts)); "
        + Self.advice(status)
    case .bodyCutShort(let url, let received, let expected, let attempts):
      "\(url): the answer broke off after \(received) of \(expected.map(String.init) ?? "unknown") "
        + "bytes\(Self.after(attempts)); nothing was changed, try again"
    case .notUnderstood(let url, let reason, let attempts):
      "\(url): not a usable answer (\(reason))\(Self.after(attempts)); is this the catalogue's URL?"
    }
  }

  private static func after(_ attempts: Int) -> String { attempts > 1 ? " after \(attempts) attempts" : "" }

  private static func advice(_ status: Int) -> String {
    switch status {
    case 401, 403: "check the credentials"
    case 404, 410: "check the URL's path"
    case 429: "too many requests; try later"
    case 500...: "the server has a fault; try later or tell its operator"
    default: "check the URL"
    }
  }
}

extension TransportError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .invalidURL, .invalidHeader, .invalidProxy: .usage
    case .certificateFile: .noInput
    default: .unavailable
    }
  }
}
