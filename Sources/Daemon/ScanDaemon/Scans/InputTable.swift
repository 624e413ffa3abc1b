import Essentials
import JSONFormat
import ScanInputs
import Synchronization

/// The state, counters and recently read codes of each input.
///
/// Names come from the configuration and from HTTP clients, which may send any number of them. Names beyond
/// ``maximumCount`` are reported under a single name, `other`.
final class InputTable: Sendable {
  static let maximumCount = 1000
  static let other = "other"
  /// The maximum number of failed scans remembered for an input. The repetition of a scan that could not be recorded is
  /// not a double scan.
  static let maximumFailures = 64

  private struct Input {
    var state = "unknown"
    var words = ""
    var since: Date?
    var scans = 0
    var misses = 0
    var repeats = 0
    var faults: [String: Int] = [:]
    /// The current number of connections and their limit; `nil` for an input that accepts no clients.
    var connections: (count: Int, limit: Int)?
    /// The number of refused connections.
    var refused = 0
    /// When a refused connection was last logged.
    var loggedRefusal: Date?
    var lastScan: Date?
    /// When a fault was last logged.
    var loggedFault: Date?
    /// When the input opened or closed, for changes logged within the last minute.
    var loggedChanges: [Date] = []
    var filter: DoubleScanFilter
    /// The ids of scans that could not be recorded, oldest first.
    var failures: [String] = []
    /// Whether the input is known only from the daemon that this one replaced.
    var isFormer = false

    /// Returns whether an opening or closing at this time is logged.
    mutating func isChangeLogged(at time: Date) -> Bool {
      loggedChanges.removeAll { abs(time.timeIntervalSince($0)) >= 60 }
      guard loggedChanges.count < 4 else { return false }
      loggedChanges.append(time)
      return true
    }

    /// The JSON fields of the connections; empty for an input that accepts no clients.
    var connectionFields: [(String, JSONText)] {
      guard connections != nil || refused > 0 else { return [] }
      return [
        ("connections", .int(connections?.count ?? 0)),
        ("maximumConnections", connections.map { .int($0.limit) } ?? .null),
        ("refusedConnections", .int(refused)),
      ]
    }
  }

  private let inputs = Mutex<[String: Input]>([:])
  private let windows: [String: Duration]
  private let window: Duration

  init(_ options: DaemonOptions, after former: RecentScans) {
    // The HTTP interface answers each request, and a client that sends a code twice means two scans.
    windows = options.doubleScanWindows.merging(["http": .zero]) { named, _ in named }
    window = options.doubleScanWindow
    let (windows, window) = (windows, window)
    inputs.withLock { inputs in
      for (name, scans) in former.inputs {
        inputs[name] = Input(
          filter: scans.filter.with(window: windows[name] ?? window), failures: scans.failures, isFormer: true)
      }
    }
  }

  /// The codes that the inputs have read recently.
  func recentScans(at uptime: Duration) -> RecentScans {
    RecentScans(
      inputs: inputs.withLock { inputs in
        inputs.filter { $0.value.filter.remembers(at: uptime) }
          .mapValues { RecentScans.Input(filter: $0.filter, failures: $0.failures) }
      })
  }

  /// The name under which the table keeps an input.
  private static func storedName(_ name: String, in inputs: [String: Input]) -> String {
    inputs[name] != nil || inputs.count < maximumCount ? name : other
  }

  private func change<Result>(_ name: String, _ body: (inout Input) -> sending Result) -> sending Result {
    inputs.withLock { inputs in
      let name = Self.storedName(name, in: inputs)
      // Inputs that share the name `other` are different inputs, so they share no window.
      let window = name == Self.other ? .zero : windows[name] ?? window
      inputs[name]?.isFormer = false
      return body(&inputs[name, default: Input(filter: DoubleScanFilter(window: window))])
    }
  }

  /// The input's label in metrics.
  func label(_ name: String) -> String { inputs.withLock { Self.storedName(name, in: $0) } }

  // MARK: Scans

  /// Records that a code was read.
  ///
  /// - Returns: The id of the scan that this one repeats; `nil` if it is a new scan, which gets `id`.
  func read(_ reading: Reading, id: String, at uptime: Duration) -> String? {
    change(reading.input) { input in
      guard let first = input.filter.first(reading.code, id: id, at: uptime) else { return nil }
      // Repeating a scan that could not be recorded records it now.
      if let place = input.failures.firstIndex(of: first) {
        input.failures.remove(at: place)
        return nil
      }
      input.repeats += 1
      return first
    }
  }

  /// Records that a scan was answered.
  func answered(_ name: String, id: String, isMiss: Bool, isFailed: Bool, at time: Date) {
    change(name) { input in
      input.scans += 1
      if isMiss { input.misses += 1 }
      input.lastScan = time
      guard isFailed else { return }
      if input.failures.count == Self.maximumFailures { input.failures.removeFirst() }
      input.failures.append(id)
    }
  }

  // MARK: What happens to inputs

  /// The reasons why inputs that should be open are closed, by input name. An input that reached its end, as a file
  /// does, is not included.
  var closed: [String: String] {
    inputs.withLock { $0.filter { $0.value.state == "reopening" }.mapValues(\.words) }
  }

  /// - Returns: Whether to log the event. Faults and refused connections are logged at most once in ten seconds,
  ///   openings and closings up to four times a minute. An input that opens and closes more often is reported as a
  ///   problem.
  func record(_ event: InputEvent, input name: String, at time: Date) -> Bool {
    change(name) { input in
      switch event {
      case .opened(let what):
        (input.state, input.words, input.since) = ("open", what, time)
        return input.isChangeLogged(at: time)
      case .closed(let reason, let reopens):
        (input.state, input.words, input.since) = (reopens ? "reopening" : "closed", reason, time)
        return !reopens || input.isChangeLogged(at: time)
      case .connections(let count, let limit): input.connections = (count, limit)
      case .refused:
        input.refused += 1
        if let last = input.loggedRefusal, abs(time.timeIntervalSince(last)) < 10 { return false }
        input.loggedRefusal = time
      case .fault(let fault):
        input.faults[fault.name, default: 0] += 1
        if let last = input.loggedFault, abs(time.timeIntervalSince(last)) < 10 { return false }
        input.loggedFault = time
      }
      return true
    }
  }

  /// The state of each input as JSON, by name.
  var json: JSONText {
    let all = inputs.withLock { $0.filter { !$0.value.isFormer } }
    return .array(
      all.sorted { $0.key < $1.key }.map { name, input in
        .object(
          [
            ("name", .text(name)), ("state", .text(input.state)), ("message", .text(input.words)),
            ("since", .optional(input.since?.precise)), ("scans", .int(input.scans)), ("misses", .int(input.misses)),
            ("repeats", .int(input.repeats)),
            ("faults", .object(input.faults.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) })),
            ("lastScan", .optional(input.lastScan?.precise)),
          ] + input.connectionFields)
      })
  }
}
