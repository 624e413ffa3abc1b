import ArgumentParser
import Dispatch
import Essentials
import Platform
import Synchronization

/// SIGINT and SIGTERM, for commands that run until they are interrupted.
enum TerminationSignals {
  /// Calls `handler` for each signal, instead of ending the process, for as long as the result is referenced.
  ///
  /// On return the handler is installed, so no later signal is lost. Waits a moment for that.
  static func sources(_ handler: @escaping @Sendable (Int32) -> Void) -> [any DispatchSourceSignal] {
    let registered = DispatchSemaphore(value: 0)
    let sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { handler(number) }
      source.setRegistrationHandler { registered.signal() }
      source.resume()
      return source
    }
    for _ in sources { registered.wait() }
    return sources
  }

  /// Lets signals end the process again.
  static func remove(_ sources: [any DispatchSourceSignal]) {
    for source in sources { source.cancel() }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }

  /// Runs `body` until it returns. The first signal cancels its task. A second one ends the process, in case that
  /// `body` cannot end, for example because nobody reads its output.
  static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let (signals, received) = AsyncStream<Void>.makeStream()
    let isEnding = Atomic(false)
    let sources = sources { number in
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
