import HeapModule

/// An in-memory priority queue of the uploads that wait or are being sent, updated from commit to commit. It contains a
/// parked upload only if that upload holds its order key.
///
/// A *lane* is the uploads with one order key; an upload without a key has a lane of its own. Only the first upload of
/// a lane may be sent, and only if no upload of the lane is being sent and no parked upload holds the key. Uploads that
/// are ready are in heaps, one for each destination. An outdated heap entry is skipped when it is popped.
///
/// Lengths of time, which are pauses, times to live and the time that a batch lingers, are measured by the clock that
/// only goes forward, from the moment at which an entry was first seen. What is left of one by the entry's times counts,
/// up to its whole length: so a clock that was wrong when the entry was written delays it by one pause at most. Only the
/// times that the application asked for are compared with the clock that people set.
///
/// Invariant: each candidate is in `delayed`, in `wished` or in its destination's heap. A candidate is an upload that waits, is the
/// first in its lane, and whose lane is idle.
struct DueQueue {
  private struct Lane {
    var ordinals = Heap<Int64>()
    /// Uploads that any worker is sending.
    var sending: Set<Int64> = []
    /// Parked uploads that hold the key.
    var held: Set<Int64> = []
    /// The number of uploads that wait or are being sent.
    var count = 0

    /// Whether its first upload may be sent once its time comes.
    var isIdle: Bool { sending.isEmpty && held.isEmpty }
  }

  /// A length of time that an upload waits.
  private struct Pause {
    /// The end as it is stored, by which a pause is recognised.
    let until: Int64
    /// The end on the steady clock.
    let end: Int64
  }

  /// An upload ordered by time, then by ordinal.
  private struct Timed: Comparable {
    let time: Int64
    let ordinal: Int64

    static func < (a: Timed, b: Timed) -> Bool { (a.time, a.ordinal) < (b.time, b.ordinal) }
  }

  /// An upload ordered by priority, highest first, then by ordinal.
  private struct Ready: Comparable {
    let priority: UploadPriority
    let ordinal: Int64

    static func < (a: Ready, b: Ready) -> Bool { (b.priority, a.ordinal) < (a.priority, b.ordinal) }
  }

  private(set) var items: [Int64: ScheduleEntry] = [:]
  private var lanes: [String: Lane] = [:]
  private var ready: [String: Heap<Ready>] = [:]
  /// Candidates by the time at which they may go, on the steady clock.
  private var delayed = Heap<Timed>()
  /// Candidates that wait only for the time that the application asked for, by that time.
  private var wished = Heap<Timed>()
  /// Uploads by the time at which they expire, on the steady clock.
  private var expiring = Heap<Timed>()
  private var pauses: [Int64: Pause] = [:]
  /// When an upload has lingered for the rest of its batch, on the steady clock.
  private var lingers: [Int64: Int64] = [:]
  /// When an upload expires, on the steady clock.
  private var ends: [Int64: Int64] = [:]
  /// The times that the application asked for, of uploads that wait.
  private var wishes: [Int64: Int64] = [:]
  private var leased: [ScheduleEntry.Lease: Set<Int64>] = [:]
  /// The destinations of uploads that were retried by hand since ``takeRetries()``.
  private var retries: Set<String> = []
  /// The last manual retry that was seen, by ordinal.
  private var retried: [Int64: Int64] = [:]
  /// The order keys that parked uploads hold, by ordinal.
  private var held: [Int64: String] = [:]
  /// The order keys of which this worker is looking ahead: their first uploads wait until that is over.
  private var lookaheads: Set<String> = []
  private let rules: ScheduleRules

  init(_ rules: ScheduleRules) { self.rules = rules }

  /// Creates an empty queue for the same uploads, which remembers when their lengths of time end.
  init(after former: DueQueue) {
    self.init(former.rules)
    (pauses, lingers, ends, retried) = (former.pauses, former.lingers, former.ends, former.retried)
    lookaheads = former.lookaheads
  }

  // MARK: Contents

  /// Adds or updates an upload. Complexity: O(log *n*) in the uploads, amortised.
  mutating func set(_ entry: ScheduleEntry, now: QueueTime) {
    if entry.state == .parked {
      takeOut(entry.id)
      if let key = entry.orderKey, entry.holdsKey == true, rules.onParked(entry.kind, key) == .hold {
        held[entry.id] = key
        lanes[key, default: Lane()].held.insert(entry.id)
      }
      return
    }
    if held[entry.id] != nil { takeOut(entry.id) }
    let old = items.updateValue(entry, forKey: entry.id)
    if old == entry { return }
    if let time = entry.retried, retried.updateValue(time, forKey: entry.id) != time {
      retries.insert(rules.destination(entry.kind))
    }
    measure(entry, now)
    if let lease = old?.lease, lease != entry.lease { forget(lease, entry.id) }
    if let lease = entry.lease { leased[lease, default: []].insert(entry.id) }
    if let end = ends[entry.id], old == nil { expiring.insert(Timed(time: end, ordinal: entry.id)) }
    guard let key = entry.orderKey else {
      if entry.state == .waiting { delayed.insert(Timed(time: due(entry), ordinal: entry.id)) }
      return
    }
    if old == nil {
      lanes[key, default: Lane()].ordinals.insert(entry.id)
      lanes[key]?.count += 1
    }
    if entry.state == .sending { lanes[key]?.sending.insert(entry.id) } else { lanes[key]?.sending.remove(entry.id) }
    surface(key)
  }

  /// Removes an upload. Complexity: O(log *n*) in the uploads, amortised.
  mutating func remove(_ ordinal: Int64) {
    takeOut(ordinal)
    ends[ordinal] = nil
    retried[ordinal] = nil
  }

  /// Takes an upload out of the schedule that may come back.
  private mutating func takeOut(_ ordinal: Int64) {
    pauses[ordinal] = nil
    lingers[ordinal] = nil
    wishes[ordinal] = nil
    if let key = held.removeValue(forKey: ordinal) {
      lanes[key]?.held.remove(ordinal)
      surface(key)
    }
    guard let old = items.removeValue(forKey: ordinal) else { return }
    if let lease = old.lease { forget(lease, ordinal) }
    guard let key = old.orderKey else { return }
    lanes[key]?.sending.remove(ordinal)
    lanes[key]?.count -= 1
    surface(key)
  }

  /// Measures the lengths of time that an upload has left.
  private mutating func measure(_ entry: ScheduleEntry, _ now: QueueTime) {
    /// The end on the steady clock of a length that ends at `until`.
    func end(_ until: Int64, length: Int64) -> Int64 {
      now.steady.adding(min(until.subtracting(now.wall), max(0, length)))
    }
    if let wait = entry.wait {
      if pauses[entry.id]?.until != wait.until {
        let length = wait.length ?? rules.longestPause(entry.kind).microseconds
        pauses[entry.id] = Pause(until: wait.until, end: end(wait.until, length: length))
      }
    } else {
      pauses[entry.id] = nil
    }
    if let expires = entry.expires, ends[entry.id] == nil {
      ends[entry.id] = end(expires, length: expires.subtracting(entry.created))
    }
    if let linger = rules.batch(entry.kind)?.linger.microseconds, linger > 0, lingers[entry.id] == nil {
      lingers[entry.id] = end(entry.created.adding(linger), length: linger)
    }
    wishes[entry.id] = entry.state == .waiting ? entry.wish : nil
  }

  private mutating func forget(_ lease: ScheduleEntry.Lease, _ ordinal: Int64) {
    leased[lease]?.remove(ordinal)
    if leased[lease]?.isEmpty == true { leased[lease] = nil }
  }

  /// Makes the first upload of a lane a candidate.
  private mutating func surface(_ key: String) {
    guard var lane = lanes.removeValue(forKey: key) else { return }
    while let first = lane.ordinals.min, items[first] == nil { lane.ordinals.removeMin() }
    guard let first = lane.ordinals.min else {
      if !lane.held.isEmpty { lanes[key] = lane }
      return
    }
    if lane.isIdle, let entry = items[first] {
      delayed.insert(Timed(time: due(entry, lane.count), ordinal: first))
    }
    lanes[key] = lane
  }

  /// When the first upload of a lane may be sent, on the steady clock. A batch that is not full lingers for more uploads.
  private func due(_ entry: ScheduleEntry, _ count: Int) -> Int64 {
    let end = pauseEnd(entry)
    guard entry.failures == 0, let batch = rules.batch(entry.kind), count < batch.maximumCount,
      let linger = lingers[entry.id]
    else { return end }
    return max(end, linger)
  }

  private func due(_ entry: ScheduleEntry) -> Int64 {
    entry.orderKey.flatMap { lanes[$0] }.map { due(entry, $0.count) } ?? pauseEnd(entry)
  }

  /// When the pause of an upload ends, on the steady clock.
  private func pauseEnd(_ entry: ScheduleEntry) -> Int64 { pauses[entry.id]?.end ?? .min }

  /// Whether an upload waits neither for the end of a pause nor for a time that the application asked for.
  private func isDue(_ entry: ScheduleEntry, _ now: QueueTime) -> Bool {
    pauseEnd(entry) <= now.steady && !entry.isForLater(than: now.wall)
  }

  /// Whether an upload may be sent once its time comes.
  private func mayGo(_ entry: ScheduleEntry) -> Bool {
    guard entry.state == .waiting else { return false }
    guard let key = entry.orderKey, let lane = lanes[key] else { return true }
    return lane.isIdle && !lookaheads.contains(key) && lane.ordinals.min == entry.id
  }

  /// Keeps the first upload of an order key from being sent while those that follow it are tried. Otherwise it would be
  /// sent again as soon as its pause is over, which may be before the others have been tried if each answer takes long:
  /// that would end the look-ahead, time after time.
  mutating func beginLookahead(_ key: String) { lookaheads.insert(key) }

  mutating func endLookahead(_ key: String) {
    lookaheads.remove(key)
    surface(key)
  }

  /// Returns the destinations that were manually retried since the last call. The first time that an entry is added, its
  /// retry may be long ago.
  mutating func takeRetries() -> Set<String> {
    defer { retries = [] }
    return retries
  }

  // MARK: The next upload

  /// The next upload to send; `nil` if none is ready.
  ///
  /// - Parameters:
  ///   - now: The current time.
  ///   - isOpen: Returns whether uploads may be sent to a destination.
  ///   - probes: Returns the history of probed lanes if the next upload to a destination is a probe; otherwise `nil`.
  /// - Complexity: O(log *n*) in the uploads, amortised; for a probe, O(*n*) in the ready lanes.
  mutating func next(
    now: QueueTime, isOpen: (String) -> Bool, probes: (String) -> ProbeHistory? = { _ in nil }
  ) -> ScheduleEntry? {
    while let first = delayed.min, first.time <= now.steady {
      delayed.removeMin()
      guard let entry = items[first.ordinal], mayGo(entry), due(entry) == first.time else { continue }
      makeReady(entry, now)
    }
    while let first = wished.min, first.time <= now.wall {
      wished.removeMin()
      guard let entry = items[first.ordinal], mayGo(entry), entry.wish == first.time else { continue }
      makeReady(entry, now)
    }
    var best: Ready?
    for name in Array(ready.keys) where isOpen(name) {
      while let first = ready[name]?.min {
        if let entry = items[first.ordinal], mayGo(entry) {
          if due(entry) <= now.steady, !entry.isForLater(than: now.wall) { break }
          // The clock was set back, the upload failed since, or its batch is no longer full.
          put(entry, now)
        }
        ready[name]?.removeMin()
      }
      guard var first = ready[name]?.min else {
        ready[name] = nil
        continue
      }
      if let history = probes(name) { first = probe(name, now: now, history) ?? first }
      if best.map({ first < $0 }) ?? true { best = first }
    }
    return best.flatMap { items[$0.ordinal] }
  }

  /// Makes a candidate ready, unless it waits for something else.
  private mutating func makeReady(_ entry: ScheduleEntry, _ now: QueueTime) {
    if put(entry, now) { return }
    ready[rules.destination(entry.kind), default: Heap()].insert(Ready(priority: entry.priority, ordinal: entry.id))
  }

  /// Puts a candidate with those that wait for the same. Returns whether it waits for anything.
  @discardableResult
  private mutating func put(_ entry: ScheduleEntry, _ now: QueueTime) -> Bool {
    let time = due(entry)
    if time > now.steady {
      delayed.insert(Timed(time: time, ordinal: entry.id))
      return true
    }
    guard let wish = entry.wish, wish > now.wall else { return false }
    wished.insert(Timed(time: wish, ordinal: entry.id))
    return true
  }

  /// The best upload to probe a destination with.
  private func probe(_ name: String, now: QueueTime, _ history: ProbeHistory) -> Ready? {
    (ready[name]?.unordered ?? []).lazy.compactMap { ready -> (rank: (Int, Int, Int), ready: Ready)? in
      guard let entry = items[ready.ordinal], mayGo(entry), due(entry) <= now.steady,
        !entry.isForLater(than: now.wall)
      else { return nil }
      return (history.rank(entry), ready)
    }.min { $0.rank == $1.rank ? $0.ready < $1.ready : $0.rank < $1.rank }?.ready
  }

  /// The batch that begins with the first upload of a lane: the uploads that follow it under its order key, up to the
  /// limits of its kind. An upload that failed by itself is sent alone.
  ///
  /// - Parameter last: The largest ordinal that the batch may contain.
  /// - Complexity: O(*k* log *n*), where *k* is the size of the batch and *n* the size of the lane.
  mutating func batch(startingWith first: ScheduleEntry, through last: Int64 = .max, now: QueueTime)
    -> [ScheduleEntry]
  {
    guard let limits = rules.batch(first.kind), limits.maximumCount > 1, first.ownFailures == nil,
      let key = first.orderKey, var lane = lanes.removeValue(forKey: key)
    else { return [first] }
    defer { lanes[key] = lane }
    var chosen: [ScheduleEntry] = []
    var byteCount = 0
    while chosen.count < limits.maximumCount, let ordinal = lane.ordinals.min {
      guard ordinal <= last || chosen.isEmpty else { break }
      // The heap may contain an upload twice if it was parked and retried.
      guard let entry = items[ordinal], chosen.last?.id != ordinal else {
        lane.ordinals.removeMin()
        continue
      }
      byteCount += entry.byteCount
      if !chosen.isEmpty {
        guard entry.state == .waiting, entry.kind == first.kind, isDue(entry, now), entry.ownFailures == nil,
          ends[ordinal].map({ $0 > now.steady }) ?? true, byteCount <= limits.maximumByteCount
        else { break }
      }
      chosen.append(entry)
      lane.ordinals.removeMin()
    }
    for entry in chosen { lane.ordinals.insert(entry.id) }
    return chosen
  }

  /// The uploads that come after one under its order key, in order, up to `limit` of them.
  ///
  /// - Complexity: O(n log n) in the uploads of the order key.
  func followers(of entry: ScheduleEntry, limit: Int) -> [Int64] {
    guard let key = entry.orderKey, let lane = lanes[key] else { return [] }
    // The heap may contain an upload twice if it was parked and retried.
    let later = Set(lane.ordinals.unordered.lazy.filter { $0 > entry.id && items[$0] != nil })
    return Array(later.sorted().prefix(limit))
  }

  /// The upload if it may be sent before the uploads that precede it in its lane, which were just tried: it waits only
  /// for them and not for a time that the application chose. Otherwise `nil`.
  func candidate(_ ordinal: Int64, now: QueueTime) -> ScheduleEntry? {
    guard let entry = items[ordinal], entry.state == .waiting, !entry.isForLater(than: now.wall),
      ends[ordinal].map({ $0 > now.steady }) ?? true, let key = entry.orderKey, lanes[key]?.isIdle == true
    else { return nil }
    return entry
  }

  /// Whether any upload is being sent, or can be sent now or later without a manual decision and without a change at
  /// its destination.
  ///
  /// - Parameters:
  ///   - now: The time since 1970 after which an upload that was enqueued for later does not count, and neither do those that wait
  ///     for it under its order key; `nil` if they count.
  ///   - isPaused: Returns whether a destination is paused by an answer.
  /// - Complexity: O(*n*) in the uploads that cannot be sent.
  func hasSendableUploads(before now: Int64? = nil, isPaused: (String) -> Bool) -> Bool {
    items.values.contains { entry in
      if entry.state == .sending { return true }
      if isPaused(rules.destination(entry.kind)) { return false }
      let lane = entry.orderKey.flatMap { lanes[$0] }
      if lane?.held.isEmpty == false { return false }
      guard let now else { return true }
      let first = lane?.ordinals.min.flatMap { items[$0] } ?? entry
      // A lane that is sending goes on with its next upload, which is judged when that is over.
      return !first.isForLater(than: now)
    }
  }

  /// The waiting uploads that have expired.
  mutating func expired(now: QueueTime) -> [Int64] {
    var found: [Int64] = []
    var kept: [Timed] = []
    while let first = expiring.min, first.time <= now.steady {
      expiring.removeMin()
      // The heap contains an upload twice if it was parked and retried.
      guard let entry = items[first.ordinal], kept.last != first else { continue }
      // Keep it until its removal is committed: the commit may fail.
      kept.append(first)
      if entry.state == .waiting { found.append(entry.id) }
    }
    for entry in kept { expiring.insert(entry) }
    return found
  }

  /// How often the clock is looked at while an upload waits for a time: somebody may set it forward.
  static let wishInterval: Duration = .seconds(30)

  /// When the next upload becomes ready or expires, on the steady clock; `nil` for never. It may be earlier.
  ///
  /// - Parameter interval: How often the clock is looked at while an upload waits for a time that was asked for.
  func nextTime(after now: QueueTime, lookingEvery interval: Duration = wishInterval) -> Int64? {
    var time = delayed.min?.time
    if let wish = wished.min?.time {
      let left = min(wish.subtracting(now.wall), interval.microseconds)
      // The clock may have been set forward since the last look.
      time = min(time ?? .max, now.steady.adding(max(1, left)))
    }
    // If an upload expires while it is being sent, that is handled when the attempt ends.
    if let expires = expiring.min?.time, expires > now.steady { time = min(time ?? expires, expires) }
    return time
  }

  /// The number of uploads that wait for a time that the application asked for and that is more than a day away, or that
  /// was asked for while the clock was ahead, and the last of these times; `nil` if there are none.
  ///
  /// - Complexity: O(*n*) in the uploads that were enqueued with a time.
  func uploadsForLater(now: Int64) -> (count: Int, until: Int64)? {
    var found: (count: Int, until: Int64)?
    for (ordinal, wish) in wishes where wish > now {
      guard let entry = items[ordinal], entry.created > now || wish.subtracting(now) > 86_400_000_000 else { continue }
      found = ((found?.count ?? 0) + 1, max(found?.until ?? wish, wish))
    }
    return found
  }

  /// The uploads that wait only for the back-off after an attempt without an answer, in queue order, up to `limit` of
  /// them.
  ///
  /// - Complexity: O(*n*) in the delayed uploads.
  func unanswered(now: QueueTime, limit: Int) -> [Int64] {
    let found = delayed.unordered.lazy.filter { timed in
      guard timed.time > now.steady, let entry = items[timed.ordinal], pauseEnd(entry) == timed.time else {
        return false
      }
      return entry.isUnanswered && mayGo(entry)
    }
    return Array(Set(found.map(\.ordinal)).sorted().prefix(limit))
  }

  /// The leases that have uploads.
  var leases: [ScheduleEntry.Lease] { Array(leased.keys) }

  /// The uploads of a lease.
  func ordinals(of lease: ScheduleEntry.Lease) -> [Int64] { (leased[lease] ?? []).sorted() }
}

extension DueQueue {
  /// Reports each violated invariant.
  ///
  /// - Complexity: O(*n*) in all uploads.
  func checkInvariants(_ report: (String) -> Void) {
    var sending: [String: Set<Int64>] = [:]
    var counts: [String: Int] = [:]
    var leases: [ScheduleEntry.Lease: Set<Int64>] = [:]
    let candidates = Set(delayed.unordered.map(\.ordinal)).union(wished.unordered.map(\.ordinal))
      .union(ready.values.flatMap { $0.unordered.map(\.ordinal) })
    let timed = Set(expiring.unordered.map(\.ordinal))
    for (ordinal, entry) in items {
      if ordinal != entry.id { report("upload \(entry.id) is kept as \(ordinal)") }
      if entry.state == .parked { report("upload \(ordinal) is parked and scheduled") }
      if let lease = entry.lease { leases[lease, default: []].insert(ordinal) }
      if entry.expires != nil, !timed.contains(ordinal) { report("nothing waits for the end of upload \(ordinal)") }
      if mayGo(entry), !candidates.contains(ordinal) { report("upload \(ordinal) may go, and is not a candidate") }
      guard let key = entry.orderKey else { continue }
      counts[key, default: 0] += 1
      if entry.state == .sending { sending[key, default: []].insert(ordinal) }
      if lanes[key]?.ordinals.unordered.contains(ordinal) != true { report("upload \(ordinal) is not in lane \(key)") }
    }
    if leases != leased { report("the uploads by lease are not those that have a lease") }
    for (key, lane) in lanes {
      let count = counts[key, default: 0]
      if lane.count != count { report("lane \(key) counts \(lane.count) of \(count) uploads") }
      if lane.sending != sending[key, default: []] { report("lane \(key) sends others than those that are being sent") }
      if lane.count == 0, lane.held.isEmpty { report("lane \(key) is empty") }
      for ordinal in lane.held where held[ordinal] != key { report("upload \(ordinal) holds lane \(key) no more") }
    }
    for (ordinal, key) in held where lanes[key]?.held.contains(ordinal) != true {
      report("upload \(ordinal) holds key \(key), and its lane does not know")
    }
  }

  /// Checks the invariants in debug builds, including tests, if there are few uploads.
  func assertInvariants() {
    assert(
      {
        if !items.isEmpty, items.count <= 16 { checkInvariants { assertionFailure($0) } }
        return true
      }())
  }
}
