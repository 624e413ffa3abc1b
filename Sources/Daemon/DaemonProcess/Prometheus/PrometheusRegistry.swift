package import CoreMetrics
import Synchronization

/// A metrics factory whose metrics can be read in the Prometheus text format (version 0.0.4).
///
/// | swift-metrics | here |
/// |---|---|
/// | `Counter`, `FloatingPointCounter` | a counter |
/// | `Gauge`, `Meter` | a gauge |
/// | `Recorder` | a summary without quantiles: the number of values, and their sum |
/// | `Timer` | a histogram of seconds, with ``timerBuckets`` |
///
/// Characters that Prometheus does not accept in names are replaced by `_`. The label names `le` and `quantile`, and
/// those that begin with two underscores, are reserved by Prometheus and get a letter as a prefix. A timer whose name
/// does not end in `_seconds` gets that suffix, because its values are reported in seconds.
///
/// The number of series is bounded. A series above the limit, or whose name is used by another kind of metric, counts
/// nothing; `shelfmark_series_refused_total` counts these. Changing a value costs an atomic operation, or a short lock
/// for timers and recorders; creating a metric costs a table lookup under a lock.
package final class PrometheusRegistry: MetricsFactory {
  /// The upper bounds of a timer's buckets in seconds: from a response out of the cache to a full update over a slow
  /// line.
  package static let timerBuckets = [
    0.000_01, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
  ]

  /// The prefix of the names of all metrics, apart from those of the process, whose names all programs share.
  package static let prefix = "shelfmark_"
  /// The prefixes of metrics of libraries, whose names get ``prefix`` as well. Version 0.1 shows them under both names;
  /// the former ones go away with the next version.
  private static let formerPrefixes = ["uploads_", "documents_"]

  /// The maximum number of series. Each combination of a metric and label values is a series.
  package let maximumSeriesCount: Int

  /// Guards the table of series, their descriptions, and the closures to call before a scrape. Never held while
  /// external code runs.
  private let table: Mutex<SeriesTable>

  /// Creates a registry without metrics.
  package init(maximumSeriesCount: Int = 10_000) {
    self.maximumSeriesCount = maximumSeriesCount
    table = Mutex(SeriesTable(limit: maximumSeriesCount))
  }

  /// Sets a metric's description, in one sentence, which `# HELP` shows. A metric without a description shows its
  /// label.
  package func describe(_ label: String, _ sentence: String) {
    table.withLock { $0.descriptions[label] = sentence }
  }

  /// Registers a closure that is called before each ``text()``, on any thread, to measure values at scrape time.
  package func beforeText(_ body: @escaping @Sendable () -> Void) {
    table.withLock { $0.collectors.append(body) }
  }

  /// The current values of all metrics, sorted by name and then by labels.
  package func text() -> [UInt8] {
    for collector in table.withLock({ $0.collectors }) { collector() }
    let (families, refused) = table.withLock { ($0.inOrder, $0.refusedCount) }
    var text = PrometheusText()
    for family in families { text.append(family) }
    text.appendRefused(refused)
    return text.bytes
  }

  // MARK: Creation

  /// Returns the counter of this label and these dimensions. It counts nothing if the series is refused.
  package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    make(.counter, label, dimensions, CounterSeries.init) ?? NOOPMetricsHandler.instance
  }

  /// Returns the counter of floating-point numbers of this label and these dimensions. It counts nothing if the series
  /// is refused.
  package func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    make(.counter, label, dimensions, RealCounterSeries.init) ?? NOOPMetricsHandler.instance
  }

  /// Returns the gauge of this label and these dimensions, which keeps the last value. It keeps nothing if the series
  /// is refused.
  package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    make(.gauge, label, dimensions, GaugeSeries.init) ?? NOOPMetricsHandler.instance
  }

  /// Returns a summary of count and sum if `aggregate` is `true`, and a gauge of the last value otherwise. It records
  /// nothing if the series is refused.
  package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    if aggregate {
      make(.summary, label, dimensions, SummarySeries.init) ?? NOOPMetricsHandler.instance
    } else {
      make(.gauge, label, dimensions, GaugeSeries.init) ?? NOOPMetricsHandler.instance
    }
  }

  /// Returns the histogram of this label and these dimensions, with the buckets ``timerBuckets``. It records nothing if
  /// the series is refused.
  package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    make(.histogram, label, dimensions, HistogramSeries.init) ?? NOOPMetricsHandler.instance
  }

  private func make<Made: Series>(
    _ kind: MetricKind, _ label: String, _ dimensions: [(String, String)], _ make: (SeriesID) -> Made
  ) -> Made? {
    var name = MetricText.name(label, kind: kind)
    var former: String?
    if Self.formerPrefixes.contains(where: name.hasPrefix) { (name, former) = (Self.prefix + name, name) }
    let id = SeriesID(name: name, labels: MetricText.labels(dimensions))
    return table.withLock { $0.series(id, kind: kind, label: label, former: former, make) }
  }

  // MARK: Destruction

  /// Removes the counter's series from the text.
  package func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
  /// Removes the floating-point counter's series from the text.
  package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
  /// Removes the meter's series from the text.
  package func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
  /// Removes the recorder's series from the text.
  package func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
  /// Removes the timer's series from the text.
  package func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }

  private func destroy(_ handler: AnyObject) {
    guard let series = handler as? any Series else { return }
    table.withLock { $0.remove(series) }
  }
}
