/// Reads a device that may disappear and return: opens it, reads it to its end, and reopens it.
struct DeviceInput {
  /// The reason why reading a device ended.
  enum End {
    /// The device disappeared, with the error.
    case gone(InputError)
    /// The input must end; the state of the incomplete line.
    case stopped(DeviceHandoff.State)
  }

  let inputContext: InputContext
  let source: InputSource
  let path: String
  let interval: Duration
  let format: LineFormat
  let environment: InputEnvironment
  let ending: Ending

  /// Runs until the input must end.
  ///
  /// - Parameters:
  ///   - open: Opens the device, or configures an open one that another input read; may block.
  ///   - read: Reads the device, from the state in which it was handed over, until it or the input ends.
  func run(
    open: @escaping @Sendable (Descriptor?) throws(InputError) -> Descriptor,
    read: (Descriptor, DeviceHandoff.State?, InputThread) async throws -> End
  ) async throws {
    try await InputThread.use(format, hasAnswers: source.hasAnswers) { try await run(on: $0, open: open, read: read) }
  }

  private func run(
    on thread: InputThread, open: @escaping @Sendable (Descriptor?) throws(InputError) -> Descriptor,
    read: (Descriptor, DeviceHandoff.State?, InputThread) async throws -> End
  ) async throws {
    let key = DeviceHandoff.Key(source)
    var openDevice = key.flatMap { environment.deviceHandoff?.take($0) }
    var reopening = Reopening(inputContext: inputContext, environment: environment, first: interval, longest: interval)
    while !ending.stop.isTripped {
      let former = openDevice
      openDevice = nil
      let opened = await thread.run {
        Result { () throws(InputError) in
          do throws(InputError) { return try open(former?.device) } catch {
            former?.device.close()
            throw error
          }
        }
      }
      switch opened {
      case .failure(let error): try await reopening.closed(error.description)
      case .success(let device):
        reopening.opened(path)
        let end: End
        do {
          end = try await read(device, former?.state, thread)
        } catch {
          await thread.run { device.close() }
          throw error
        }
        if case .stopped(let state) = end, let key, let handoff = environment.deviceHandoff,
          handoff.put(DeviceHandoff.OpenDevice(device: device, state: state), for: key)
        {
          return
        }
        await thread.run { device.close() }
        guard case .gone(let error) = end else { return }
        try await reopening.closed(error.description)
      }
    }
    // The input ended before it began.
    if let openDevice { await thread.run { openDevice.device.close() } }
  }
}
