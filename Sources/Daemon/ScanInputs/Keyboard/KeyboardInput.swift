import CDaemon
import Platform

/// Reads lines that a scanner types, from its event device or a FIFO of events.
struct KeyboardInput {
  let options: KeyboardOptions
  let format: LineFormat
  let inputContext: InputContext
  let environment: InputEnvironment
  let ending: Ending

  func run() async throws {
    let device = DeviceInput(
      inputContext: inputContext, source: .keyboard(options), path: options.path, interval: options.reopenInterval,
      format: format,
      environment: environment, ending: ending)
    try await device.run(
      open: { [options] (openDevice) throws(InputError) in
        guard let openDevice else { return try Self.open(options) }
        var status = stat()
        // The structure is local.
        guard unsafe fstat(openDevice.number, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else {
          return openDevice
        }
        // Releasing a device that is not grabbed fails, which does not matter.
        _ = shelfmark_grab_keyboard(openDevice.number, 0)
        if options.grabs { try Self.grab(openDevice, options.path) }
        return openDevice
      }, read: read)
  }

  private static func open(_ options: KeyboardOptions) throws(InputError) -> Descriptor {
    let path = options.path
    var status = stat()
    // The path is borrowed as a C string, and the structure is local. The same applies below.
    guard unsafe stat(path, &status) == 0 else { throw InputError("cannot open \(path)", code: errno) }
    let isDevice = status.st_mode & S_IFMT == S_IFCHR
    guard isDevice || status.st_mode & S_IFMT == S_IFIFO else {
      throw InputError("\(path) is neither an event device nor a FIFO")
    }
    // Opened for writing as well, a FIFO has no end of file when its writers close it, so nothing is lost between two
    // writers.
    let number = unsafe shelfmark_open_device(path, isDevice ? O_RDONLY : O_RDWR)
    guard number >= 0 else { throw InputError("cannot open \(path)", code: errno) }
    let device = Descriptor(number)
    if isDevice, options.grabs { try grab(device, path) }
    return device
  }

  private static func grab(_ device: Descriptor, _ path: String) throws(InputError) {
    guard shelfmark_grab_keyboard(device.number, 1) != 0 else { return }
    let code = errno
    guard code != EBUSY else { throw InputError("\(path) is grabbed by another program") }
    throw InputError("\(path) is no event device", code: code)
  }

  private func read(
    _ device: Descriptor, _ former: DeviceHandoff.State?, _ thread: InputThread
  ) async throws -> DeviceInput.End {
    var decoder = KeyboardDecoder(layout: options.layout, keys: options.keys, format: format)
    if case .keys(let former)? = former {
      decoder = KeyboardDecoder(layout: options.layout, keys: options.keys, format: format, after: former)
    }
    return try await LineBuffer.run(format) { () -> ([LineFramer.Line], DeviceInput.End?) in
      let isInsideEvent = decoder.isInsideEvent
      let limit = isInsideEvent ? environment.eventTimeout : decoder.isInsideLine ? format.idleTimeout : nil
      let piece = await thread.run { [ending] in
        Result { () throws(InputError) in try device.read(within: limit, ending: ending) }
      }
      var lines: [LineFramer.Line] = []
      switch piece {
      case .success(.bytes(let bytes)): decoder.append(bytes, to: &lines)
      case .success(.idle): if isInsideEvent { decoder.dropPartialEvent(&lines) } else { decoder.finish(&lines) }
      case .success(.end): return ([], .gone(InputError("the device hung up")))
      case .success(.stopped): return ([], .stopped(.keys(decoder)))
      case .failure(let error): return ([], .gone(error))
      }
      return (lines, nil)
    } answer: { [inputContext] line in
      _ = await inputContext.answer(line, .utf8)
    }
  }
}
