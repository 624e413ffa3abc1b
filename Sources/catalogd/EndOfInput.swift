import ScanDaemon
import ScanInputs

/// Hands everything on to a daemon, and says when an input ends for good.
struct EndOfInput: ReadingHandler {
  let daemon: Daemon
  let onEnd: @Sendable () -> Void

  func answer(_ reading: Reading) async -> ReadingAnswer { await daemon.answer(reading) }

  func note(_ event: InputEvent, input: String) {
    daemon.note(event, input: input)
    if case .closed(_, reopens: false) = event { onEnd() }
  }
}
