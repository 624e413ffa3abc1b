// The example of Sources/Server/CatalogSync/CatalogSync.docc/CatalogSync.md
import CatalogSync
import LogStore

/// A transport with prepared responses by cursor: the one for the empty cursor is the full catalogue.
struct Answers: CatalogTransport {
  let answers: [String: [UInt8]]

  nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State {
    let answer = answers[cursor] ?? []
    var state = try makeState()
    try onChunk(&state, answer.span)
    return state
  }
}

/// Synchronises a catalogue: with an increment if that is enough, otherwise with a full update.
func synchronise(_ location: StoreLocation, with server: Answers) async throws -> String {
  let report = try await Synchronizer(server).run(SyncDestination(location))
  return "\(report.update.mode), \(report.payload.updateTime)"
}
