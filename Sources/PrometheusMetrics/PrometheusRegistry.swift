public import CoreMetrics

/// Metrics, in the text form that Prometheus scrapes (version 0.0.4).
public final class PrometheusRegistry: MetricsFactory {
  public init() {}

  /// All metrics now.
  public func text() -> [UInt8] { fatalError("being built") }

  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { fatalError() }
  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    fatalError()
  }
  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { fatalError() }
  public func destroyCounter(_ handler: any CounterHandler) {}
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  public func destroyTimer(_ handler: any TimerHandler) {}
}
