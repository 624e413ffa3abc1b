import ArgumentParser
import Foundation
import Synchronization

/// SIGINT and SIGTERM, for commands that run until they are interrupted.
enum TerminationSignals {
  /// Calls `handler` for each signal, instead of ending the process, for as long as the result is referenced.
  ///
  /// On return the handler is installed, so no later signal is lost.
  static func sources(_ handler: @escaping @Sendable (Int32) -> Void) async -> [any DispatchSourceSignal] {
    var sources: [any DispatchSourceSignal] = []
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { handler(number) }
      await withCheckedContinuation { continuation in
        source.setRegistrationHandler { continuation.resume() }
        source.resume()
      }
      sources.append(source)
    }
    return sources
  }

  /// Runs `body` until it returns. The first signal cancels its task. A second one ends the process, in case that
  /// `body` cannot end, for example because nobody reads its output.
  static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let (signals, received) = AsyncStream<Void>.makeStream()
    let isEnding = Atomic(false)
    let sources = await sources { number in
      // No other memory depends on it.
      if isEnding.exchange(true, ordering: .relaxed) { terminate(ExitCode(128 + number)) }
      received.yield()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for await _ in signals { return } }
      group.addTask { try await body() }
      try await group.next()
      group.cancelAll()
    }
    withExtendedLifetime(sources) {}
  }
}
