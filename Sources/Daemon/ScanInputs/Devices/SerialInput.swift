/// Reads lines from a serial device or a pty.
struct SerialInput {
  let options: SerialOptions
  let format: LineFormat
  let inputContext: InputContext
  let environment: InputEnvironment
  let ending: Ending

  func run() async throws {
    let device = DeviceInput(
      inputContext: inputContext, source: .serial(options), path: options.path, interval: options.reopenInterval,
      format: format,
      environment: environment, ending: ending)
    try await device.run(
      open: { [options] (openDevice) throws(InputError) in
        guard let openDevice else { return try SerialLine.open(options) }
        try SerialLine.setUp(openDevice, options)
        return openDevice
      }, read: read)
  }

  private func read(
    _ device: Descriptor, _ former: DeviceHandoff.State?, _ thread: InputThread
  ) async throws -> DeviceInput.End {
    var beginning = LineFramer.Beginning()
    if case .line(let former)? = former { beginning = former }
    var framer = LineFramer(format, after: beginning)
    let timeout = environment.deviceTimeout
    let writer = AnswerWriter(
      inputContext: inputContext, thread: thread, output: device, timeout: timeout, ending: ending)
    return try await LineBuffer.run(format) { () -> ([LineFramer.Line], DeviceInput.End?) in
      let limit = framer.isInsideLine ? format.idleTimeout : nil
      let piece = await thread.run { [ending] in
        Result { () throws(InputError) in try device.read(within: limit, ending: ending) }
      }
      var lines: [LineFramer.Line] = []
      switch piece {
      case .success(.bytes(let bytes)): framer.append(bytes, to: &lines)
      case .success(.idle):
        framer.finish(&lines)
        environment.onPause()
      // The line may be incomplete because the device disappeared, so it is dropped.
      case .success(.end): return ([], .gone(InputError("the device hung up")))
      case .success(.stopped): return ([], .stopped(.line(framer.beginning)))
      case .failure(let error): return ([], .gone(error))
      }
      return (lines, nil)
    } answer: { [inputContext, format, options] line in
      if let answer = await inputContext.answer(line, format.encoding), options.answers { await writer.write(answer) }
    }
  }
}
