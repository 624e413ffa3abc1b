import Essentials
import ServiceLifecycle
import UploadQueue

/// A service that periodically sets the gauges and checks the causes of problems, and writes pending data at the end.
/// It starts first and ends last.
final class GaugeService: Service {
  /// The interval between checks.
  static let interval: Duration = .seconds(5)

  private let causes: CauseWatch
  private let recorder: ScanRecorder
  private let sessions: SetSessions
  private let context: DaemonContext
  private let wakes = WakeSignal()

  init(_ context: DaemonContext, causes: CauseWatch, recorder: ScanRecorder, sessions: SetSessions) {
    self.context = context
    self.causes = causes
    self.recorder = recorder
    self.sessions = sessions
  }

  /// Sets the gauges now. They would be up to ``interval`` late after a new commit.
  func wake() { wakes.wake() }

  func run() async throws {
    await wakes.untilShutdown {
      while !wakes.isFinished, !Task.isCancelled {
        causes.check()
        await recorder.probe()
        setGauges()
        await wakes.wait(Self.interval, context.time.sleep)
      }
    }
    context.metrics.forgetInputs()
    await recorder.flush()
    await sessions.flush()
    context.events.finish()
  }

  /// A value that cannot be read keeps its last gauge.
  private func setGauges() {
    guard let stores = try? context.access.stores() else { return }
    if let catalogue = try? context.access.catalogue(of: stores) {
      context.metrics.products.record(catalogue.productCount)
      context.metrics.codes.record(catalogue.codeCount)
      let age = context.access.age(catalogue, of: stores).ageSeconds(at: Date(microseconds: context.time.now()))
      // Without a catalogue there is no age. Zero would look like a new catalogue.
      context.metrics.catalogueAge.record(age ?? .nan)
    }
    if let documents = (try? context.userDocuments.documents(of: stores, creates: false)) ?? nil,
      let counts = try? documents.queue.counts()
    {
      context.metrics.waiting.record(counts.waiting + counts.sending)
      context.metrics.parked.record(counts.parked)
    }
  }
}
