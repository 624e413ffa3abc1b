import JSONFormat
import ScanInputs
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What is known of each input: its state, what it read, and which codes it read a moment ago.
///
/// Names come from the configuration and from callers over HTTP, who may invent any number: those beyond ``maximumCount``
/// are told as one, `other`.
final class InputTable: Sendable {
  static let maximumCount = 1000
  static let other = "other"
  /// Scans of an input that could not be recorded, and whose repetition therefore is none.
  static let maximumFailures = 64

  private struct Input {
    var state = "unknown"
    var words = ""
    var since: Date?
    var scans = 0
    var misses = 0
    var repeats = 0
    var faults: [String: Int] = [:]
    /// Where clients connect: how many are, and how many may be.
    var connections: (count: Int, limit: Int)?
    /// Connections that were refused.
    var refused = 0
    /// When such a refusal was last written to the log.
    var loggedRefusal: Date?
    var lastScan: Date?
    /// When a fault was last written to the log.
    var loggedFault: Date?
    /// When it opened or closed, as far as that was written to the log in the last minute.
    var loggedChanges: [Date] = []
    var filter: DoubleScanFilter
    /// The ids of scans that could not be recorded, the eldest first.
    var failures: [String] = []
    /// Whether it is only known from a daemon before this one.
    var isFormer = false

    /// Whether an opening or closing is written to the log.
    mutating func isChangeLogged(at time: Date) -> Bool {
      loggedChanges.removeAll { abs(time.timeIntervalSince($0)) >= 60 }
      guard loggedChanges.count < 4 else { return false }
      loggedChanges.append(time)
      return true
    }

    /// What programs are told of its connections; nothing where clients do not connect.
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
    // The HTTP interface answers each request, and who sends a code twice means it.
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

  /// What the inputs read a moment ago.
  func recentScans(at uptime: Duration) -> RecentScans {
    RecentScans(
      inputs: inputs.withLock { inputs in
        inputs.filter { $0.value.filter.remembers(at: uptime) }
          .mapValues { RecentScans.Input(filter: $0.filter, failures: $0.failures) }
      })
  }

  /// The name under which an input is known here.
  private static func known(_ name: String, in inputs: [String: Input]) -> String {
    inputs[name] != nil || inputs.count < maximumCount ? name : other
  }

  private func change<Result>(_ name: String, _ body: (inout Input) -> sending Result) -> sending Result {
    inputs.withLock { inputs in
      let name = Self.known(name, in: inputs)
      // Inputs that share a name share no window: they are different ones.
      let window = name == Self.other ? .zero : windows[name] ?? window
      inputs[name]?.isFormer = false
      return body(&inputs[name, default: Input(filter: DoubleScanFilter(window: window))])
    }
  }

  /// The name for metrics.
  func label(_ name: String) -> String { inputs.withLock { Self.known(name, in: $0) } }

  // MARK: Scans

  /// A code was read.
  ///
  /// - Returns: the id of the scan that it repeats; `nil` for a scan of its own, which gets `id`.
  func read(_ reading: Reading, id: String, at uptime: Duration) -> String? {
    change(reading.input) { input in
      guard let first = input.filter.first(reading.code, id: id, at: uptime) else { return nil }
      // Who scans again what could not be recorded gets it recorded now.
      if let place = input.failures.firstIndex(of: first) {
        input.failures.remove(at: place)
        return nil
      }
      input.repeats += 1
      return first
    }
  }

  /// A scan was answered.
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

  /// Why inputs that should be open are not, by their names. One that has come to its end, as a file does, is none of them.
  var closed: [String: String] {
    inputs.withLock { $0.filter { $0.value.state == "reopening" }.mapValues(\.words) }
  }

  /// - Returns: Whether it is worth a line in the log: of faults, and of refused connections, one in ten seconds is,
  ///   and each opening and closing up to four
  ///   a minute. An input that opens and closes more often is a problem, and told as such.
  func note(_ event: InputEvent, input name: String, at time: Date) -> Bool {
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

  /// What programs are told, by name.
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
