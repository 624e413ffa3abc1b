import Essentials
import JSONFormat
import Logging
import ServiceLifecycle
import Synchronization

/// A service that reports when the network comes back, so that failed work is retried without waiting for its back-off
/// to end.
///
/// It stops nothing when the network goes away, because a server on this machine or on another interface may still be
/// reachable. Only an attempt shows that, and the back-off of the schedule and the queue limits the number of attempts.
final class NetworkWatch: Service {
  /// The delay before listening again after a failure to listen or the end of a listener.
  static let reopenPause: Duration = .seconds(60)

  private struct State {
    var pace = ChangePace()
    var isListening = false
    /// Whether listening has failed since it last succeeded.
    var isLate = false
    /// The reason why the listener ended.
    var end: String?
    var returns = 0
    /// The last return of the network, in microseconds since 1970.
    var lastReturn: Int64?
  }

  private let isWanted: Bool
  private let onReturn: @Sendable () async -> Void
  private let context: DaemonContext
  private let state = Mutex(State())
  private let wakes = WakeSignal()

  init(_ context: DaemonContext, isWanted: Bool, onReturn: @escaping @Sendable () async -> Void) {
    self.context = context
    self.isWanted = isWanted
    self.onReturn = onReturn
  }

  func run() async throws {
    await wakes.untilShutdown {
      var stop: (@Sendable () -> Void)?
      var nextAttempt = Duration.zero
      while !wakes.isFinished, !Task.isCancelled {
        if let end = state.withLock({ $0.end.take() }) {
          stop?()
          stop = nil
          nextAttempt = context.uptime() + Self.reopenPause
          listeningFailed(end)
        }
        if stop == nil, context.uptime() >= nextAttempt {
          stop = listen()
          nextAttempt = context.uptime() + Self.reopenPause
        }
        let now = context.uptime()
        let (change, pause) = state.withLock { ($0.pace.take(at: now), $0.pace.pause(at: now)) }
        if let change {
          await report(change)
          continue
        }
        // Retry if listening failed; if the system does not support it, never.
        let retry = stop == nil && isWanted && context.environment.listen != nil ? max(.zero, nextAttempt - now) : nil
        await wakes.wait([pause, retry].compactMap(\.self).min(), context.time.sleep)
      }
      stop?()
      state.withLock { $0.isListening = false }
    }
  }

  /// - Returns: A closure that stops listening; `nil` if listening failed.
  private func listen() -> (@Sendable () -> Void)? {
    guard isWanted, let listen = context.environment.listen else { return nil }
    do {
      let stop = try listen { [weak self] in self?.take($0) }
      let isLate = state.withLock { state in
        defer { state.isLate = false }
        state.isListening = true
        return state.isLate
      }
      context.problems.clear(.networkUnwatched)
      // Changes may have been missed while listening failed.
      if isLate { take(.changed(.cameBack)) }
      return stop
    } catch {
      listeningFailed("\(error)")
      return nil
    }
  }

  private func listeningFailed(_ reason: String) {
    state.withLock { state in
      state.isListening = false
      state.isLate = true
    }
    context.problems.report(.networkUnwatched, "cannot hear when the network comes back: \(reason)")
  }

  private func take(_ event: NetworkEvent) {
    let (now, fraction) = (context.uptime(), context.time.fraction())
    state.withLock { state in
      switch event {
      case .changed(let change): state.pace.record(change, at: now, fraction: fraction)
      case .ended(let reason): state.end = reason
      }
    }
    wakes.wake()
  }

  private func report(_ change: NetworkChange) async {
    guard change.contains(.cameBack) else {
      context.logger.info("a part of the network went away")
      return
    }
    let time = context.time.now()
    state.withLock { state in
      state.returns += 1
      state.lastReturn = time
    }
    context.metrics.networkReturns.increment()
    context.logger.info("the network came back")
    await onReturn()
  }

  /// The state as JSON: whether a listener is active, how often the network came back, and when it last did.
  var json: JSONText {
    let (isListening, returns, last) = state.withLock { ($0.isListening, $0.returns, $0.lastReturn) }
    return .object([
      ("watched", .bool(isListening)), ("returns", .int(returns)),
      ("lastReturn", .optional(last.map { Date(microseconds: $0).precise })),
    ])
  }
}
