public import CatalogSync

extension HTTPTransport: CatalogTransport {
  nonisolated(nonsending) public func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State {
    try await fetch(cursor: cursor, into: makeState, onChunk: onChunk).take()
  }
}
