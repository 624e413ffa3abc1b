public import Logging
import ServiceLifecycle
import Synchronization

/// Runs inputs that stay open while their handler is replaced.
///
/// A program that reloads its configuration in the same process creates one supervisor for its inputs, and calls
/// ``run(_:for:maximumConnections:continues:)`` for each configuration. An input whose options do not change stays open
/// between two runs: an incomplete line continues, clients stay connected, and codes that are read meanwhile are
/// answered by the next handler.
public final class InputSupervisor: Sendable {
  private struct Running: Sendable {
    let options: InputOptions
    let group: ServiceGroup
    let task: Task<Void, Never>
  }

  private let logger: Logger
  private let environment: InputEnvironment
  let handlerSwitch = HandlerSwitch()
  private let deviceHandoff = DeviceHandoff()
  /// Guards the running inputs, by name. Never held across an await.
  private let running = Mutex<[String: Running]>([:])

  /// Creates a supervisor.
  ///
  /// - Parameter logger: The logger of its inputs; see ``ScanInput``.
  public convenience init(logger: Logger) { self.init(logger: logger, environment: InputEnvironment()) }

  init(logger: Logger, environment: InputEnvironment) {
    self.logger = logger
    var environment = environment
    environment.deviceHandoff = deviceHandoff
    self.environment = environment
  }

  /// Runs exactly these inputs for `handler` until graceful shutdown. Only one call may run at a time; call ``end()``
  /// after the last one.
  ///
  /// For inputs that stay open, the handler receives the same events as for inputs that open. All lines that were read
  /// before the shutdown are answered by it.
  ///
  /// - Parameters:
  ///   - inputs: The inputs, with unique names.
  ///   - handler: The handler of the readings until the next call.
  ///   - maximumConnections: The connection limit of each input that begins now and accepts connections.
  ///   - continues: Called at the end, even after a cancellation. Returns whether there will be another call. If true,
  ///     the inputs stay open and readings wait for it; otherwise they end.
  /// - Throws: `CancellationError` only.
  public func run(
    _ inputs: [InputOptions], for handler: any ReadingHandler,
    maximumConnections: Int = ScanInput.maximumConnections, continues: @Sendable () -> Bool
  ) async throws {
    let wanted = Dictionary(inputs.map { ($0.name, $0) }) { $1 }
    let (kept, others) = running.withLock { running in
      let kept = running.filter { wanted[$0.key] == $0.value.options }
      let others = running.values.filter { wanted[$0.options.name] != $0.options }
      running = kept
      return (Set(kept.keys), others)
    }
    handlerSwitch.connect(handler, continuing: kept)
    // Some new inputs may continue to read the devices of others.
    let new = inputs.filter { !kept.contains($0.name) }
    deviceHandoff.reserve(Set(new.compactMap { DeviceHandoff.Key($0.source) }))
    await end(others)
    for input in new { start(input, maximumConnections) }
    try? await gracefulShutdown()
    if !continues() { await endAll() }
    await handlerSwitch.disconnect()
    try Task.checkCancellation()
  }

  /// Ends the inputs that the last call left open. Lines that they have read are answered by its handler.
  public func end() async {
    handlerSwitch.release()
    await endAll()
  }

  /// Whether no input is running.
  var isIdle: Bool { running.withLock { $0.isEmpty } }

  private func endAll() async {
    let all = running.withLock { running in
      defer { running = [:] }
      return running
    }
    await end(Array(all.values))
  }

  private func start(_ options: InputOptions, _ maximumConnections: Int) {
    var input = ScanInput(options, handler: handlerSwitch, logger: logger)
    input.environment = environment
    input.environment.maximumConnections = min(environment.maximumConnections, maximumConnections)
    // The group's own log messages do not concern the input.
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .error)
    let group = ServiceGroup(services: [input], logger: quiet)
    // Detached, because it outlives the run that starts it.
    let task = Task.detached { () -> Void in try? await group.run() }
    running.withLock { $0[options.name] = Running(options: options, group: group, task: task) }
  }

  /// Ends inputs gracefully, or at once if the task is cancelled.
  private func end(_ inputs: [Running]) async {
    await withTaskCancellationHandler {
      for input in inputs { await input.group.triggerGracefulShutdown() }
      for input in inputs { await input.task.value }
    } onCancel: {
      for input in inputs { input.task.cancel() }
    }
  }
}
