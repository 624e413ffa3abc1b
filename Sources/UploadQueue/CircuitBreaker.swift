/// Spares a destination that fails whatever is sent to it: nothing goes there for a while, then one upload as a *probe*, and
/// the others if the probe passes.
///
/// One upload that fails again and again says nothing about the destination, so the breaker counts *different* uploads that
/// failed since the last success. Attempts that got no answer, or an answer such as 503, do say something about it; so many
/// of them in a row open the breaker as well. An answer that pauses the destination opens it at once.
struct CircuitBreaker: Equatable {
  /// When a breaker opens, and for how long. Times are microseconds.
  struct Policy: Sendable, Equatable {
    var failures: Int
    var firstPause: Int64
    /// The cap of doubling after failures, …
    var longestPause: Int64
    /// … and after answers that pause the destination.
    var longestPauseOnAnswer: Int64
  }

  /// Uploads that are told apart; a policy of more failures never opens the breaker by them.
  static let maximumFailing = 10_000

  /// The uploads that failed since the last success; no more of them than open the breaker.
  private(set) var failing: Set<Int64> = []
  /// Attempts in a row whose failure speaks of the destination.
  private(set) var outages = 0
  /// Microseconds since 1970 until which nothing goes; `nil` while it is closed.
  private(set) var openUntil: Int64?
  /// The answer that paused the destination; `nil` while it is closed, or open because of failures.
  private(set) var answer: UploadFailure?
  /// When it opened first since it was closed; `nil` while it is closed.
  private(set) var openSince: Int64?
  private var pause: Int64 = 0
  /// When it opened last.
  private var opened: Int64 = 0
  /// Whether the probe is on its way.
  private var isProbing = false
  private(set) var probes = ProbeHistory()
  /// Probes in a row that were answered with a failure such as 500, which may be due to the upload.
  private var answeredProbes = 0

  /// Whether the last probe was answered with a failure, and ``takeLookahead()`` was not called since.
  private var isLookaheadDue = false
  /// Whether uploads are being tried after a probe; no other probe goes meanwhile.
  private var isLookingAhead = false

  /// How many uploads to try right after the probe that has just ended, in the order of its lane, to find one that the
  /// destination takes: 8 after the first probe that was answered with a failure, twice as many after each further one, at most
  /// ``maximumLookahead``; 0 if no such probe has ended since the last call. Otherwise no probe goes until ``endLookahead()``.
  mutating func takeLookahead() -> Int {
    guard isLookaheadDue else { return 0 }
    isLookaheadDue = false
    isLookingAhead = true
    return min(4 << answeredProbes, Self.maximumLookahead)
  }

  mutating func endLookahead() { isLookingAhead = false }

  static let maximumLookahead = 256

  var isClosed: Bool { openUntil == nil }

  /// Whether an upload may go now.
  func allows(now: Int64) -> Bool { openUntil.map { $0 <= now && !isProbing && !isLookingAhead } ?? true }

  /// An upload goes. One that was taken before the breaker opened, and begins after that, is no probe.
  mutating func begin(now: Int64, lane: String) {
    guard let openUntil, openUntil <= now else { return }
    isProbing = true
    probes.add(lane)
  }

  /// An attempt ended without telling anything of the destination.
  mutating func cancel() { isProbing = false }

  /// What kept the destination from answering may be over: one upload may go at once, and if that one fails, the pauses begin
  /// anew.
  mutating func reconsider(now: Int64) {
    guard let openUntil else { return }
    self.openUntil = min(openUntil, now)
    pause = 0
  }

  /// The destination took an upload, or refused one for what it is.
  mutating func succeed() { self = CircuitBreaker() }

  /// Somebody asked at this time to try again: what failed before that says nothing any more.
  ///
  /// - Returns: whether it was open, and is closed by that.
  mutating func retry(at time: Int64) -> Bool {
    guard openUntil != nil, time >= opened else { return false }
    self = CircuitBreaker()
    return true
  }

  /// An attempt failed.
  ///
  /// - Parameters:
  ///   - upload: the upload's ordinal.
  ///   - isOutage: whether the failure speaks of the destination: no answer, or one that says that it takes nothing now.
  ///   - isAnswered: whether the destination answered.
  /// - Returns: how long the destination is left alone, if that begins now.
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

  /// The destination gave an answer that pauses it.
  ///
  /// - Parameter retryAfter: how long it asks to wait, in microseconds.
  /// - Returns: how long it is left alone, if that begins now.
  mutating func pause(now: Int64, _ failure: UploadFailure, retryAfter: Int64, _ policy: Policy) -> Int64? {
    if !isClosed, !endProbe(now) { return nil }
    answer = failure
    answeredProbes = 0
    return open(now: now, atLeast: retryAfter, cap: policy.longestPauseOnAnswer, policy)
  }

  /// Notes that an attempt ended while the breaker is open.
  ///
  /// - Returns: whether it was the probe. Attempts that had begun before it opened tell nothing new.
  private mutating func endProbe(_ now: Int64) -> Bool {
    guard let openUntil, openUntil <= now, isProbing else {
      isProbing = isProbing && openUntil.map { $0 <= now } ?? false
      return false
    }
    isProbing = false
    return true
  }

  private mutating func open(now: Int64, atLeast least: Int64, cap: Int64, _ policy: Policy) -> Int64 {
    isProbing = false
    pause = min(pause == 0 ? policy.firstPause : pause.adding(pause), cap)
    opened = now
    openSince = openSince ?? now
    let length = max(pause, least)
    openUntil = now.adding(length)
    return length
  }
}

/// Which lanes were probed while a breaker is open, so that each probe takes another one.
struct ProbeHistory: Equatable {
  /// Lanes that are remembered; with more the history begins anew.
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

  /// Orders candidates for the next probe, the best first: another lane than the last one, an upload that has not failed itself,
  /// the lane whose probe is longest ago.
  func rank(_ entry: ScheduleEntry) -> (Int, Int, Int) {
    let lane = entry.lane
    return (lane == last ? 1 : 0, entry.failures > 0 ? 1 : 0, numbers[lane] ?? 0)
  }
}
