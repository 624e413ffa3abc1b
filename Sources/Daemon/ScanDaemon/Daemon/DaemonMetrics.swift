internal import CoreMetrics
import StoreMetrics
import Documents
import Synchronization
import UploadQueue

/// The metrics of a daemon, for swift-metrics.
///
/// | name | kind | meaning |
/// |---|---|---|
/// | `shelfmark_scans_total` | counter | answered scans, by `input` and `match` |
/// | `shelfmark_repeats_total` | counter | double scans, by `input` |
/// | `shelfmark_input_faults_total` | counter | refused or undecodable lines, lost answers, by `input` and `fault` |
/// | `shelfmark_connections_refused_total` | counter | by `input` and `reason`: `limit`, `notAllowed` |
/// | `shelfmark_input_up` | gauge | 1 while an input is open, by `input` |
/// | `shelfmark_input_connections` | gauge | connections of a listening input, by `input` |
/// | `shelfmark_problem` | gauge | current problems, by `code` |
/// | `shelfmark_rematches_total` | counter | scans that were looked up again, by `match` |
/// | `shelfmark_first_answers_total` | counter | scans that a publication was asked for while there was no catalogue, by `outcome` |
/// | `shelfmark_answer_seconds` | timer | from a reading to its answer, including recording |
/// | `shelfmark_record_seconds` | timer | the recording of a scan, from its request to its durable commit |
/// | `shelfmark_unrecorded_total` | counter | scans that could not be recorded although they should have been |
/// | `shelfmark_misses_lost_total` | counter | misses that arrived too fast to be entered |
/// | `shelfmark_queue_waiting`, `shelfmark_queue_parked` | gauge | uploads of the signed-in user |
/// | `shelfmark_uploads_parked`, `shelfmark_keys_held` | gauge | of all users, by `webhook`: uploads, held keys |
/// | `shelfmark_uploads_waiting` | gauge | uploads that wait or are being sent, of all users, by `webhook` |
/// | `shelfmark_uploads_oldest_seconds` | gauge | how long the oldest of them waits, by `webhook`; 0 without one |
/// | `shelfmark_forgotten_total` | counter | what was removed because of its age, by `kind` |
/// | `shelfmark_uploads_total` | counter | attempts, by `webhook` and `outcome` |
/// | `shelfmark_syncs_total` | counter | synchronisations, by `outcome` |
/// | `shelfmark_sync_seconds` | timer | one synchronisation |
/// | `shelfmark_network_returns_total` | counter | how often the network came back |
/// | `shelfmark_catalogue_age_seconds` | gauge | since the catalogue was last known to be current |
/// | `shelfmark_catalogue_products` | gauge | products in the catalogue |
/// | `shelfmark_catalogue_codes` | gauge | codes in the catalogue's table of codes |
///
/// The metrics of `DocumentMetrics` are included, summed over the documents of all users: lookups and queries in the
/// queue, the journal and the sessions. Commits are not among them; `shelfmark_record_seconds` measures those. The
/// event counters of `UploadMetrics` are included too, summed over the queues of all users.
final class DaemonMetrics: Sendable {
  private struct Key: Hashable {
    let name: String
    let values: [String]
  }

  private let factory: any MetricsFactory
  /// Counters with dimensions, created when they first count. Their number is bounded, as inputs and the values of the
  /// other dimensions are.
  private let counters = Mutex<[Key: Counter]>([:])

  private let inputs = Mutex<[Key: Gauge]>([:])

  let answer: Timer
  let recording: Timer
  let unrecorded: Counter
  let missesLost: Counter
  let waiting: Gauge
  let parked: Gauge
  let sync: Timer
  let networkReturns: Counter
  let catalogueAge: Gauge
  let products: Gauge
  let codes: Gauge
  /// The observer of operations on users' documents.
  let documents: Tracer
  /// The observer of events in users' queues.
  let uploads: @Sendable (QueueEvent) -> Void

  init(_ factory: any MetricsFactory) {
    self.factory = factory
    answer = Timer(label: "shelfmark_answer_seconds", factory: factory)
    recording = Timer(label: "shelfmark_record_seconds", factory: factory)
    unrecorded = Counter(label: "shelfmark_unrecorded_total", factory: factory)
    missesLost = Counter(label: "shelfmark_misses_lost_total", factory: factory)
    waiting = Gauge(label: "shelfmark_queue_waiting", factory: factory)
    parked = Gauge(label: "shelfmark_queue_parked", factory: factory)
    sync = Timer(label: "shelfmark_sync_seconds", factory: factory)
    networkReturns = Counter(label: "shelfmark_network_returns_total", factory: factory)
    catalogueAge = Gauge(label: "shelfmark_catalogue_age_seconds", factory: factory)
    products = Gauge(label: "shelfmark_catalogue_products", factory: factory)
    codes = Gauge(label: "shelfmark_catalogue_codes", factory: factory)
    documents = DocumentMetrics.tracer(factory: factory)
    uploads = UploadMetrics.tracer(factory: factory)
  }

  /// Sets the gauges of uploads and keys that wait for a person's decision at a webhook.
  func parked(_ webhook: String, uploads: Int, keys: Int) {
    // Rare enough to be created each time; the factory returns the same gauges.
    for (label, value) in [("shelfmark_uploads_parked", uploads), ("shelfmark_keys_held", keys)] {
      Gauge(label: label, dimensions: [("webhook", webhook)], factory: factory).record(value)
    }
  }

  /// Sets the gauges of uploads that wait for a webhook, or are being sent to it.
  func waiting(_ webhook: String, uploads: Int, oldestSeconds: Double) {
    Gauge(label: "shelfmark_uploads_waiting", dimensions: [("webhook", webhook)], factory: factory).record(uploads)
    Gauge(label: "shelfmark_uploads_oldest_seconds", dimensions: [("webhook", webhook)], factory: factory)
      .record(oldestSeconds)
  }

  /// Removes the gauges of inputs. The daemon that takes over creates new ones for those that remain.
  func forgetInputs() {
    let gauges = inputs.withLock { inputs in
      defer { inputs = [:] }
      return inputs.values
    }
    for gauge in gauges { gauge.destroy() }
  }

  /// Sets whether an input is open.
  func setInput(_ name: String, isUp: Bool) { setInput("shelfmark_input_up", name, isUp ? 1 : 0) }

  /// Sets how many connections an input has.
  func setConnections(_ name: String, _ count: Int) { setInput("shelfmark_input_connections", name, count) }

  /// Sets a gauge of an input. There are at most ``InputTable/maximumCount`` inputs.
  private func setInput(_ label: String, _ name: String, _ value: Int) {
    let key = Key(name: label, values: [name])
    let gauge = inputs.withLock { inputs in
      if let gauge = inputs[key] { return gauge }
      let gauge = Gauge(label: label, dimensions: [("input", name)], factory: factory)
      inputs[key] = gauge
      return gauge
    }
    gauge.record(value)
  }

  func count(_ name: String, _ dimensions: [(String, String)], by amount: Int = 1) {
    let key = Key(name: name, values: dimensions.map(\.1))
    let counter = counters.withLock { counters in
      if let counter = counters[key] { return counter }
      let counter = Counter(label: name, dimensions: dimensions, factory: factory)
      counters[key] = counter
      return counter
    }
    counter.increment(by: amount)
  }
}
