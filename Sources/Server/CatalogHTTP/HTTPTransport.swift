/// An HTTP client that fetches the server's response to a cursor and passes it on as it arrives.
///
/// One fetch makes up to ``RetryPolicy/maximumAttempts`` attempts. The bytes of two attempts are never mixed: each
/// attempt fills a state of its own (``fetch(cursor:into:onChunk:)``), the state of a failed attempt is dropped, and
/// only the state that received a complete body is returned. Without such a state (``fetch(cursor:onChunk:)``), nothing
/// is retried after the first byte was passed on.
///
/// A transport holds no connection between fetches and does not need to be shut down.
public struct HTTPTransport: Sendable {
  let base: RequestURL
  let options: TransportOptions
  let environment: TransportEnvironment
  /// All headers of each request except `Host`, validated.
  let headers: [(name: String, value: String)]

  /// Creates a transport. Nothing is requested yet.
  ///
  /// - Throws: ``TransportError/invalidURL(url:reason:)``, ``TransportError/invalidHeader(name:)``,
  ///   ``TransportError/invalidProxy(variable:value:reason:)``.
  public init(
    url: String, options: TransportOptions = TransportOptions(), environment: TransportEnvironment = .live
  ) throws(TransportError) {
    options.checkCounts()
    base = try RequestURL(url)
    self.options = options
    self.environment = environment
    headers = try RequestHeaders.list(
      options, credentials: base.credentials, accept: "application/json, */*;q=0.5")
    _ = try options.proxies.proxy(for: base)
  }

  /// The URL without credentials and query, for messages.
  public var url: String { base.display }

  /// Whether the URL contains a user, with or without a password.
  public var hasCredentials: Bool { base.credentials != nil }

  /// The server's host, for messages.
  public var host: String { base.host }

  /// Fetches the changes after `cursor`, and folds the body into a state that is created for each attempt.
  ///
  /// - Parameters:
  ///   - cursor: The cursor as received from the server; empty for a full update.
  ///   - makeState: Creates the state of one attempt. Called when the server has responded with 200, before the first
  ///     byte; a later call means that the previous state was dropped. Side effects of a state must be undone when it
  ///     is dropped.
  ///   - onChunk: Receives the next bytes of the body, which are valid only during the call. The server waits until it
  ///     returns.
  /// - Returns: The state that received the complete body.
  /// - Throws: ``TransportError``; `CancellationError`; errors of the closures, which are never retried.
  nonisolated(nonsending) public func fetch<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State,
    onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> Fetched<State> {
    try await fetch(cursor: cursor, retriesBrokenBodies: true, into: makeState, onChunk: onChunk)
  }

  /// Fetches the changes after `cursor`, for a caller that cannot undo what it has received.
  ///
  /// A body that breaks off after its first byte is an error and is not retried.
  ///
  /// - Throws: The errors of ``fetch(cursor:into:onChunk:)``. After an error, the chunks received so far must be
  ///   discarded.
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
      guard retriesBrokenBodies || failure.handedByteCount == 0 else { throw failure.error }
      try await failure.pause(afterAttempt: attempt, options, environment, deadline: deadline)
      attempt += 1
    }
  }

  /// - Throws: `AttemptFailure` for external failures; `CancellationError` and the closures' errors unchanged.
  nonisolated(nonsending) private func performAttempt<State: ~Copyable>(
    _ attempt: Int, cursor: String, deadline: ContinuousClock.Instant, into makeState: () throws -> State,
    onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> Fetched<State> {
    // One fetch uses one connection for each hop: the server may be closing a connection that was used before, and a
    // redirect would then fail at random.
    let exchange = try FetchAttempt(
      attempt, options, environment, FetchConnections(areKept: false), deadline: deadline)
    let answer = try await exchange.answer(
      to: FetchRequest(url: base.asking(cursor: cursor), headers: headers, cursor: cursor))
    // Closes the connection, if the body was not read to its end.
    defer { answer.body.cancel() }
    var state = try makeState()
    let byteCount = try await exchange.readBody(answer) { try onChunk(&state, $0) }
    let info = FetchInfo(
      url: answer.url.display, byteCount: byteCount, attempts: attempt, redirects: answer.redirectCount)
    return Fetched(state: state, info: info)
  }
}

/// Statistics of a fetch.
public struct FetchInfo: Sendable, Equatable {
  /// The URL that responded, after redirects, without credentials and query.
  public var url: String
  /// The size of the body in bytes, all of which were passed on.
  public var byteCount: Int
  /// The number of attempts, including the successful one.
  public var attempts: Int
  /// The number of redirects that the successful attempt followed.
  public var redirects: Int
}

/// The state that received a complete body, and the statistics of the fetch.
public struct Fetched<State: ~Copyable>: ~Copyable {
  /// The caller's state of the successful attempt.
  public var state: State
  /// The number of attempts and redirects.
  public let info: FetchInfo

  /// Returns the state alone, moved out.
  public consuming func take() -> State { state }
}

extension Fetched: Copyable where State: Copyable {}
extension Fetched: Sendable where State: Sendable & ~Copyable {}
