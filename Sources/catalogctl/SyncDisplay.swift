import CatalogSync
import Synchronization

/// Shows how far a synchronisation has come and, while the server is silent, for how long it has been.
final class SyncDisplay: Sendable {
  private struct State {
    var bar: ProgressBar
    var last: SyncProgress?
    /// Since when nothing came.
    var silence = ContinuousClock.now
    var isWaiting = true
  }

  private let host: String
  private let isShown: Bool
  private let state: Mutex<State>
  private let ticker = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - host: The server's name, for people.
  ///   - isForced: Whether progress is shown where standard error is no terminal, too.
  init(host: String, isForced: Bool) {
    self.host = host
    let bar = ProgressBar(isForced: isForced)
    isShown = bar.isShown
    state = Mutex(State(bar: bar))
  }

  /// Begins to look, once a second, for how long the server has been silent.
  func begin() {
    guard isShown else { return }
    ticker.withLock { ticker in
      ticker = Task { [weak self] in
        while (try? await Task.sleep(for: .seconds(1))) != nil, let self { self.tick() }
      }
    }
  }

  /// Shows what came.
  func update(_ progress: SyncProgress) {
    state.withLock { state in
      state.silence = .now
      state.last = progress
      state.isWaiting = progress.phase == .receiving
      // A request that got no byte yet has nothing to show but its wait.
      if progress.phase != .receiving || progress.bytesReceived > 0 { state.bar.update(progress) }
    }
  }

  /// Leaves the line, for a message; the wait begins anew after `pause`.
  func interrupt(for pause: Duration) {
    state.withLock { state in
      state.bar.end()
      state.silence = .now + pause
      state.last = nil
    }
  }

  /// Shows nothing more. The line is left if the synchronisation did not come to its end.
  func end() {
    ticker.withLock { $0?.cancel() }
    state.withLock { state in
      state.isWaiting = false
      state.bar.end()
    }
  }

  private func tick() {
    state.withLock { state in
      let seconds = (ContinuousClock.now - state.silence).components.seconds
      guard state.isWaiting, seconds >= 1 else { return }
      if let last = state.last, last.bytesReceived > 0 {
        state.bar.show("receiving  \(Quantity.bytes(last.bytesReceived))  \(host) silent for \(seconds) s")
      } else {
        state.bar.show("waiting for \(host), \(seconds) s")
      }
    }
  }
}
