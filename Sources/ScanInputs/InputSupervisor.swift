public import Logging
import ServiceLifecycle
import Synchronization

/// Inputs that outlive those for whom they read.
///
/// A program that begins again under another configuration, in the same process, gives its inputs one supervisor and runs them with
/// ``run(_:for:maximumConnections:goesOn:)`` each time. An input whose options stay as they are is not closed between two runs: a code that is half
/// read goes on, clients stay connected, and what is read meanwhile is answered by the next handler.
public final class InputSupervisor: Sendable {
  private struct Running: Sendable {
    let options: InputOptions
    let group: ServiceGroup
    let task: Task<Void, Never>
  }

  private let logger: Logger
  private let environment: InputEnvironment
  let board = HandlerSwitch()
  private let shelf = DeviceHandoff()
  /// Guards what runs, by the name of the input. Never held across an await.
  private let running = Mutex<[String: Running]>([:])

  /// - Parameter logger: as of ``ScanInput``.
  public convenience init(logger: Logger) { self.init(logger: logger, environment: InputEnvironment()) }

  init(logger: Logger, environment: InputEnvironment) {
    self.logger = logger
    var environment = environment
    environment.shelf = shelf
    self.environment = environment
  }

  /// Has these inputs, and no others, read for `handler`, until graceful shutdown. One call at a time; ``end()`` behind the last.
  ///
  /// The handler is told of inputs that go on as of those that open. What was read when the shutdown comes is answered by it.
  ///
  /// - Parameters:
  ///   - inputs: names are unique.
  ///   - handler: answers what is read, until the next call.
  ///   - maximumConnections: of each input that begins now and has any.
  ///   - goesOn: asked at the end, also after a cancellation: whether there will be another call. Then the inputs stay open, and
  ///     readings wait for it; else they end.
  /// - Throws: `CancellationError` only.
  public func run(
    _ inputs: [InputOptions], for handler: any ReadingHandler,
    maximumConnections: Int = ScanInput.maximumConnections, goesOn: @Sendable () -> Bool
  ) async throws {
    let wanted = Dictionary(inputs.map { ($0.name, $0) }) { $1 }
    let (kept, others) = running.withLock { running in
      let kept = running.filter { wanted[$0.key] == $0.value.options }
      let others = running.values.filter { wanted[$0.options.name] != $0.options }
      running = kept
      return (Set(kept.keys), others)
    }
    board.connect(handler, continuing: kept)
    // Some of them may read the devices of others on.
    let new = inputs.filter { !kept.contains($0.name) }
    shelf.reserve(Set(new.compactMap { DeviceHandoff.Key($0.source) }))
    await end(others)
    for input in new { start(input, maximumConnections) }
    try? await gracefulShutdown()
    if !goesOn() { await endAll() }
    await board.disconnect()
    try Task.checkCancellation()
  }

  /// Ends the inputs that the last call left open. What they had read is answered by its handler.
  public func end() async {
    board.release()
    await endAll()
  }

  /// Whether nothing runs.
  var isIdle: Bool { running.withLock { $0.isEmpty } }

  private func endAll() async {
    let all = running.withLock { running in
      defer { running = [:] }
      return running
    }
    await end(Array(all.values))
  }

  private func start(_ options: InputOptions, _ maximumConnections: Int) {
    var input = ScanInput(options, handler: board, logger: logger)
    input.environment = environment
    input.environment.maximumConnections = min(environment.maximumConnections, maximumConnections)
    // What the group itself says is nothing that concerns the input.
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .error)
    let group = ServiceGroup(services: [input], logger: quiet)
    // Detached, as it does not end with the run that starts it.
    let task = Task.detached { () -> Void in try? await group.run() }
    running.withLock { $0[options.name] = Running(options: options, group: group, task: task) }
  }

  /// In order; at once when the task is cancelled.
  private func end(_ inputs: [Running]) async {
    await withTaskCancellationHandler {
      for input in inputs { await input.group.triggerGracefulShutdown() }
      for input in inputs { await input.task.value }
    } onCancel: {
      for input in inputs { input.task.cancel() }
    }
  }
}
