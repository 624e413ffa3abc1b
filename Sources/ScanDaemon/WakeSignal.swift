import ServiceLifecycle
import Synchronization

/// What a service waits for: a moment, or somebody who wakes it. Wakes that nobody waited for become one.
final class WakeSignal: Sendable {
  private struct State {
    var isPending = false
    var isFinished = false
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = nil }
      if state.waiting == nil { state.isPending = true }
      return state.waiting
    }
    waiting?.resume()
  }

  /// From now on nobody waits.
  func finish() {
    state.withLock { $0.isFinished = true }
    wake()
  }

  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Waits until somebody wakes, the time is over, or the task is cancelled. For one waiting task.
  ///
  /// - Parameter time: `nil` for ever.
  func wait(_ time: Duration?, _ sleep: @escaping @Sendable (Duration) async throws -> Void) async {
    let timer = time.map { time in
      Task { if (try? await sleep(time)) != nil { wake() } }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if state.isPending || state.isFinished || Task.isCancelled {
            state.isPending = false
            return true
          }
          state.waiting = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
    timer?.cancel()
  }

  /// Runs `body` until graceful shutdown or cancellation finishes these wakes.
  func untilShutdown(_ body: () async -> Void) async {
    await withTaskCancellationOrGracefulShutdownHandler {
      await body()
    } onCancelOrGracefulShutdown: { [self] in
      finish()
    }
  }
}
