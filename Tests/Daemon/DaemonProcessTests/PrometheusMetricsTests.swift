import CoreMetrics
import Testing

@testable import DaemonProcess

@Suite struct PrometheusMetricsTests {
  private static func text(_ registry: PrometheusRegistry) -> String {
    String(decoding: registry.text(), as: UTF8.self)
  }

  @Test func `the text is what Prometheus reads, in one order`() {
    let registry = PrometheusRegistry()
    registry.describe("scans_total", "Scans that were answered,\nby \\ what was found.")
    let timer = Timer(label: "answer", factory: registry)
    for nanoseconds: Int64 in [-5, 10_000, 10_001, 2_000_000, 400_000_000_000] { timer.recordNanoseconds(nanoseconds) }
    Counter(label: "scans_total", dimensions: [("input", "till"), ("found", "yes")], factory: registry).increment(by: 7)
    Counter(label: "scans_total", dimensions: [("found", "no"), ("input", "a \"b\"\\\nc")], factory: registry)
      .increment()
    FloatingPointCounter(label: "bytes", factory: registry).increment(by: 1.5)
    Gauge(label: "age.seconds", factory: registry).record(2.25)
    let meter = Meter(label: "open", factory: registry)
    meter.increment(by: 3)
    meter.decrement(by: 1)
    let recorder = Recorder(label: "rows", factory: registry)
    recorder.record(10)
    recorder.record(0.5)
    #expect(
      Self.text(registry) == """
        # HELP age_seconds age.seconds
        # TYPE age_seconds gauge
        age_seconds 2.25
        # HELP answer_seconds answer
        # TYPE answer_seconds histogram
        answer_seconds_bucket{le="1e-05"} 2
        answer_seconds_bucket{le="0.0001"} 3
        answer_seconds_bucket{le="0.0005"} 3
        answer_seconds_bucket{le="0.001"} 3
        answer_seconds_bucket{le="0.0025"} 4
        answer_seconds_bucket{le="0.005"} 4
        answer_seconds_bucket{le="0.01"} 4
        answer_seconds_bucket{le="0.025"} 4
        answer_seconds_bucket{le="0.05"} 4
        answer_seconds_bucket{le="0.1"} 4
        answer_seconds_bucket{le="0.25"} 4
        answer_seconds_bucket{le="0.5"} 4
        answer_seconds_bucket{le="1"} 4
        answer_seconds_bucket{le="2.5"} 4
        answer_seconds_bucket{le="5"} 4
        answer_seconds_bucket{le="10"} 4
        answer_seconds_bucket{le="30"} 4
        answer_seconds_bucket{le="60"} 4
        answer_seconds_bucket{le="300"} 4
        answer_seconds_bucket{le="+Inf"} 5
        answer_seconds_sum 400.002020001
        answer_seconds_count 5
        # HELP bytes bytes
        # TYPE bytes counter
        bytes 1.5
        # HELP open open
        # TYPE open gauge
        open 2
        # HELP rows rows
        # TYPE rows summary
        rows_sum 10.5
        rows_count 2
        # HELP scans_total Scans that were answered,\\nby \\\\ what was found.
        # TYPE scans_total counter
        scans_total{found="no",input="a \\"b\\"\\\\\\nc"} 1
        scans_total{found="yes",input="till"} 7
        # HELP shelfmark_series_refused_total Series that were asked for and not made: too many, or the name is another metric's.
        # TYPE shelfmark_series_refused_total counter
        shelfmark_series_refused_total 0
        # HELP prometheus_series_refused_total Deprecated: the former name of shelfmark_series_refused_total, which the next version no longer has.
        # TYPE prometheus_series_refused_total counter
        prometheus_series_refused_total 0

        """)
  }

  @Test(arguments: [
    ("a.b-c d", "a_b_c_d"), ("9lives", "_9lives"), ("é", "_"), ("", "_"), ("x:y", "x:y"),
    ("a\nb{c=\"d\"} 1", "a_b_c__d___1"),
  ])
  func `names keep what Prometheus takes`(_ label: String, _ name: String) {
    #expect(MetricText.name(label, kind: .counter) == name)
  }

  @Test func `names of labels that Prometheus has for itself get a letter, and no name stands twice`() {
    #expect(
      MetricText.labels([("le", "1"), ("__name__", "2"), ("a.b", "3"), ("a-b", "4"), ("a:b", "5"), ("1", "6")])
        == #"_1="6",a_b="3",x__name__="2",xle="1""#)
  }

  @Test func `a label's value is cut at its bound`() {
    #expect(
      MetricText.labels([("a", String(repeating: "x", count: 256))]) == "a=\"\(String(repeating: "x", count: 256))\"")
    #expect(
      MetricText.labels([("a", String(repeating: "x", count: 257))]) == "a=\"\(String(repeating: "x", count: 256))\"")
    #expect(MetricText.labels([("a", String(repeating: "x", count: 255) + "é")]).hasSuffix("x\u{FFFD}\""))
  }

  @Test func `a metric that is made twice is one series`() {
    let registry = PrometheusRegistry()
    Counter(label: "n", factory: registry).increment()
    Counter(label: "n", factory: registry).increment(by: 2)
    #expect(Self.text(registry).contains("\nn 3\n"))
  }

  @Test func `the number of series is bounded, and what is refused is counted`() {
    let registry = PrometheusRegistry(maximumSeriesCount: 3)
    for i in 0..<5 { Counter(label: "n", dimensions: [("i", "\(i)")], factory: registry).increment() }
    Counter(label: "n", dimensions: [("i", "0")], factory: registry).increment()
    let text = Self.text(registry)
    #expect(text.contains("n{i=\"0\"} 2\nn{i=\"1\"} 1\nn{i=\"2\"} 1\n# HELP"))
    #expect(text.hasSuffix("prometheus_series_refused_total 2\n"))
  }

  @Test func `a name belongs to one kind of metric, with the names that a histogram has besides`() {
    let registry = PrometheusRegistry()
    Timer(label: "a", factory: registry).recordNanoseconds(1)
    for label in [
      "a_seconds", "a_seconds_count", "a_seconds_sum", "a_seconds_bucket", "prometheus_series_refused_total",
      "shelfmark_series_refused_total",
    ] {
      Counter(label: label, factory: registry).increment()
    }
    Gauge(label: "b_sum", factory: registry).record(1)
    Recorder(label: "b", factory: registry).record(1)
    let text = Self.text(registry)
    #expect(text.hasSuffix("prometheus_series_refused_total 7\n"))
    #expect(text.split(separator: "\n").count { $0.hasPrefix("# TYPE") } == 4)
  }

  @Test func `a metric that ends makes room for another one under its name`() {
    let registry = PrometheusRegistry(maximumSeriesCount: 1)
    let timer = Timer(label: "a_seconds", factory: registry)
    timer.destroy()
    timer.destroy()
    timer.recordNanoseconds(1)
    let gauge = Gauge(label: "a_seconds_count", factory: registry)
    gauge.record(4)
    #expect(Self.text(registry).contains("a_seconds_count 4\n"))
    #expect(Self.text(registry).hasSuffix("prometheus_series_refused_total 0\n"))
  }

  @Test func `metrics of libraries have the prefix, and for one more version their former names`() {
    let registry = PrometheusRegistry()
    registry.describe("uploads_events_total", "What happened.")
    let counter = Counter(label: "uploads_events_total", dimensions: [("event", "parked")], factory: registry)
    counter.increment(by: 3)
    Timer(label: "documents_operation", factory: registry).recordNanoseconds(1_000_000_000)
    Gauge(label: "shelfmark_uploads_waiting", factory: registry).record(2)
    // Neither name is free for another kind of metric.
    for label in ["uploads_events_total", "shelfmark_uploads_events_total", "documents_operation_seconds_sum"] {
      Gauge(label: label, factory: registry).record(9)
    }
    let text = Self.text(registry)
    #expect(
      text.contains(
        """
        # HELP shelfmark_uploads_events_total What happened.
        # TYPE shelfmark_uploads_events_total counter
        shelfmark_uploads_events_total{event="parked"} 3
        # HELP uploads_events_total Deprecated: the former name of shelfmark_uploads_events_total, which the next version no longer has.
        # TYPE uploads_events_total counter
        uploads_events_total{event="parked"} 3

        """), "\(text)")
    for name in ["documents_operation_seconds", "shelfmark_documents_operation_seconds"] {
      #expect(text.contains("\n# TYPE \(name) histogram\n\(name)_bucket{le=\"1e-05\"} 0\n"), "\(text)")
      #expect(text.contains("\n\(name)_sum 1\n\(name)_count 1\n"), "\(text)")
    }
    #expect(text.contains("\nshelfmark_uploads_waiting 2\n") && !text.contains("\nuploads_waiting"))
    #expect(text.hasSuffix("prometheus_series_refused_total 3\n"))
    counter.destroy()
    #expect(!Self.text(registry).contains("uploads_events_total"))
    Gauge(label: "uploads_events_total", factory: registry).record(1)
    #expect(Self.text(registry).contains("# TYPE uploads_events_total gauge\nuploads_events_total 1\n"))
  }

  @Test func `values that are none leave no trace`() {
    let registry = PrometheusRegistry()
    let counter = FloatingPointCounter(label: "c", factory: registry)
    for amount in [1, -1, .nan, .infinity, 0] as [Double] { counter.increment(by: amount) }
    registry.makeCounter(label: "i", dimensions: []).increment(by: -4)
    let recorder = Recorder(label: "r", factory: registry)
    recorder.record(Double.nan)
    recorder.record(-2)
    let gauge = Gauge(label: "g", factory: registry)
    gauge.record(-Double.infinity)
    let text = Self.text(registry)
    #expect(text.contains("\nc 1\n") && text.contains("\ni 0\n") && text.contains("r_sum -2\nr_count 1\n"))
    #expect(text.contains("\ng -Inf\n"))
  }

  @Test func `a counter goes on behind its largest value`() {
    let registry = PrometheusRegistry()
    let counter = Counter(label: "n", factory: registry)
    counter.increment(by: Int64.max)
    counter.increment(by: Int64.max)
    counter.increment(by: 3)
    #expect(Self.text(registry).contains("\nn 1\n"))
  }

  @Test func `threads lose nothing`() async {
    let registry = PrometheusRegistry()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            Counter(label: "n", factory: registry).increment()
            Meter(label: "m", factory: registry).increment(by: 0.5)
            Timer(label: "t", factory: registry).recordNanoseconds(1_000_000_000)
          }
          _ = registry.text()
        }
      }
    }
    let text = Self.text(registry)
    #expect(text.contains("\nn 8000\n") && text.contains("\nm 4000\n"))
    #expect(text.contains("t_seconds_sum 8000\nt_seconds_count 8000\n"))
  }

  @Test func `the system's lines about a process are read`() {
    let status = "Name:\tcatalogd\nVmRSS:\t   5120 kB\nRssAnon:\t 12 kB\nThreads:\t7\nVmRSSx: 1\n"
    #expect(ProcessMetrics.number("VmRSS", in: status) == 5120)
    #expect(ProcessMetrics.number("Threads", in: status) == 7)
    #expect(ProcessMetrics.number("Rss", in: status) == nil)
    #expect(ProcessMetrics.number("VmRSS", in: "VmRSS:") == nil)
  }

  #if os(Linux)
  @Test func `what the process takes is measured when somebody asks`() throws {
    let registry = PrometheusRegistry()
    ProcessMetrics.add(to: registry)
    let lines = Self.text(registry).split(separator: "\n")
    #expect(lines.contains("# TYPE process_cpu_seconds_total counter"))
    for name in [
      "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds", "process_max_fds",
      "process_threads", "process_start_time_seconds", "process_cpu_seconds_total",
    ] {
      let line = try #require(lines.first { $0.hasPrefix(name + " ") })
      let value = try #require(Double(line.dropFirst(name.count + 1)))
      #expect(value > 0)
    }
  }

  @Test func `processor time is counted once, whoever asks`() throws {
    let registry = PrometheusRegistry()
    ProcessMetrics.add(to: registry)
    func seconds() throws -> Double {
      let lines = Self.text(registry).split(separator: "\n")
      let line = try #require(lines.first { $0.hasPrefix("process_cpu_seconds_total ") })
      return try #require(line.split(separator: " ").last.flatMap { Double($0) })
    }
    let before = ProcessMetrics.processorSeconds
    let first = try seconds()
    let second = try seconds()
    #expect(before <= first && first <= second && second <= ProcessMetrics.processorSeconds)
  }
  #endif
}
