import ServiceLifecycle

/// Reads lines from the standard input; answers are written to the standard output.
///
/// It reads pipes, terminals, files and sockets, on a dedicated thread. The descriptors are not reconfigured, because
/// other processes share them.
struct StandardInput {
  let inputContext: InputContext
  let format: LineFormat
  let environment: InputEnvironment
  let ending: Ending

  func run() async throws {
    inputContext.report(.opened("standard input"))
    guard let end = try await InputThread.use(format, hasAnswers: true, read) else { return }
    inputContext.report(.closed(reason: end, reopens: false))
    // If a service ends, its group ends, but the daemon must continue.
    try await gracefulShutdown()
  }

  /// Reads to the end.
  ///
  /// - Returns: The reason for the end; `nil` if the input must end.
  private func read(on thread: InputThread) async throws -> String? {
    let source = Descriptor(environment.standardInput, isOwned: false)
    let output = Descriptor(environment.standardOutput, isOwned: false)
    let remainder = environment.standardInputRemainder
    var framer = LineFramer(format, after: remainder.take())
    let writer = AnswerWriter(inputContext: inputContext, thread: thread, output: output, timeout: nil, ending: ending)
    return try await LineBuffer.run(format) { () -> ([LineFramer.Line], String??) in
      let limit = framer.isInsideLine ? format.idleTimeout : nil
      let piece = await thread.run { [ending] in
        Result { () throws(InputError) in try source.read(within: limit, ending: ending) }
      }
      var lines: [LineFramer.Line] = []
      var end: String??
      switch piece {
      case .success(.bytes(let bytes)): framer.append(bytes, to: &lines)
      case .success(.end):
        framer.finish(&lines, isCut: true)
        end = "end of input"
      case .success(.idle):
        framer.finish(&lines)
        environment.onPause()
      case .success(.stopped):
        remainder.keep(framer.beginning)
        end = .some(nil)
      case .failure(let error):
        framer.finish(&lines, isCut: true)
        end = error.description
      }
      return (lines, end)
    } answer: { [inputContext, format] line in
      if let answer = await inputContext.answer(line, format.encoding) { await writer.write(answer) }
    }
  }
}
