import CatalogSync

/// A transport that saves the server's complete response in a file, even if it is refused before its end.
///
/// If one synchronisation receives several responses, the last one that began is kept: an increment that is followed by
/// a full update is replaced by it.
final class AnswerKeeper<Base: CatalogTransport>: CatalogTransport {
  private let base: Base
  private let path: String
  private var file: OutputFile?

  /// - Parameters:
  ///   - base: The transport that sends the requests.
  ///   - path: The file to save the response in.
  /// - Throws: `Failure` with exit code 73, before a request is sent.
  init(_ base: Base, _ path: String) throws {
    self.base = base
    self.path = path
    try OutputFile(path).discard()
  }

  /// The state of an attempt, and why its response was refused, if it was.
  private struct Attempt<State: ~Copyable>: ~Copyable {
    var state: State
    var refusal: (any Error)?
  }

  nonisolated(nonsending) func fetchAnswer<State: ~Copyable>(
    cursor: String, into makeState: () throws -> State, onChunk: (inout State, Span<UInt8>) throws -> Void
  ) async throws -> State {
    let attempt = try await base.fetchAnswer(cursor: cursor) {
      file?.discard()
      file = try OutputFile(path, isPrivate: true)
      return Attempt(state: try makeState(), refusal: nil)
    } onChunk: { attempt, chunk in
      try file?.write(chunk)
      // Keep reading a refused response, because a person will want to see all of it.
      if attempt.refusal != nil { return }
      do { try onChunk(&attempt.state, chunk) } catch { attempt.refusal = error }
    }
    if let refusal = attempt.refusal { throw refusal }
    return attempt.state
  }

  /// Gives the file its final name, with the data received.
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
