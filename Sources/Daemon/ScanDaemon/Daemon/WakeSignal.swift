import ServiceLifecycle
import Synchronization

/// A signal that wakes a service before its timeout. Several wakes while nothing waits are combined into one.
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

  /// Ends all waits, now and in the future.
  func finish() {
    state.withLock { $0.isFinished = true }
    wake()
  }

  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// Waits until the signal is raised, the timeout is over, or the task is cancelled. Only one task may wait at a time.
  ///
  /// - Parameter time: The timeout; `nil` to wait indefinitely.
  func wait(_ time: Duration?, _ sleep: @escaping @Sendable (Duration) async throws -> Void) async {
    let timer = time.map { time in
      Task { if (try? await sleep(time)) != nil { wake() } }
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let continues = state.withLock { state in
          if state.isPending || state.isFinished || Task.isCancelled {
            state.isPending = false
            return true
          }
          state.waiting = continuation
          return false
        }
        if continues { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
    timer?.cancel()
  }

  /// Runs `body` until graceful shutdown or cancellation finishes this signal.
  func untilShutdown(_ body: () async -> Void) async {
    await withTaskCancellationOrGracefulShutdownHandler {
      await body()
    } onCancelOrGracefulShutdown: { [self] in
      finish()
    }
  }
}
