internal import CoreMetrics
import Essentials
import JSONFormat
import Logging
import Synchronization

/// The current problems, each from its first occurrence until its cause is gone.
///
///     problems.report(.webhookFailing, "the server answered 500", about: "shop")
///     problems.clear(.webhookFailing, about: "shop")
///
/// The start and end of a problem are logged, and at most once per ``reasonTime`` that its reason has changed by more
/// than a number. A problem that comes back within ``quietTime`` is flapping: from then on, at most one line per
/// ``quietTime`` reports its count and current state, until it has not changed for that long. The metric
/// `shelfmark_problem` counts the current problems of each code. Safe to use from any number of threads.
package final class Problems: Sendable {
  /// The maximum number of problems. Beyond it, one problem per code represents all further ones with that code.
  static let maximumCount = 1000
  /// The subject of a problem that represents others.
  static let other = "other"
  /// The time after the end of a problem until its next start is logged again.
  static let quietTime: Duration = .seconds(60)
  /// The time after a line until another reason of the same problem is logged.
  static let reasonTime: Duration = .seconds(10)

  struct Problem: Sendable {
    let since: Date
    var count: Int
    var message: String
    /// When the problem ends by itself, on the clock that only goes forward.
    var end: Int64?
  }

  struct Key: Hashable, Comparable, Sendable {
    let code: ProblemCode
    let about: String?

    static func < (a: Key, b: Key) -> Bool { (a.code.rawValue, a.about ?? "") < (b.code.rawValue, b.about ?? "") }
  }

  /// A problem and its logging state.
  private struct Record {
    /// The problem; `nil` after it has ended.
    var problem: Problem?
    /// The occurrences, since the last line, of problems that have ended.
    var endedCount = 0
    /// How often the problem started since the last line.
    var beginnings = 0
    /// Whether the problem came back too soon to log each start.
    var isFlapping = false
    /// When the problem last started or ended, and when the last line was written, on the same clock.
    var changed: Int64
    var logged: Int64
    /// The reason in the last line, without its numbers.
    var loggedReason = ""
  }

  /// Guards the problems. Nothing is logged while the lock is held.
  private let records = Mutex<[Key: Record]>([:])
  private let logger: Logger
  private let now: @Sendable () -> Int64
  /// The microseconds of a clock that only goes forward.
  private let uptime: @Sendable () -> Int64
  private let gauges: [ProblemCode: Gauge]

  /// - Parameters:
  ///   - uptime: The microseconds of a clock that only goes forward; `nil` if `now` does.
  ///   - now: Microseconds since 1970.
  init(
    _ logger: Logger, _ metrics: any MetricsFactory, uptime: (@Sendable () -> Int64)? = nil,
    now: @escaping @Sendable () -> Int64
  ) {
    self.logger = logger
    self.now = now
    self.uptime = uptime ?? now
    let all = ProblemCode.allCases.map {
      ($0, Gauge(label: "shelfmark_problem", dimensions: [("code", $0.rawValue)], factory: metrics))
    }
    gauges = Dictionary(uniqueKeysWithValues: all)
    for gauge in gauges.values { gauge.record(0) }
  }

  // MARK: Reporting

  /// Reports an occurrence of a problem. Call it for each occurrence, because they are counted.
  ///
  /// - Parameters:
  ///   - code: The kind of problem.
  ///   - message: What happened, in one sentence for people; the latest is shown, up to 500 characters.
  ///   - about: The webhook, input or user that has the problem. Each of them has a separate problem.
  ///   - time: The time after the last occurrence at which the problem ends, for a problem whose end cannot be
  ///     observed; `nil` if it lasts until ``clear(_:about:)``.
  package func report(_ code: ProblemCode, _ message: String, about: String? = nil, endsAfter time: Duration? = nil) {
    report(code, message, about, endsAfter: time, isOccurrence: true)
  }

  /// Ends a problem, if there is one.
  package func clear(_ code: ProblemCode, about: String? = nil) {
    let time = uptime()
    let ended = records.withLock { records -> Line? in
      records.isEmpty ? nil : end(Self.key(code, about, in: records), at: time, &records)
    }
    if let ended { log(ended) }
  }

  /// Sets all problems of a kind to the result of a check of their causes. A problem that the previous check also found
  /// is not a new occurrence.
  ///
  /// - Parameter messages: A sentence for each webhook, input or user that has the problem.
  package func set(_ code: ProblemCode, _ messages: [String: String]) {
    for (about, message) in messages { report(code, message, about, endsAfter: nil, isOccurrence: false) }
    let existing = current.keys.filter { $0.code == code }
    // Above the limit, several of them share one problem.
    let isShared = messages.keys.contains { about in !existing.contains { $0.about == about } }
    for key in existing where key.about.map({ messages[$0] == nil }) ?? true {
      if key.about == Self.other, isShared { continue }
      clear(code, about: key.about)
    }
  }

  /// Sets a problem without a subject to the result of a check of its cause.
  ///
  /// - Parameter message: What happened; `nil` if there is no problem.
  package func set(_ code: ProblemCode, _ message: String?) {
    guard let message else { return clear(code) }
    report(code, message, nil, endsAfter: nil, isOccurrence: false)
  }

  private func report(
    _ code: ProblemCode, _ message: String, _ about: String?, endsAfter duration: Duration?, isOccurrence: Bool
  ) {
    // A server's error message may be long.
    let message = String(message.prefix(500))
    let time = uptime()
    let end = duration.map { time + $0.nanoseconds / 1000 }
    let line = records.withLock { records -> Line? in
      let key = Self.key(code, about, in: records)
      if records[key]?.problem != nil {
        if isOccurrence { records[key]?.problem?.count += 1 }
        records[key]?.problem?.message = message
        records[key]?.problem?.end = end
        return nil
      }
      let problem = Problem(since: Date(microseconds: now()), count: 1, message: message, end: end)
      defer { measure(code, records) }
      guard var record = records[key] else {
        records[key] = Record(
          problem: problem, changed: time, logged: time, loggedReason: Self.withoutNumbers(message))
        return .began(key, problem)
      }
      // A line for the end of the previous problem is still recent: older ones were forgotten.
      record.problem = problem
      record.changed = time
      let isOther = Self.withoutNumbers(message) != record.loggedReason
      if Self.isOver(record.logged, isOther ? Self.reasonTime : Self.quietTime, at: time), !record.isFlapping {
        record.logged = time
        record.loggedReason = Self.withoutNumbers(message)
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

  /// A reason without what changes with each occurrence: counts, ports, times.
  private static func withoutNumbers(_ message: String) -> String { message.filter { !$0.isNumber } }

  private static func isOver(_ start: Int64, _ duration: Duration = quietTime, at time: Int64) -> Bool {
    time - start >= duration.nanoseconds / 1000
  }

  // MARK: Time

  /// Ends problems whose time is over, and logs the state of flapping ones and new reasons of others. Call it every few
  /// seconds.
  func tick() {
    let time = uptime()
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
    guard var record = records[key], Self.isOver(record.logged, Self.reasonTime, at: time) else { return nil }
    let isQuiet = Self.isOver(record.logged, at: time)
    if record.isFlapping, !isQuiet { return nil }
    guard record.isFlapping else {
      guard let problem = record.problem else {
        if isQuiet { records[key] = nil }
        return nil
      }
      let reason = Self.withoutNumbers(problem.message)
      if reason == record.loggedReason { return nil }
      record.loggedReason = reason
      record.logged = time
      records[key] = record
      return .changed(key, problem)
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
    record.loggedReason = (record.problem?.message).map(Self.withoutNumbers) ?? record.loggedReason
    records[key] = record
    return line
  }

  // MARK: Logging

  private enum Line {
    case began(Key, Problem)
    case changed(Key, Problem)
    case flaps(Key, beginnings: Int, count: Int, isThere: Problem?)
    case ended(Key, count: Int)
  }

  private func log(_ line: Line) {
    switch line {
    case .began(let key, let problem):
      logger.warning(
        "problem",
        metadata: Self.metadata(
          key, ["reason": "\(problem.message)", "remedy": "\(key.code.remedy(for: problem.message))"]))
    case .changed(let key, let problem):
      logger.warning("problem has another reason", metadata: Self.metadata(key, ["reason": "\(problem.message)"]))
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

  /// What the current problems of these kinds are about.
  func abouts(of codes: Set<ProblemCode>) -> [String] {
    current.keys.filter { codes.contains($0.code) }.compactMap(\.about)
  }

  /// Whether a problem of this kind exists, whatever its subject.
  func has(_ code: ProblemCode) -> Bool {
    records.withLock { records in records.contains { $0.key.code == code && $0.value.problem != nil } }
  }

  /// The problems as JSON, sorted by code: `code`, `about`, `message`, `remedy`, `since`, `count`.
  var json: JSONText {
    .array(
      current.sorted { $0.key < $1.key }.map { key, problem in
        .object([
          ("code", .text(key.code.rawValue)), ("about", .optional(key.about)), ("message", .text(problem.message)),
          ("remedy", .text(key.code.remedy(for: problem.message))), ("since", .text(problem.since.precise)),
          ("count", .int(problem.count)),
        ])
      })
  }
}
