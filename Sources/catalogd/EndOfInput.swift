import ScanDaemon
import ScanInputs

/// A reading handler that forwards everything to a daemon, and reports when one of the inputs ends permanently.
struct EndOfInput: ReadingHandler {
  let daemon: Daemon
  /// The name of that input.
  let input: String
  let onEnd: @Sendable () -> Void

  func answer(_ reading: Reading) async -> ReadingAnswer { await daemon.answer(reading) }

  func answer(_ readings: [Reading]) async -> [ReadingAnswer] { await daemon.answer(readings) }

  func note(_ event: InputEvent, input: String) {
    daemon.note(event, input: input)
    if input == self.input, case .closed(_, reopens: false) = event { onEnd() }
  }
}
