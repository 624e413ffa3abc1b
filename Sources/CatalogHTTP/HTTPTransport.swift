import AsyncHTTPClient
import HTTPSupport
import NIOCore
import NIOHTTP1

/// Fetches the server's answer to a cursor over HTTP and hands it over as it arrives.
///
/// One fetch makes up to ``RetryPolicy/maximumAttempts`` attempts. The bytes of two attempts never meet: each
/// attempt fills a state of its own (``fetch(cursor:into:onChunk:)``), the state of a failed attempt is
/// dropped, and only the one that took a whole body is returned. Where there is no such state
/// (``fetch(cursor:onChunk:)``), nothing is retried once a byte was handed over.
///
/// A transport holds no connection between fetches and needs no shutting down.
public struct HTTPTransport: Sendable {
  let base: RequestURL
  let options: TransportOptions
  let environment: TransportEnvironment
  /// All headers of each request but `Host`, checked.
  let headers: HTTPHeaders

  /// Creates a transport. Nothing is requested yet.
  ///
  /// - Throws: ``TransportError/invalidURL(url:reason:)``, ``TransportError/invalidHeader(name:)``,
  ///   ``TransportError/invalidProxy(variable:value:reason:)``.
  public init(
    url: String, options: TransportOptions = TransportOptions(), environment: TransportEnvironment = .live
  ) throws(TransportError) {
    precondition(options.retry.maximumAttempts > 0, "maximumAttempts: at least one attempt is made")
    precondition(options.maximumRedirects >= 0, "maximumRedirects is a count")
    precondition(options.minimumRate >= 0, "minimumRate is a count of bytes")
    base = try RequestURL(url)
    self.options = options
    self.environment = environment
    headers = try Self.headers(options, credentials: base.credentials)
    _ = try options.proxies.proxy(for: base)
  }

  /// The URL without credentials and query, for messages.
  public var url: String { base.display }

  /// Whether the URL has a user, with or without a password.
  public var hasCredentials: Bool { base.credentials != nil }

  /// The server's host, for messages.
  public var host: String { base.host }

  /// Fetches what is later than `cursor`, folding the body into a state that is made anew for each attempt.
  ///
  /// - Parameters:
  ///   - cursor: The cursor as the server gave it; empty for a full update.
  ///   - makeState: Makes the state of one attempt. Called when the server has answered 200, before the first
  ///     byte; a later call means that the former state was dropped. What a state did outside itself must be
  ///     undone when it is dropped.
  ///   - onChunk: Takes the next bytes of the body. They are lent for the call. The server waits meanwhile.
  /// - Returns: The state that took the whole body.
  /// - Throws: ``TransportError``; `CancellationError`; what the closures throw, which is never retried.
  nonisolated(nonsending) public func fetch<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State,
    onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> Fetched<State> {
    try await fetch(cursor: cursor, retriesBrokenBodies: true, into: makeState, onChunk: onChunk)
  }

  /// Fetches what is later than `cursor`, for a caller that cannot take back what it was given.
  ///
  /// A body that breaks off after its first byte is an error, not a new attempt.
  /// - Throws: As ``fetch(cursor:into:onChunk:)``. After an error the chunks handed over so far are
  ///   worthless.
  nonisolated(nonsending) public func fetch(
    cursor: String, onChunk: (Span<UInt8>) throws -> Void
  ) async throws -> FetchInfo {
    try await fetch(cursor: cursor, retriesBrokenBodies: false, into: {}) { _, chunk in try onChunk(chunk) }
      .info
  }

  nonisolated(nonsending) private func fetch<State: ~Copyable>(
    cursor: String, retriesBrokenBodies: Bool, into makeState: () throws -> State,
    onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> Fetched<State> {
    let deadline = environment.now() + options.totalTimeout
    var attempt = 1
    while true {
      try Task.checkCancellation()
      let failure: AttemptFailure
      do {
        return try await performAttempt(
          attempt, cursor: cursor, deadline: deadline, into: makeState, onChunk: onChunk)
      } catch let caught as AttemptFailure {
        failure = caught
      }
      try Task.checkCancellation()
      guard failure.isRetryable, retriesBrokenBodies || failure.handedByteCount == 0,
        let pause = options.retry.pause(
          afterAttempt: attempt, retryAfter: failure.retryAfter, random: environment.random),
        // A pause that would outlast the deadline is not worth sleeping through.
        environment.now() + pause < deadline
      else { throw failure.error }
      options.onRetry?(
        RetryNotice(
          attempt: attempt, maximumAttempts: options.retry.maximumAttempts, pause: pause, error: failure.error
        )
      )
      try await environment.sleep(pause)
      attempt += 1
    }
  }

  /// - Throws: `AttemptFailure` for the world's faults; `CancellationError` and the closures' errors as they
  ///   are.
  nonisolated(nonsending) private func performAttempt<State: ~Copyable>(
    _ attempt: Int, cursor: String, deadline: ContinuousClock.Instant, into makeState: () throws -> State,
    onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> Fetched<State> {
    let exchange = try Exchange(transport: self, attempt: attempt, deadline: deadline)
    do {
      let (response, url, redirectCount) = try await exchange.request(cursor: cursor)
      var state = try makeState()
      let byteCount = try await exchange.readBody(response, of: url) { try onChunk(&state, $0) }
      await exchange.end()
      let info = FetchInfo(
        url: url.display, byteCount: byteCount, attempts: attempt, redirects: redirectCount)
      return Fetched(state: state, info: info)
    } catch {
      await exchange.end()
      throw error
    }
  }

  private static func headers(
    _ options: TransportOptions, credentials: String?
  ) throws(TransportError) -> HTTPHeaders {
    var headers = HTTPHeaders()
    headers.add(name: "Accept", value: "application/json, */*;q=0.5")
    headers.add(name: "User-Agent", value: options.userAgent)
    if let authorization = options.authorization {
      headers.add(name: "Authorization", value: authorization)
    } else if let credentials {
      headers.add(name: "Authorization", value: "Basic \(Basic.encoded(credentials))")
    }
    for (name, value) in options.headers {
      let replaceable = ["accept", "user-agent", "authorization"].contains(name.lowercased())
      if replaceable {
        headers.replaceOrAdd(name: name, value: value)
      } else {
        headers.add(name: name, value: value)
      }
    }
    // What the client sets itself.
    let own = ["host", "content-length", "transfer-encoding", "connection", "accept-encoding"]
    for (name, value) in headers where !HeaderField.isSendable(name: name, value: value, own: own) {
      throw .invalidHeader(name: name)
    }
    return headers
  }
}

/// What a fetch took from the server.
public struct FetchInfo: Sendable, Equatable {
  /// The URL that answered, after redirects, without credentials and query.
  public var url: String
  /// Bytes of the body, all of them handed over.
  public var byteCount: Int
  /// Attempts made, the successful one included.
  public var attempts: Int
  /// Redirects followed by the successful attempt.
  public var redirects: Int
}

/// The state that took a whole body, and what is known of the fetch.
public struct Fetched<State: ~Copyable>: ~Copyable {
  /// The caller's state of the successful attempt.
  public var state: State
  /// The number of attempts and redirects.
  public let info: FetchInfo

  /// The state alone, moved out.
  public consuming func take() -> State { state }
}

extension Fetched: Copyable where State: Copyable {}
extension Fetched: Sendable where State: Sendable & ~Copyable {}

/// An attempt that failed for a reason outside the caller, with what decides about another one.
struct AttemptFailure: Error {
  var error: TransportError
  var isRetryable: Bool
  var retryAfter: Duration?
  /// Bytes of the body that the caller saw.
  var handedByteCount = 0
}
