import Logging
import Platform
import ScanDaemon
import ScanInputs
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The supervisor that runs the daemon, reloads its configuration, and handles signals.
///
/// SIGHUP reloads the configuration, and the key of sealed users. An invalid one is reported, and the old one stays in use. Log settings take effect
/// at once; for all other changes the daemon shuts down gracefully and starts again in the same process. Inputs with
/// unchanged settings stay open in the meantime, and their readings wait. SIGTERM and SIGINT shut the daemon down. A
/// second signal more than a second later, or a shutdown that takes too long, ends the process immediately, which loses
/// nothing that was acknowledged.
final class Supervisor: Sendable {
  typealias Read = @Sendable () throws(ConfigurationFaults) -> DaemonConfiguration

  private struct State {
    var configuration: DaemonConfiguration
    var run: DaemonRun?
    /// The number of runs so far, which identifies the current one.
    var runCount = 0
    /// The configuration of the next run.
    var next: DaemonConfiguration?
    /// The configuration to return to if the current one does not start.
    var previous: DaemonConfiguration?
    var hasStarted = false
    /// The recent scans of the inputs, for those that stay open.
    var recent = RecentScans()
    /// Why the configuration on disk was refused.
    var refusal: String?
    /// Whether it was refused when it was read, and not when it was started.
    var isMisread = false
    /// Whether a configuration is being read, and whether it must be read again afterwards.
    var isReading = false
    var readsAgain = false
    /// Whether a refused configuration is checked periodically.
    var isChecking = false
    /// Why the first answer was lost that standard output should have got, if the daemon ends with its standard input.
    var unanswered: String?
    var endingSince: ContinuousClock.Instant?
    var isEnding: Bool { endingSince != nil }
    /// Whether another run follows the current one.
    var continues: Bool { !isEnding && (next != nil || (!hasStarted && previous != nil)) }
  }

  private let read: Read
  private let setup: ProcessSetup
  private let manager: ServiceManager?
  private let logger: Logger
  private let inputs: InputSupervisor
  /// Guards the state of the runs. Never held across an await.
  private let state: Mutex<State>

  init(
    _ configuration: DaemonConfiguration, _ setup: ProcessSetup, read: @escaping Read, environment: [String: String]
  ) {
    self.read = read
    self.setup = setup
    manager = ServiceManager(environment: environment)
    logger = Logger(label: "catalogd")
    inputs = InputSupervisor(logger: logger)
    state = Mutex(State(configuration: configuration))
  }

  /// - Returns: The exit code.
  func run() async -> Int32 {
    let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    let listening = Task { for await signal in signals { await take(signal) } }
    let watchdog = manager.map { manager in
      Task { try? await Watchdog(manager) { await self.isHealthy() }.run() }
    }
    warn(of: state.withLock { $0.configuration })
    var code = await runAll()
    await inputs.end()
    if code == 0, let reason = state.withLock({ $0.unanswered }) {
      logger.error("answers were not written to the standard output", metadata: ["reason": "\(reason)"])
      code = ExitStatus.io.rawValue
    }
    if !state.withLock({ $0.isEnding }) { await manager?.stopping() }
    listening.cancel()
    watchdog?.cancel()
    logger.notice("ended", metadata: ["code": .stringConvertible(code)])
    setup.logOutput.flush()
    return code
  }

  // MARK: Runs

  private func runAll() async -> Int32 {
    while true {
      let failure = await runOnce()
      let step = state.withLock { state -> Step in
        if let daemon = state.run?.daemon { state.recent = daemon.recentScans }
        state.run = nil
        if state.isEnding { return .end }
        if let next = state.next {
          state.previous = state.configuration
          state.configuration = next
          state.next = nil
          return .again
        }
        guard failure != nil else { return .end }
        // A valid configuration may still not start: a port is in use, or a directory is not writable.
        if !state.hasStarted, let previous = state.previous {
          state.configuration = previous
          state.previous = nil
          state.refusal = failure.map { "the new configuration does not start: \($0)" }
          state.isMisread = false
          return .back
        }
        return .end
      }
      switch (step, failure) {
      case (.again, let failure):
        if let failure { logger.error("ended with a fault", error: failure) }
        setup.apply(state.withLock { $0.configuration })
      case (.back, let failure?):
        logger.error("the new configuration does not start; going back to the one before", error: failure)
        setup.apply(state.withLock { $0.configuration })
      case (_, let failure?):
        logger.critical("cannot go on", metadata: ["reason": "\(failure)"])
        return ExitStatus(failure).rawValue
      case (_, nil): return 0
      }
    }
  }

  private enum Step { case again, back, end }

  /// - Returns: The error that ended the run; `nil` after a requested shutdown.
  private func runOnce() async -> (any Error)? {
    let configuration = state.withLock { state in
      state.hasStarted = false
      state.runCount += 1
      return state.configuration
    }
    do {
      let recent = state.withLock { $0.recent }
      let run = try await DaemonRun.open(configuration, setup, inputs, after: recent) {
        self.state.withLock { $0.continues }
      } onStarted: {
        await self.started($0)
      } onEnd: {
        self.inputEnded()
      } onUnanswered: { reason in
        self.state.withLock { $0.unanswered = $0.unanswered ?? reason }
      }
      let isWanted = state.withLock { state in
        state.run = run
        if let refusal = state.refusal { run.daemon.problems.report(.reloadRefused, refusal) }
        return !state.isEnding && state.next == nil
      }
      if isWanted { try await run.run() }
      return nil
    } catch {
      return error
    }
  }

  private func started(_ what: String) async {
    state.withLock {
      $0.hasStarted = true
      $0.previous = nil
    }
    await manager?.ready(what)
  }

  private func inputEnded() {
    logger.info("the standard input has ended")
    Task { await self.end() }
  }

  // MARK: Signals

  private func take(_ signal: UnixSignal) async {
    switch signal {
    case .sighup: beginReload()
    default:
      logger.notice("signal", metadata: ["signal": "\(signal)"])
      // A program that signals a process and its group sends two signals at once; an impatient person sends the second
      // one later.
      if let first = state.withLock({ $0.endingSince }), ContinuousClock.now - first > .seconds(1) {
        logger.warning("a second signal: ending without waiting")
        exitNow(signal == .sigint ? 130 : 143)
      }
      await end()
    }
  }

  private func end() async {
    let (run, isFirst) = state.withLock { state in
      let isFirst = !state.isEnding
      if isFirst { state.endingSince = .now }
      return (state.run, isFirst)
    }
    guard isFirst else { return }
    await manager?.stopping()
    limitTime()
    await run?.end()
  }

  /// Reads the configuration in a separate task, because reading a file may take long, and signals must not wait for
  /// it.
  private func beginReload() {
    let begins = state.withLock { state in
      if state.isReading { state.readsAgain = true }
      defer { state.isReading = true }
      return !state.isReading
    }
    guard begins else { return }
    Task {
      var continues = true
      while continues {
        await reload()
        continues = state.withLock { state in
          defer { state.readsAgain = false }
          state.isReading = state.readsAgain
          return state.readsAgain
        }
      }
    }
  }

  private func reload() async {
    logger.notice("reading the configuration again")
    await manager?.reloading()
    do {
      let new = try await BlockingThread.run { [read] in try read() }
      warn(of: new)
      let (run, count, isChanged) = state.withLock { state in
        guard !state.isEnding, new.differs(from: state.next ?? state.configuration) else {
          return (state.run, state.runCount, false)
        }
        state.next = new
        state.refusal = nil
        return (state.run, state.runCount, true)
      }
      setup.apply(new)
      guard isChanged else {
        // The configuration on disk is the running one. A configuration that did not start is retried only after it has
        // changed.
        state.withLock { state in
          guard !new.differs(from: state.configuration) else { return }
          state.refusal = nil
          state.run?.daemon.problems.clear(.reloadRefused)
        }
        logger.notice("the configuration is as it was, or only the log's has changed")
        await run?.daemon.renewKey()
        await manager?.ready("running")
        return
      }
      logger.notice("beginning again under the new configuration")
      limitTime(ofRun: count)
      await run?.end()
    } catch let error as ConfigurationFaults {
      for fault in error.faults {
        logger.error("the configuration is not valid; the old one stays", metadata: ["fault": "\(fault)"])
      }
      refuse("\(error.faults[0])" + (error.faults.count > 1 ? ", and \(error.faults.count - 1) more" : ""))
      await manager?.ready("running; the new configuration is not valid, and the one before stays")
    } catch {
      logger.error("the configuration was not read", error: error)
      refuse("\(error)")
      await manager?.ready("running")
    }
  }

  /// Refuses a configuration; the daemon continues with the current one.
  private func refuse(_ reason: String) {
    state.withLock { state in
      state.refusal = reason
      state.isMisread = true
      state.run?.daemon.problems.report(.reloadRefused, reason)
    }
    checkAgain()
  }

  /// Reads a refused configuration periodically. If it equals the running one again, the problem ends. If it is valid
  /// but different, that is reported, and the next SIGHUP applies it.
  private func checkAgain() {
    let begins = state.withLock { state in
      defer { state.isChecking = true }
      return !state.isChecking
    }
    guard begins else { return }
    Task {
      while state.withLock({ $0.refusal != nil && $0.isMisread && !$0.isEnding }) {
        try? await Task.sleep(for: Self.checkInterval)
        guard let new = try? await BlockingThread.run({ [read] in try read() }) else { continue }
        state.withLock { state in
          guard state.refusal != nil, state.isMisread, let problems = state.run?.daemon.problems else { return }
          if new.differs(from: state.configuration) {
            problems.set(.reloadRefused, "the configuration was corrected, and is not in force yet")
          } else {
            state.refusal = nil
            problems.clear(.reloadRefused)
          }
        }
      }
      state.withLock { $0.isChecking = false }
    }
  }

  /// The interval at which a refused configuration is read again.
  static let checkInterval: Duration = .seconds(5)

  private func warn(of configuration: DaemonConfiguration) {
    for warning in configuration.warnings { logger.warning("\(warning)") }
    let connections = DescriptorLimit.connections(configuration, limit: setup.descriptorLimit)
    guard connections != DescriptorLimit.connections(configuration, limit: .max) else { return }
    logger.warning(
      "fewer connections are let in than are allowed, so that stores find room: few files may be open at once",
      metadata: [
        "http": "\(connections.server)", "input": "\(connections.input)", "limit": "\(setup.descriptorLimit)",
      ])
  }

  // MARK: Timeouts

  /// Ends the process if it, or a run, does not shut down in time. Holds no reference to it in the meantime.
  private func limitTime(ofRun run: Int? = nil) {
    let limit = state.withLock { $0.configuration.daemon.drainTimeout } + DaemonRun.margin * 2
    Task {
      try? await Task.sleep(for: limit)
      if let run, state.withLock({ $0.runCount != run }) { return }
      logger.critical("the daemon did not end in time", metadata: ["limit": "\(limit)"])
      exitNow(ExitStatus.software.rawValue)
    }
  }

  private func exitNow(_ code: Int32) -> Never {
    setup.logOutput.flush()
    _exit(code)
  }

  /// Whether the daemon responds: in a process that hangs, this does not return.
  ///
  /// The response's content does not matter: if stores cannot be read now, another process cannot read them either, and
  /// uploads and other work continue.
  private func isHealthy() async -> Bool {
    guard let daemon = state.withLock({ $0.run?.daemon }) else { return true }
    _ = try? await BlockingThread.run { daemon.isReady }
    return true
  }
}
