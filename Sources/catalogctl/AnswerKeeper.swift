import CatalogSync

/// A transport that keeps what the server sends in a file, whole, also if it is refused on the way.
///
/// Of several answers of one synchronisation the last one that began is kept: the increment that called for a full
/// update gives way to that.
final class AnswerKeeper<Base: CatalogTransport>: CatalogTransport {
  private let base: Base
  private let path: String
  private var file: OutputFile?

  /// - Parameters:
  ///   - base: What asks the server.
  ///   - path: Where the answer is kept.
  /// - Throws: `Failure` with exit code 73, before the server is asked.
  init(_ base: Base, _ path: String) throws {
    self.base = base
    self.path = path
    try OutputFile(path).discard()
  }

  /// An attempt, and why its answer was refused, if it was.
  private struct Attempt<State: ~Copyable>: ~Copyable {
    var state: State
    var refusal: (any Error)?
  }

  nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State {
    let attempt = try await base.fetchAnswer(cursor: cursor) {
      file?.discard()
      file = try OutputFile(path)
      return Attempt(state: try makeState(), refusal: nil)
    } onChunk: { attempt, chunk in
      try file?.write(chunk)
      // What is refused is what somebody will want to see to its end.
      if attempt.refusal != nil { return }
      do { try onChunk(&attempt.state, chunk) } catch { attempt.refusal = error }
    }
    if let refusal = attempt.refusal { throw refusal }
    return attempt.state
  }

  /// Gives the file its name, with what came.
  func publish() {
    guard let file else { return }
    self.file = nil
    do {
      try file.publish()
      Console.say("catalogctl: the server's answer is in \(path); 'catalogctl decode \(path)' shows what it contains")
    } catch {
      file.discard()
      Console.say("catalogctl: warning: the server's answer could not be kept: \(error)")
    }
  }
}
