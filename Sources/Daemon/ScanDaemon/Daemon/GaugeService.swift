import ServiceLifecycle

/// A service that periodically sets the gauges and checks the causes of problems, and writes pending data at the end.
/// It starts first and ends last.
final class GaugeService: Service {
  /// The interval between checks.
  static let interval: Duration = .seconds(5)

  private let access: CatalogueAccess
  private let causes: CauseWatch
  private let recorder: ScanRecorder
  private let sessions: SetSessions
  private let events: EventLog
  private let metrics: DaemonMetrics
  private let environment: DaemonEnvironment
  private let wakes = WakeSignal()

  init(
    _ access: CatalogueAccess, _ causes: CauseWatch, _ recorder: ScanRecorder, _ sessions: SetSessions,
    _ events: EventLog,
    _ metrics: DaemonMetrics, _ environment: DaemonEnvironment
  ) {
    self.access = access
    self.causes = causes
    self.recorder = recorder
    self.sessions = sessions
    self.events = events
    self.metrics = metrics
    self.environment = environment
  }

  /// Sets the gauges now. They would be up to ``interval`` late after a new commit.
  func wake() { wakes.wake() }

  func run() async throws {
    await wakes.untilShutdown {
      while !wakes.isFinished, !Task.isCancelled {
        causes.look()
        await recorder.probe()
        look()
        await wakes.wait(Self.interval, environment.time.sleep)
      }
    }
    metrics.forgetInputs()
    await recorder.flush()
    await sessions.flush()
    events.finish()
  }

  /// A value that cannot be read keeps its last gauge.
  private func look() {
    guard let stores = try? access.stores() else { return }
    if let catalogue = try? access.catalogue(of: stores) {
      metrics.products.record(catalogue.productCount)
      let current = access.age(catalogue, of: stores).currentAt?.timeIntervalSince1970
      // Without a catalogue there is no age. Zero would look like a new catalogue.
      metrics.catalogueAge.record(current.map { Double(environment.time.now()) / 1e6 - $0 } ?? .nan)
    }
    if let documents = (try? recorder.table.documents(of: stores, creates: false)) ?? nil,
      let counts = try? documents.queue.counts()
    {
      metrics.waiting.record(counts.waiting + counts.sending)
      metrics.parked.record(counts.parked)
    }
  }
}
