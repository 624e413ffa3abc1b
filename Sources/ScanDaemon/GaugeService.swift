import ServiceLifecycle

/// Sets the gauges and looks at the causes of problems now and then, and at the end writes what waits: it is the first service to start and the last to end.
final class GaugeService: Service {
  /// How often.
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

  /// What cannot be read keeps its value.
  private func look() {
    guard let stores = try? access.stores() else { return }
    if let catalogue = try? access.catalogue(of: stores) {
      metrics.products.record(catalogue.productCount)
      let current = access.age(catalogue, of: stores).currentAt?.timeIntervalSince1970
      // Without a catalogue there is no age: zero would look as if it were new.
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
