/// An HTTP client that gets files of a folder from any web server or cache, whole or in part, and only if they changed.
///
/// A request makes up to ``RetryPolicy/maximumAttempts`` attempts. A body that breaks off is continued by the next
/// attempt where it broke, so each byte is passed on once. Whether the bytes are the right ones is for the caller to
/// verify: a server may answer with something else, such as a page for people.
///
/// Connections are kept for a minute for the next request. Requests may be made at the same time.
package struct FileTransport: Sendable {
  private let base: RequestURL
  private let options: TransportOptions
  private let environment: TransportEnvironment
  /// The headers of each request, without those of ``FileProgress/headers``.
  private let headers: [(name: String, value: String)]
  private let connections = FetchConnections(areKept: true)

  /// Creates a transport. Makes no connection.
  ///
  /// - Parameter url: The URL of the folder, with or without a slash at its end. Its query is sent with each request.
  /// - Throws: ``TransportError/invalidURL(url:reason:)``, ``TransportError/invalidHeader(name:)``,
  ///   ``TransportError/invalidProxy(variable:value:reason:)``.
  package init(
    url: String, options: TransportOptions = TransportOptions(), environment: TransportEnvironment = .live
  ) throws(TransportError) {
    options.checkCounts()
    base = try RequestURL(url).folder
    self.options = options
    self.environment = environment
    headers = try RequestHeaders.list(
      options, credentials: base.credentials, accept: "*/*",
      own: ["range", "if-range", "if-none-match", "if-modified-since", "cache-control"])
    _ = try options.proxies.proxy(for: base)
  }

  /// The URL of the folder without credentials and query, for messages.
  package var url: String { base.display }

  /// The server's host, for messages.
  package var host: String { base.host }

  /// The number of requests so far, with retries and redirects, and of bytes that were received: of heads and bodies,
  /// without what the protocols around them add.
  package var traffic: (requests: Int, bytesIn: Int) { connections.traffic }

  /// Gets a file, or a part of it, and passes the bytes on as they arrive.
  ///
  /// - Parameters:
  ///   - name: The path of the file in the folder, not encoded.
  ///   - request: The bytes to get, and under which conditions.
  ///   - onPiece: Receives the next bytes that were asked for, which are valid only during the call. The server waits
  ///     until it returns.
  /// - Returns: The server's answer. After any other than a body, bytes that were passed on must be discarded.
  /// - Throws: ``TransportError``; `CancellationError`; the error of `onPiece`, which is not retried. Bytes that were
  ///   passed on must then be discarded.
  nonisolated(nonsending) package func get(
    _ name: String, _ request: FileRequest, onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> FileAnswer {
    guard let url = base.file(name) else {
      let reason = "“\(name.prefix(200))” is no name of a file below it"
      throw TransportError.notUnderstood(url: base.display, reason: reason, attempts: 0)
    }
    let deadline = environment.now() + options.totalTimeout
    var progress = FileProgress(request)
    var attempt = 1
    while true {
      try Task.checkCancellation()
      let failure: AttemptFailure
      do {
        return try await perform(attempt, url, &progress, deadline: deadline, onPiece: onPiece)
      } catch let caught as AttemptFailure { failure = caught }
      try Task.checkCancellation()
      // The answer broke off after its last byte.
      if failure.isRetryable, progress.isComplete, let body = progress.body { return .body(body) }
      // A whole fleet may get the same `Retry-After`.
      try await failure.pause(afterAttempt: attempt, options, environment, deadline: deadline, spread: 0.25)
      attempt += 1
    }
  }

  /// Gets a file, or a part of it, into memory.
  ///
  /// - Throws: ``TransportError``, also for a body of more bytes than the request's limit; `CancellationError`.
  nonisolated(nonsending) package func bytes(of name: String, _ request: FileRequest) async throws -> FileContents {
    var bytes: [UInt8] = []
    let answer = try await get(name, request) { piece in
      for index in piece.indices { bytes.append(piece[index]) }
    }
    if case .body = answer { return FileContents(answer: answer, bytes: bytes) }
    return FileContents(answer: answer)
  }

  /// - Throws: `AttemptFailure` for external failures; `CancellationError` and the closure's error unchanged.
  nonisolated(nonsending) private func perform(
    _ attempt: Int, _ url: RequestURL, _ progress: inout FileProgress, deadline: ContinuousClock.Instant,
    onPiece: (Span<UInt8>) throws -> Void
  ) async throws -> FileAnswer {
    let fetch = try FetchAttempt(attempt, options, environment, connections, deadline: deadline)
    let answer = try await fetch.answer(
      to: FetchRequest(
        url: url, headers: headers + progress.headers, acceptedStatuses: progress.acceptedStatuses,
        isRetryable: { RetryPolicy.isRetryable(fileStatus: $0) }))
    // Closes the connection, if the body was not read to its end.
    defer { answer.body.cancel() }
    return try await fetch.readFile(answer, &progress, onPiece: onPiece)
  }
}
