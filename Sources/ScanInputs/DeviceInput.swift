/// A device that may go away and come back: it is opened, read to its end, and opened again.
struct DeviceInput {
  /// How the reading of a device ends.
  enum End {
    /// The device went away, and why.
    case gone(InputError)
    /// The input is to end, in the middle of this.
    case stopped(DeviceHandoff.State)
  }

  let inputContext: InputContext
  let source: InputSource
  let path: String
  let interval: Duration
  let format: LineFormat
  let environment: InputEnvironment
  let ending: Ending

  /// - Parameters:
  ///   - open: Opens the device, or sets up one that is open and was read by another input; may block.
  ///   - read: Reads it, from a state in which it was left, until it ends or until the input is to end.
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
    var kept = key.flatMap { environment.shelf?.take($0) }
    var reopening = Reopening(inputContext: inputContext, environment: environment, first: interval, longest: interval)
    while !ending.stop.isTripped {
      let former = kept
      kept = nil
      let opened = await thread.run {
        Result { () throws(InputError) in
          do throws(InputError) { return try open(former?.device) } catch {
            former?.device.close()
            throw error
          }
        }
      }
      switch opened {
      case .failure(let obstacle): try await reopening.closed(obstacle.description)
      case .success(let device):
        reopening.opened(path)
        let end: End
        do {
          end = try await read(device, former?.state, thread)
        } catch {
          await thread.run { device.close() }
          throw error
        }
        if case .stopped(let state) = end, let key, let shelf = environment.shelf,
          shelf.put(DeviceHandoff.Kept(device: device, state: state), for: key)
        {
          return
        }
        await thread.run { device.close() }
        guard case .gone(let obstacle) = end else { return }
        try await reopening.closed(obstacle.description)
      }
    }
    // It was to end before it began.
    if let kept { await thread.run { kept.device.close() } }
  }
}
