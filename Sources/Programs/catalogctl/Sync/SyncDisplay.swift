import CatalogSync
import Synchronization

/// A display of a synchronisation's progress and, while the server is silent, of the waiting time.
final class SyncDisplay: Sendable {
  private struct State {
    var bar: ProgressBar
    var last: SyncProgress?
    /// The time of the last data.
    var silence = ContinuousClock.now
    var isWaiting = true
  }

  private let host: String
  private let isShown: Bool
  private let state: Mutex<State>
  private let ticker = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - host: The server's name, for people.
  ///   - isForced: Whether to show progress even if standard error is not a terminal.
  init(host: String, isForced: Bool) {
    self.host = host
    let bar = ProgressBar(isForced: isForced)
    isShown = bar.isShown
    state = Mutex(State(bar: bar))
  }

  /// Starts to update the waiting time once a second.
  func begin() {
    guard isShown else { return }
    ticker.withLock { ticker in
      ticker = Task { [weak self] in
        while (try? await Task.sleep(for: .seconds(1))) != nil, let self { self.tick() }
      }
    }
  }

  /// Shows the progress.
  func update(_ progress: SyncProgress) {
    state.withLock { state in
      state.silence = .now
      state.last = progress
      state.isWaiting = progress.phase == .receiving
      // A request that has received no byte yet has only its waiting time to show.
      if progress.phase != .receiving || progress.bytesReceived > 0 { state.bar.update(progress) }
    }
  }

  /// Ends the line, for a message. The waiting time starts again after `pause`.
  func interrupt(for pause: Duration) {
    state.withLock { state in
      state.bar.end()
      state.silence = .now + pause
      state.last = nil
    }
  }

  /// Stops the display. The line is ended if the synchronisation did not complete.
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
