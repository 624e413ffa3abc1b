internal import CoreMetrics
import JSONFormat
import Logging
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What does not work now: each problem from its first occurrence until it works again.
///
///     problems.note(.webhookFailing, "the server answered 500", about: "shop")
///     problems.clear(.webhookFailing, about: "shop")
///
/// A problem's beginning and its end are logged. One that comes back within ``quietTime`` is flapping: from then on a line at
/// most once in ``quietTime`` says how often it came and how it is, until it has stayed away, or stayed, for as long. The metric
/// `shelfmark_problem` says for each code how many problems there are. Any number of threads.
package final class Problems: Sendable {
  /// The most problems. Beyond it, one problem for each code represents all others of that code.
  static let maximumCount = 1000
  /// What such a problem is about.
  static let other = "other"
  /// How long a problem must have ended until its next beginning is logged.
  static let quietTime: Duration = .seconds(60)

  struct Problem: Sendable {
    let since: Date
    var count: Int
    var message: String
    /// When it ends by itself, in microseconds since 1970.
    var end: Int64?
  }

  struct Key: Hashable, Comparable, Sendable {
    let code: ProblemCode
    let about: String?

    static func < (a: Key, b: Key) -> Bool { (a.code.rawValue, a.about ?? "") < (b.code.rawValue, b.about ?? "") }
  }

  /// A problem, and what the log knows of it.
  private struct Record {
    /// `nil` where it has ended.
    var problem: Problem?
    /// Occurrences of those that ended since the last line.
    var endedCount = 0
    /// How often it began since the last line.
    var beginnings = 0
    /// Whether it came back too soon to be logged each time.
    var isFlapping = false
    /// When it last began or ended, and when the last line was written, in microseconds since 1970.
    var changed: Int64
    var logged: Int64
  }

  /// Guards the problems. Nothing is logged while it is held.
  private let records = Mutex<[Key: Record]>([:])
  private let logger: Logger
  private let now: @Sendable () -> Int64
  private let gauges: [ProblemCode: Gauge]

  init(_ logger: Logger, _ metrics: any MetricsFactory, now: @escaping @Sendable () -> Int64) {
    self.logger = logger
    self.now = now
    let all = ProblemCode.allCases.map {
      ($0, Gauge(label: "shelfmark_problem", dimensions: [("code", $0.rawValue)], factory: metrics))
    }
    gauges = Dictionary(uniqueKeysWithValues: all)
    for gauge in gauges.values { gauge.record(0) }
  }

  // MARK: Reporting

  /// Something did not work. Call it for each occurrence: they are counted.
  ///
  /// - Parameters:
  ///   - code: The kind of problem.
  ///   - message: What happened, in one sentence for people; the latest is shown, up to 500 characters.
  ///   - about: The webhook, input or user that has the problem. Each has a problem of its own.
  ///   - time: How long after the last occurrence the problem ends, for one whose end nobody sees; without it, it lasts until
  ///     ``clear(_:about:)``.
  package func note(_ code: ProblemCode, _ message: String, about: String? = nil, endsAfter time: Duration? = nil) {
    note(code, message, about, endsAfter: time, isOccurrence: true)
  }

  /// It works, again or still.
  package func clear(_ code: ProblemCode, about: String? = nil) {
    let time = now()
    let ended = records.withLock { records -> Line? in
      records.isEmpty ? nil : end(Self.key(code, about, in: records), at: time, &records)
    }
    if let ended { log(ended) }
  }

  /// Sets all problems of a kind to what a look at their causes found. What has lasted since the look before is no new occurrence.
  ///
  /// - Parameter messages: A sentence for each webhook, input or user that has the problem.
  package func set(_ code: ProblemCode, _ messages: [String: String]) {
    for (about, message) in messages { note(code, message, about, endsAfter: nil, isOccurrence: false) }
    let known = current.keys.filter { $0.code == code }
    // Beyond the bound some of them are one.
    let isShared = messages.keys.contains { about in !known.contains { $0.about == about } }
    for key in known where key.about.map({ messages[$0] == nil }) ?? true {
      if key.about == Self.other, isShared { continue }
      clear(code, about: key.about)
    }
  }

  /// Sets a problem that is about nothing in particular to what a look at its cause found.
  ///
  /// - Parameter message: What happened; `nil` where there is no problem.
  package func set(_ code: ProblemCode, _ message: String?) {
    guard let message else { return clear(code) }
    note(code, message, nil, endsAfter: nil, isOccurrence: false)
  }

  private func note(
    _ code: ProblemCode, _ message: String, _ about: String?, endsAfter duration: Duration?, isOccurrence: Bool
  ) {
    // A server's error may be long.
    let message = String(message.prefix(500))
    let time = now()
    let end = duration.map { time + $0.nanoseconds / 1000 }
    let line = records.withLock { records -> Line? in
      let key = Self.key(code, about, in: records)
      if records[key]?.problem != nil {
        if isOccurrence { records[key]?.problem?.count += 1 }
        records[key]?.problem?.message = message
        records[key]?.problem?.end = end
        return nil
      }
      let problem = Problem(since: Date(microseconds: time), count: 1, message: message, end: end)
      defer { measure(code, records) }
      guard var record = records[key] else {
        records[key] = Record(problem: problem, changed: time, logged: time)
        return .began(key, problem)
      }
      // The line of its end is not old: one that is was forgotten.
      record.problem = problem
      record.changed = time
      if Self.isOver(record.logged, at: time), !record.isFlapping {
        record.logged = time
        records[key] = record
        return .began(key, problem)
      }
      record.isFlapping = true
      record.beginnings += 1
      records[key] = record
      return nil
    }
    if let line { log(line) }
  }

  private static func key(_ code: ProblemCode, _ about: String?, in records: [Key: Record]) -> Key {
    let key = Key(code: code, about: about)
    return records[key] != nil || records.count < maximumCount ? key : Key(code: code, about: other)
  }

  private func end(_ key: Key, at time: Int64, _ records: inout [Key: Record]) -> Line? {
    guard let problem = records[key]?.problem else { return nil }
    records[key]?.problem = nil
    records[key]?.changed = time
    measure(key.code, records)
    if records[key]?.isFlapping == true {
      records[key]?.endedCount += problem.count
      return nil
    }
    records[key]?.logged = time
    return .ended(key, count: problem.count)
  }

  private static func isOver(_ start: Int64, at time: Int64) -> Bool {
    // A clock that was set back must not silence a problem.
    time < start || time - start >= quietTime.nanoseconds / 1000
  }

  // MARK: Time

  /// Ends problems whose time is over, and logs what became of those that flap. Call it every few seconds.
  func tick() {
    let time = now()
    let lines = records.withLock { records in
      records.keys.sorted().flatMap { key in
        var lines: [Line] = []
        if let end = records[key]?.problem?.end, end <= time, let line = self.end(key, at: time, &records) {
          lines.append(line)
        }
        if let line = settle(key, at: time, &records) { lines.append(line) }
        return lines
      }
    }
    for line in lines { log(line) }
  }

  private func settle(_ key: Key, at time: Int64, _ records: inout [Key: Record]) -> Line? {
    guard var record = records[key], Self.isOver(record.logged, at: time) else { return nil }
    guard record.isFlapping else {
      if record.problem == nil { records[key] = nil }
      return nil
    }
    let count = record.endedCount + (record.problem?.count ?? 0)
    let isSteady = Self.isOver(record.changed, at: time)
    if isSteady, record.problem == nil {
      records[key] = nil
      return .ended(key, count: count)
    }
    let line = Line.flaps(key, beginnings: record.beginnings, count: count, isThere: record.problem)
    record.isFlapping = !isSteady
    record.beginnings = 0
    record.endedCount = 0
    record.logged = time
    records[key] = record
    return line
  }

  // MARK: Telling

  private enum Line {
    case began(Key, Problem)
    case flaps(Key, beginnings: Int, count: Int, isThere: Problem?)
    case ended(Key, count: Int)
  }

  private func log(_ line: Line) {
    switch line {
    case .began(let key, let problem):
      logger.warning(
        "problem",
        metadata: Self.metadata(key, ["reason": "\(problem.message)", "remedy": "\(key.code.remedy)"]))
    case .flaps(let key, let beginnings, let count, let problem):
      var metadata: Logger.Metadata = [
        "beginnings": "\(beginnings)", "count": "\(count)", "lasts": "\(problem != nil)",
      ]
      if let problem { metadata["reason"] = "\(problem.message)" }
      logger.warning("problem comes and goes", metadata: Self.metadata(key, metadata))
    case .ended(let key, let count):
      logger.notice("problem ended", metadata: Self.metadata(key, ["count": "\(count)"]))
    }
  }

  private static func metadata(_ key: Key, _ more: Logger.Metadata) -> Logger.Metadata {
    var metadata = more
    metadata["problem"] = "\(key.code.rawValue)"
    if let about = key.about { metadata["about"] = "\(about)" }
    return metadata
  }

  private func measure(_ code: ProblemCode, _ records: [Key: Record]) {
    gauges[code]?.record(records.count { $0.key.code == code && $0.value.problem != nil })
  }

  var current: [Key: Problem] { records.withLock { $0.compactMapValues(\.problem) } }

  /// Whether there is a problem of a kind, whatever it is about.
  func has(_ code: ProblemCode) -> Bool {
    records.withLock { records in records.contains { $0.key.code == code && $0.value.problem != nil } }
  }

  /// What programs are told: `code`, `about`, `message`, `remedy`, `since`, `count`; by code.
  var json: JSONText {
    .array(
      current.sorted { $0.key < $1.key }.map { key, problem in
        .object([
          ("code", .text(key.code.rawValue)), ("about", .optional(key.about)), ("message", .text(problem.message)),
          ("remedy", .text(key.code.remedy)), ("since", .text(problem.since.precise)), ("count", .int(problem.count)),
        ])
      })
  }
}
