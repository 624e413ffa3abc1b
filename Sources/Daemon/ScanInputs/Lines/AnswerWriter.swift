import Synchronization

/// Writes answers to a device or a stream where they are not requested. A double scan is not repeated.
final class AnswerWriter: Sendable {
  private let inputContext: InputContext
  private let thread: InputThread
  private let output: Descriptor
  /// The longest time to wait for one answer to be accepted; `nil` for as long as the input runs. After a timeout,
  /// later answers do not wait until one is accepted.
  private let timeout: Duration?
  private let ending: Ending
  /// The error of the last answer. Each error is reported once.
  private let lastError = Mutex<InputError?>(nil)

  init(inputContext: InputContext, thread: InputThread, output: Descriptor, timeout: Duration?, ending: Ending) {
    self.inputContext = inputContext
    self.thread = thread
    self.output = output
    self.timeout = timeout
    self.ending = ending
  }

  /// Writes an answer. Only one call may run at a time.
  func write(_ answer: ReadingAnswer) async {
    guard !answer.isRepeat else { return }
    let bytes = answer.line + [UInt8(ascii: "\n")]
    let former = lastError.withLock { $0 }
    let limit = former == nil ? timeout : timeout.map { _ in .zero }
    let result = await thread.run { [output, ending] in
      Result { () throws(InputError) in try output.write(bytes, within: limit, ending: ending) }
    }
    switch result {
    case .success: lastError.withLock { $0 = nil }
    case .failure(let error):
      if error != former { inputContext.report(.fault(.unanswered(error.description))) }
      lastError.withLock { $0 = error }
    }
  }
}
