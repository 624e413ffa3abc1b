// The example of Sources/CatalogSync/CatalogSync.docc/CatalogSync.md
import CatalogSync
import LogStore

/// A server that is a file of answers: the first is the full catalogue, the others follow its cursor.
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

/// Brings a catalogue up to date: with an increment where that is enough, with a full update where it is not.
func synchronise(_ location: StoreLocation, with server: Answers) async throws -> String {
  let report = try await Synchronizer(server).run(SyncDestination(location))
  return "\(report.update.mode), \(report.payload.updateTime)"
}
