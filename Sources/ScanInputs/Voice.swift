import Synchronization

/// Writes answers to a device or a stream, where nobody asked for them: a double scan is reported once.
final class Voice: Sendable {
  private let desk: Desk
  private let thread: InputThread
  private let output: Descriptor
  /// How long one answer may be held up; `nil` for as long as the input runs. After one that was held up so long the next ones do
  /// not wait at all, until one is taken.
  private let patience: Duration?
  private let ending: Ending
  /// Why the last answer could not be delivered: it is told once.
  private let trouble = Mutex<Obstacle?>(nil)

  init(desk: Desk, thread: InputThread, output: Descriptor, patience: Duration?, ending: Ending) {
    self.desk = desk
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
      Result { () throws(Obstacle) in try output.write(bytes, within: limit, ending: ending) }
    }
    switch result {
    case .success: trouble.withLock { $0 = nil }
    case .failure(let obstacle):
      if obstacle != former { desk.note(.fault(.unanswered(obstacle.description))) }
      trouble.withLock { $0 = obstacle }
    }
  }
}
