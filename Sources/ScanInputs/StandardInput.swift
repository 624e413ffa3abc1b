import ServiceLifecycle

/// Lines of the standard input; answers go to the standard output.
///
/// It reads pipes, terminals, files and sockets, on a thread of its own. The descriptors stay as they are: others share them.
struct StandardInput {
  let desk: Desk
  let format: LineFormat
  let environment: InputEnvironment
  let ending: Ending

  func run() async throws {
    desk.note(.opened("standard input"))
    guard let end = try await InputThread.use(read) else { return }
    desk.note(.closed(reason: end, reopens: false))
    // The end of a service is the end of its group, and the daemon goes on.
    try await gracefulShutdown()
  }

  /// - Returns: Why there is no more; `nil` if the input is to end.
  private func read(on thread: InputThread) async throws -> String? {
    let source = Descriptor(environment.standardInput, isOwned: false)
    let output = Descriptor(environment.standardOutput, isOwned: false)
    let remainder = environment.standardInputRemainder
    var framer = LineFramer(format, after: remainder.take())
    var voice = Voice(desk: desk, thread: thread, output: output, patience: nil, ending: ending)
    while true {
      let piece = await thread.run { [ending] in Result { () throws(Obstacle) in try source.read(ending: ending) } }
      var lines: [LineFramer.Line] = []
      var end: String?
      switch piece {
      case .success(.bytes(let bytes)): framer.append(bytes, to: &lines)
      case .success(.end):
        framer.finish(&lines)
        end = "end of input"
      case .success(.idle): break
      case .success(.stopped):
        remainder.keep(framer.beginning)
        return nil
      case .failure(let obstacle):
        framer.finish(&lines)
        end = obstacle.description
      }
      for line in lines {
        try Task.checkCancellation()
        if let answer = await desk.answer(line) { await voice.say(answer) }
      }
      if let end { return end }
    }
  }
}

/// Writes answers where nobody asked for them: a double scan is reported once.
struct Voice {
  let desk: Desk
  let thread: InputThread
  let output: Descriptor
  /// How long one answer may be held up; `nil` for as long as the input runs. After one that was held up so long the next ones do
  /// not wait at all, until one is taken.
  let patience: Duration?
  let ending: Ending
  /// Why the last answer could not be delivered: it is told once.
  private var trouble: Obstacle?

  init(desk: Desk, thread: InputThread, output: Descriptor, patience: Duration?, ending: Ending) {
    self.desk = desk
    self.thread = thread
    self.output = output
    self.patience = patience
    self.ending = ending
  }

  mutating func say(_ answer: ReadingAnswer) async {
    guard !answer.isRepeat else { return }
    let bytes = answer.line + [UInt8(ascii: "\n")]
    let limit = trouble == nil ? patience : patience.map { _ in .zero }
    let result = await thread.run { [output, ending] in
      Result { () throws(Obstacle) in try output.write(bytes, within: limit, ending: ending) }
    }
    switch result {
    case .success: trouble = nil
    case .failure(let obstacle):
      if obstacle != trouble { desk.note(.fault(.unanswered(obstacle.description))) }
      trouble = obstacle
    }
  }
}
