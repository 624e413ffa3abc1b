/// Lines of a serial device or a pty.
struct SerialInput {
  let options: SerialOptions
  let format: LineFormat
  let desk: Desk
  let environment: InputEnvironment
  let ending: Ending

  func run() async throws {
    let device = DeviceInput(
      desk: desk, source: .serial(options), path: options.path, interval: options.reopenInterval, format: format,
      environment: environment, ending: ending)
    try await device.run(
      open: { [options] (kept) throws(Obstacle) in
        guard let kept else { return try SerialLine.open(options) }
        try SerialLine.setUp(kept, options)
        return kept
      }, read: read)
  }

  private func read(
    _ device: Descriptor, _ former: DeviceShelf.State?, _ thread: InputThread
  ) async throws -> DeviceInput.End {
    var beginning = LineFramer.Beginning()
    if case .line(let former)? = former { beginning = former }
    var framer = LineFramer(format, after: beginning)
    let patience = environment.devicePatience
    let voice = Voice(desk: desk, thread: thread, output: device, patience: patience, ending: ending)
    return try await LineBuffer.run(format) { () -> ([LineFramer.Line], DeviceInput.End?) in
      let limit = framer.isInsideLine ? format.idleTimeout : nil
      let piece = await thread.run { [ending] in
        Result { () throws(Obstacle) in try device.read(within: limit, ending: ending) }
      }
      var lines: [LineFramer.Line] = []
      switch piece {
      case .success(.bytes(let bytes)): framer.append(bytes, to: &lines)
      case .success(.idle):
        framer.finish(&lines)
        environment.onPause()
      // What a line lacks because the device went away nobody knows: it does not count.
      case .success(.end): return ([], .gone(Obstacle("the device hung up")))
      case .success(.stopped): return ([], .stopped(.line(framer.beginning)))
      case .failure(let obstacle): return ([], .gone(obstacle))
      }
      return (lines, nil)
    } answer: { [desk, format, options] line in
      if let answer = await desk.answer(line, format.encoding), options.answers { await voice.say(answer) }
    }
  }
}
