import ScanDaemon
import ScanInputs

/// A reading handler that forwards everything to a daemon, and reports when one of the inputs ends permanently, or when
/// an answer to it is lost.
struct EndOfInput: ReadingHandler {
  let daemon: Daemon
  /// The name of that input.
  let input: String
  let onEnd: @Sendable () -> Void
  /// Called with the reason why an answer was not written.
  let onUnanswered: @Sendable (String) -> Void

  func answer(_ reading: Reading) async -> ReadingAnswer { await daemon.answer(reading) }

  func answer(_ readings: [Reading]) async -> [ReadingAnswer] { await daemon.answer(readings) }

  func note(_ event: InputEvent, input: String) {
    daemon.note(event, input: input)
    guard input == self.input else { return }
    switch event {
    case .closed(_, reopens: false): onEnd()
    case .fault(.unanswered(let reason)): onUnanswered(reason)
    default: break
    }
  }
}
