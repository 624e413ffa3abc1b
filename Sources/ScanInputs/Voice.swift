import Synchronization

/// Writes answers to a device or a stream, where nobody asked for them: a double scan is reported once.
final class Voice: Sendable {
  private let inputContext: InputContext
  private let thread: InputThread
  private let output: Descriptor
  /// How long one answer may be held up; `nil` for as long as the input runs. After one that was held up so long the next ones do
  /// not wait at all, until one is taken.
  private let patience: Duration?
  private let ending: Ending
  /// Why the last answer could not be delivered: it is told once.
  private let trouble = Mutex<InputError?>(nil)

  init(inputContext: InputContext, thread: InputThread, output: Descriptor, patience: Duration?, ending: Ending) {
    self.inputContext = inputContext
    self.thread = thread
    self.output = output
    self.patience = patience
    self.ending = ending
  }

  /// One call at a time.
  func say(_ answer: ReadingAnswer) async {
    guard !answer.isRepeat else { return }
    let bytes = answer.line + [UInt8(ascii: "\n")]
    let former = trouble.withLock { $0 }
    let limit = former == nil ? patience : patience.map { _ in .zero }
    let result = await thread.run { [output, ending] in
      Result { () throws(InputError) in try output.write(bytes, within: limit, ending: ending) }
    }
    switch result {
    case .success: trouble.withLock { $0 = nil }
    case .failure(let obstacle):
      if obstacle != former { inputContext.note(.fault(.unanswered(obstacle.description))) }
      trouble.withLock { $0 = obstacle }
    }
  }
}
