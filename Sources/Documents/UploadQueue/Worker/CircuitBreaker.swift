/// A circuit breaker for one destination. While it is open, nothing is sent; after a pause, one upload goes as a
/// *probe*, and if the probe succeeds, the breaker closes.
///
/// One upload that fails repeatedly says nothing about the destination, so the breaker counts *different* uploads that
/// failed since the last success. Attempts without an answer, or with one like 503, do indicate an outage, so a number
/// of them in a row also opens the breaker. An answer that pauses the destination opens it at once.
struct CircuitBreaker: Equatable {
  /// The thresholds and pauses of a breaker, in microseconds.
  struct Policy: Sendable, Equatable {
    var failures: Int
    var firstPause: Int64
    /// The cap of exponential back-off after failures.
    var longestPause: Int64
    /// The cap of exponential back-off after answers that pause the destination.
    var longestPauseOnAnswer: Int64
  }

  /// The maximum number of failed uploads that are remembered. A policy with a higher threshold never opens the breaker
  /// by this count.
  static let maximumFailing = 10_000

  /// The uploads that failed since the last success, up to the number that opens the breaker.
  private(set) var failing: Set<Int64> = []
  /// The number of consecutive attempts whose failure indicates an outage.
  private(set) var outages = 0
  /// The time until which nothing is sent; `nil` while the breaker is closed. This and all other times are microseconds
  /// of the clock that only goes forward.
  private(set) var openUntil: Int64?
  /// The answer that paused the destination; `nil` while the breaker is closed, or open because of failures.
  private(set) var answer: UploadFailure?
  /// When the breaker first opened since it was last closed; `nil` while it is closed.
  private(set) var openSince: Int64?
  private var pause: Int64 = 0
  /// Whether a probe is being sent.
  private var isProbing = false
  private(set) var probes = ProbeHistory()
  /// The number of consecutive probes that were answered with a failure like 500, which may be due to the upload.
  private var answeredProbes = 0

  /// Whether the last probe was answered with a failure, and ``takeLookahead()`` has not been called since.
  private var isLookaheadDue = false
  /// Whether uploads after a probe are being tried. No other probe is sent during that time.
  private var isLookingAhead = false

  /// Returns how many uploads to try right after the probe that has just ended, in the order of its lane, to find one
  /// that the destination accepts: 8 after the first probe that was answered with a failure, twice as many after each
  /// further one, at most ``maximumLookahead``; 0 if no such probe has ended since the last call. If the result is not
  /// 0, no probe is sent until ``endLookahead()``.
  mutating func takeLookahead() -> Int {
    guard isLookaheadDue else { return 0 }
    isLookaheadDue = false
    isLookingAhead = true
    return min(4 << answeredProbes, Self.maximumLookahead)
  }

  mutating func endLookahead() { isLookingAhead = false }

  static let maximumLookahead = 256

  var isClosed: Bool { openUntil == nil }

  /// Whether an upload may be sent now.
  func allows(now: Int64) -> Bool { openUntil.map { $0 <= now && !isProbing && !isLookingAhead } ?? true }

  /// Records that an attempt begins. An upload that was claimed before the breaker opened, and begins after that, is
  /// not a probe.
  mutating func begin(now: Int64, lane: String) {
    guard let openUntil, openUntil <= now else { return }
    isProbing = true
    probes.add(lane)
  }

  /// Records that an attempt ended without a result about the destination.
  mutating func cancel() { isProbing = false }

  /// Allows one upload at once, because the cause of an outage may be gone. If that upload fails, the pauses start
  /// over.
  mutating func reconsider(now: Int64) {
    guard let openUntil else { return }
    self.openUntil = min(openUntil, now)
    pause = 0
  }

  /// Closes the breaker after a manual retry. Former failures no longer count.
  ///
  /// - Returns: Whether the breaker was open and is now closed.
  mutating func retry() -> Bool {
    guard openUntil != nil else { return false }
    self = CircuitBreaker()
    return true
  }

  /// Records a failed attempt.
  ///
  /// - Parameters:
  ///   - upload: The upload's ordinal.
  ///   - isOutage: Whether the failure indicates an outage: no answer, or one by which the server currently accepts
  ///     nothing.
  ///   - isAnswered: Whether the destination answered.
  /// - Returns: The length of the pause in microseconds if one begins now; otherwise `nil`.
  mutating func fail(now: Int64, upload: Int64, isOutage: Bool, isAnswered: Bool = false, _ policy: Policy)
    -> Int64?
  {
    if failing.count < min(policy.failures, Self.maximumFailing) { failing.insert(upload) }
    if isOutage { outages = min(outages + 1, policy.failures) }
    if isClosed {
      guard failing.count >= policy.failures || outages >= policy.failures else { return nil }
    } else if endProbe(now) {
      answeredProbes = isAnswered ? min(answeredProbes + 1, 8) : 0
      isLookaheadDue = isAnswered
    } else {
      return nil
    }
    answer = nil
    return open(now: now, atLeast: 0, cap: policy.longestPause, policy)
  }

  /// Records an answer that pauses the destination.
  ///
  /// - Parameter retryAfter: The delay that the server requests, in microseconds.
  /// - Returns: The length of the pause in microseconds if one begins now; otherwise `nil`.
  mutating func pause(now: Int64, _ failure: UploadFailure, retryAfter: Int64, _ policy: Policy) -> Int64? {
    if !isClosed, !endProbe(now) { return nil }
    answer = failure
    answeredProbes = 0
    return open(now: now, atLeast: retryAfter, cap: policy.longestPauseOnAnswer, policy)
  }

  /// Records that an attempt ended while the breaker is open.
  ///
  /// - Returns: Whether the attempt was the probe. Attempts that began before the breaker opened provide no new
  ///   information.
  private mutating func endProbe(_ now: Int64) -> Bool {
    guard let openUntil, openUntil <= now, isProbing else {
      isProbing = isProbing && openUntil.map { $0 <= now } ?? false
      return false
    }
    isProbing = false
    return true
  }

  /// Opens, for a pause that doubles each time. `Backoff` counts failures and has one cap; here the cap is that of the
  /// last answer, and the pause goes on from the one before.
  private mutating func open(now: Int64, atLeast least: Int64, cap: Int64, _ policy: Policy) -> Int64 {
    isProbing = false
    pause = min(pause == 0 ? policy.firstPause : pause.adding(pause), cap)
    openSince = openSince ?? now
    let length = max(pause, least)
    openUntil = now.adding(length)
    return length
  }
}

/// The lanes that were probed while a breaker is open, so that each probe uses a different lane.
struct ProbeHistory: Equatable {
  /// The maximum number of lanes that are remembered. When it is exceeded, the history is cleared.
  static let capacity = 1024

  private var numbers: [String: Int] = [:]
  private var count = 0
  private var last: String?

  mutating func add(_ lane: String) {
    if numbers.count >= Self.capacity { numbers = [:] }
    count += 1
    numbers[lane] = count
    last = lane
  }

  /// A rank that orders candidates for the next probe, lowest first: another lane than the last one, an upload that has
  /// not failed itself, the lane whose last probe is the oldest.
  func rank(_ entry: ScheduleEntry) -> (Int, Int, Int) {
    let lane = entry.lane
    return (lane == last ? 1 : 0, entry.failures > 0 ? 1 : 0, numbers[lane] ?? 0)
  }
}
