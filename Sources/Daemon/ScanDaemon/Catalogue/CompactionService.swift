import Catalog
import LogStore
import Logging
import Platform
import ServiceLifecycle
import Synchronization
import Workspace

/// A service that compacts the signed-in user's stores when they have enough garbage and the daemon is nearly idle.
final class CompactionService: Service {
  /// The delay of the first retry after a failure. It doubles with each failure, up to ``longestRetry``.
  static let firstRetry: Duration = .seconds(5)
  static let longestRetry: Duration = .seconds(300)

  private let options: CompactionOptions
  private let rate: ScanRate
  private let turn: AsyncLock
  private let context: DaemonContext
  private let wakes = WakeSignal()
  private let thread = BlockingThread("daemon.compaction")

  /// - Parameters:
  ///   - rate: The rate of scans, which decides whether the daemon is idle.
  ///   - turn: The lock that is held while the catalogue is written.
  init(_ context: DaemonContext, options: CompactionOptions, rate: ScanRate, turn: AsyncLock) {
    self.context = context
    self.options = options
    self.rate = rate
    self.turn = turn
  }

  func run() async throws {
    await wakes.untilShutdown {
      var failures = 0
      while !wakes.isFinished, !Task.isCancelled {
        await wakes.wait(pause(after: failures), context.time.sleep)
        if wakes.isFinished || Task.isCancelled { return }
        switch await compactIfQuiet() {
        case true?: failures = 0
        case false?: failures += 1
        case nil: break
        }
      }
    }
  }

  /// The time until the next check. It is shorter after a failure, so that the problem ends soon after its cause.
  ///
  /// - Parameter failures: The number of failures since the last check that found nothing wrong.
  private func pause(after failures: Int) -> Duration? {
    guard failures > 0, let interval = options.interval else { return options.interval }
    return min(Self.firstRetry * (1 << min(failures - 1, 10)), Self.longestRetry, interval)
  }

  /// Runs one check.
  ///
  /// - Returns: Whether everything succeeded; `nil` if nothing was attempted.
  @discardableResult
  func compactIfQuiet() async -> Bool? {
    guard rate.perSecond(at: context.uptime()) <= options.maximumScansPerSecond else { return nil }
    do {
      try await turn.take { try await thread.run { [self] in try compactCatalogue() } }
      try await thread.run { [self] in try compactDocuments() }
      context.problems.clear(.compactionFailing)
      return true
    } catch StoreError.locked, StoreError.closed, WorkspaceError.closed {
      // Another process holds the lock, or another user is signed in; try again next time.
      return nil
    } catch {
      context.report(.compactionFailing, error, of: context.user)
      return false
    }
  }

  private func compactCatalogue() throws {
    let stores = try context.access.stores()
    guard let store = try stores.catalogue().store, try CompactionPolicy.standard.isDue(in: store) else { return }
    let writer = try stores.catalogueWriter(lockTimeout: .zero)
    defer { writer.close() }
    if try writer.compactIfDue() {
      context.logger.info("compacted", metadata: ["store": "catalogue", "user": "\(stores.user ?? "")"])
    }
  }

  private func compactDocuments() throws {
    let stores = try context.access.stores()
    guard let documents = try context.userDocuments.documents(of: stores, creates: false),
      let store = try StoreReader.open(documents.location)?.snapshot, try CompactionPolicy.standard.isDue(in: store)
    else { return }
    try documents.store.compact()
    context.logger.info("compacted", metadata: ["store": "documents", "user": "\(stores.user ?? "")"])
  }
}

/// The recent rate of answered scans per second: a decaying mean with a half-life of about seven seconds.
final class ScanRate: Sendable {
  private static let memory = 10.0

  private let state = Mutex<(value: Double, at: Double)>((0, 0))

  func count(at uptime: Duration) {
    state.withLock { state in
      Self.decay(&state, to: uptime)
      state.value += 1 / Self.memory
    }
  }

  func perSecond(at uptime: Duration) -> Double {
    state.withLock { state in
      Self.decay(&state, to: uptime)
      return state.value
    }
  }

  private static func decay(_ state: inout (value: Double, at: Double), to uptime: Duration) {
    let now = uptime.seconds
    // Approximates exponential decay to the second order: no transcendental function, and never below zero.
    let passed = max(0, now - state.at)
    state.value *= passed > 20 * memory ? 0 : 1 / (1 + passed / memory + passed * passed / (2 * memory * memory))
    state.at = max(state.at, now)
  }
}
