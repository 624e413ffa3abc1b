/// A device that may go away and come back: it is opened, read to its end, and opened again.
struct DeviceInput {
  let desk: Desk
  let path: String
  let interval: Duration
  let environment: InputEnvironment
  let ending: Ending

  /// - Parameters:
  ///   - open: Opens the device; may block.
  ///   - read: Reads it until it ends, and says why it did, or until the input is to end.
  func run(
    open: @escaping @Sendable () throws(Obstacle) -> Descriptor,
    read: (Descriptor, InputThread) async throws -> Obstacle?
  ) async throws {
    try await InputThread.use { try await run(on: $0, open: open, read: read) }
  }

  private func run(
    on thread: InputThread, open: @escaping @Sendable () throws(Obstacle) -> Descriptor,
    read: (Descriptor, InputThread) async throws -> Obstacle?
  ) async throws {
    var reopening = Reopening(desk: desk, environment: environment, first: interval, longest: interval)
    while !ending.stop.isTripped {
      switch await thread.run({ Result { () throws(Obstacle) in try open() } }) {
      case .failure(let obstacle): try await reopening.closed(obstacle.description)
      case .success(let device):
        reopening.opened(path)
        let end: Obstacle?
        do {
          end = try await read(device, thread)
        } catch {
          await thread.run { device.close() }
          throw error
        }
        await thread.run { device.close() }
        guard let end else { return }
        try await reopening.closed(end.description)
      }
    }
  }
}
