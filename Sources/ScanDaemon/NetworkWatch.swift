import JSONFormat
import Logging
import ServiceLifecycle
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tells when the network came back, so that what failed need not wait for its pause to be over.
///
/// It stops nothing when the network goes away: a server on this machine, or behind another interface, is reached all the same. Only
/// an attempt tells, and the schedule's and the queue's own pauses bound what attempts cost.
final class NetworkWatch: Service {
  /// How soon is listened again where that did not work, or ended.
  static let reopenPause: Duration = .seconds(60)

  private struct State {
    var pace = ChangePace()
    var isListening = false
    /// Whether listening has failed since it last began.
    var isLate = false
    /// Why it ended.
    var end: String?
    var returns = 0
    /// Microseconds since 1970.
    var lastReturn: Int64?
  }

  private let isWanted: Bool
  private let onReturn: @Sendable () async -> Void
  private let problems: Problems
  private let metrics: DaemonMetrics
  private let environment: DaemonEnvironment
  private let logger: Logger
  private let state = Mutex(State())
  private let wakes = WakeSignal()

  init(
    _ options: DaemonOptions, _ problems: Problems, _ metrics: DaemonMetrics, _ environment: DaemonEnvironment,
    _ logger: Logger, onReturn: @escaping @Sendable () async -> Void
  ) {
    isWanted = options.watchesNetwork && (options.sync != nil || !options.webhooks.isEmpty)
    self.problems = problems
    self.metrics = metrics
    self.environment = environment
    self.logger = logger
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
          nextAttempt = environment.uptime() + Self.reopenPause
          note(end)
        }
        if stop == nil, environment.uptime() >= nextAttempt {
          stop = listen()
          nextAttempt = environment.uptime() + Self.reopenPause
        }
        let now = environment.uptime()
        let (change, pause) = state.withLock { ($0.pace.take(at: now), $0.pace.pause(at: now)) }
        if let change {
          await tell(change)
          continue
        }
        // Where nobody listens it is tried again; where there is nothing to listen to, never.
        let retry = stop == nil && isWanted && environment.listen != nil ? max(.zero, nextAttempt - now) : nil
        await wakes.wait([pause, retry].compactMap(\.self).min(), environment.time.sleep)
      }
      stop?()
      state.withLock { $0.isListening = false }
    }
  }

  /// - Returns: what ends it; `nil` where nobody listens.
  private func listen() -> (@Sendable () -> Void)? {
    guard isWanted, let listen = environment.listen else { return nil }
    do {
      let stop = try listen { [weak self] in self?.take($0) }
      let isLate = state.withLock { state in
        defer { state.isLate = false }
        state.isListening = true
        return state.isLate
      }
      problems.clear(.networkUnwatched)
      // Nobody heard what happened meanwhile.
      if isLate { take(.changed(.cameBack)) }
      return stop
    } catch {
      note("\(error)")
      return nil
    }
  }

  private func note(_ reason: String) {
    state.withLock { state in
      state.isListening = false
      state.isLate = true
    }
    problems.note(.networkUnwatched, "cannot hear when the network comes back: \(reason)")
  }

  private func take(_ event: NetworkEvent) {
    let (now, fraction) = (environment.uptime(), environment.time.fraction())
    state.withLock { state in
      switch event {
      case .changed(let change): state.pace.note(change, at: now, fraction: fraction)
      case .ended(let reason): state.end = reason
      }
    }
    wakes.wake()
  }

  private func tell(_ change: NetworkChange) async {
    guard change.contains(.cameBack) else {
      logger.info("a part of the network went away")
      return
    }
    let time = environment.time.now()
    state.withLock { state in
      state.returns += 1
      state.lastReturn = time
    }
    metrics.networkReturns.increment()
    logger.info("the network came back")
    await onReturn()
  }

  /// What programs are told: whether anybody listens, how often the network came back, and when the last time.
  var json: JSONText {
    let (isListening, returns, last) = state.withLock { ($0.isListening, $0.returns, $0.lastReturn) }
    return .object([
      ("watched", .bool(isListening)), ("returns", .int(returns)),
      ("lastReturn", .optional(last.map { Date(microseconds: $0).precise })),
    ])
  }
}
