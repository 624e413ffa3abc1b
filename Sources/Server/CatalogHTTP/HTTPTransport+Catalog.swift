public import CatalogSync

extension HTTPTransport: CatalogTransport {
  /// Fetches the server's answer to a cursor, with retries, and returns the state that took the whole answer.
  ///
  /// - Parameters:
  ///   - cursor: The cursor as the server gave it; empty for a full update.
  ///   - makeState: Makes the state of one attempt. The state of a failed attempt is dropped.
  ///   - onChunk: Takes the next bytes of the body, which are lent for the call.
  /// - Throws: ``TransportError``; `CancellationError`; what the closures throw, which is never retried.
  nonisolated(nonsending) public func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State {
    try await fetch(cursor: cursor, into: makeState, onChunk: onChunk).take()
  }
}
