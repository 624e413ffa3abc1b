import HeapModule

/// An in-memory priority queue of the uploads that wait or are being sent, updated from commit to commit. It contains a
/// parked upload only if that upload holds its order key.
///
/// A *lane* is the uploads with one order key; an upload without a key has a lane of its own. Only the first upload of
/// a lane may be sent, and only if no upload of the lane is being sent and no parked upload holds the key. Uploads that
/// are ready are in heaps, one for each destination. An outdated heap entry is skipped when it is popped.
///
/// Invariant: each candidate is in `delayed` or in its destination's heap. A candidate is an upload that waits, is the
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
  private var delayed = Heap<Timed>()
  private var expiring = Heap<Timed>()
  private var leased: [ScheduleEntry.Lease: Set<Int64>] = [:]
  /// The time of the last manual retry, by destination, since ``takeRetries()``.
  private var retries: [String: Int64] = [:]
  /// The order keys that parked uploads hold, by ordinal.
  private var held: [Int64: String] = [:]
  private let rules: ScheduleRules

  init(_ rules: ScheduleRules) { self.rules = rules }

  // MARK: Contents

  /// Adds or updates an upload. Complexity: O(log *n*) in the uploads, amortised.
  mutating func set(_ entry: ScheduleEntry) {
    if entry.state == .parked {
      remove(entry.id)
      if let key = entry.orderKey, entry.holdsKey == true, rules.onParked(entry.kind, key) == .hold {
        held[entry.id] = key
        lanes[key, default: Lane()].held.insert(entry.id)
      }
      return
    }
    if held[entry.id] != nil { remove(entry.id) }
    let old = items.updateValue(entry, forKey: entry.id)
    if old == entry { return }
    if let time = entry.retried, time != old?.retried {
      let destination = rules.destination(entry.kind)
      retries[destination] = max(time, retries[destination] ?? time)
    }
    if let lease = old?.lease, lease != entry.lease { forget(lease, entry.id) }
    if let lease = entry.lease { leased[lease, default: []].insert(entry.id) }
    if let expires = entry.expires, old == nil { expiring.insert(Timed(time: expires, ordinal: entry.id)) }
    guard let key = entry.orderKey else {
      if entry.state == .waiting { delayed.insert(Timed(time: entry.notBefore, ordinal: entry.id)) }
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

  /// When the first upload of a lane may be sent. A batch that is not full lingers for more uploads.
  private func due(_ entry: ScheduleEntry, _ count: Int) -> Int64 {
    guard entry.failures == 0, let batch = rules.batch(entry.kind), batch.linger > .zero, count < batch.maximumCount
    else { return entry.notBefore }
    return max(entry.notBefore, entry.created.adding(batch.linger.microseconds))
  }

  private func due(_ entry: ScheduleEntry) -> Int64 {
    entry.orderKey.flatMap { lanes[$0] }.map { due(entry, $0.count) } ?? entry.notBefore
  }

  /// Whether an upload may be sent once its time comes.
  private func mayGo(_ entry: ScheduleEntry) -> Bool {
    guard entry.state == .waiting else { return false }
    guard let key = entry.orderKey, let lane = lanes[key] else { return true }
    return lane.isIdle && lane.ordinals.min == entry.id
  }

  /// Returns the destinations that were manually retried since the last call, with the time of the last retry. The
  /// first time that an entry is added, its retry may be long ago.
  mutating func takeRetries() -> [String: Int64] {
    defer { retries = [:] }
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
    now: Int64, isOpen: (String) -> Bool, probes: (String) -> ProbeHistory? = { _ in nil }
  ) -> ScheduleEntry? {
    while let first = delayed.min, first.time <= now {
      delayed.removeMin()
      guard let entry = items[first.ordinal], mayGo(entry), due(entry) == first.time else { continue }
      ready[rules.destination(entry.kind), default: Heap()].insert(Ready(priority: entry.priority, ordinal: entry.id))
    }
    var best: Ready?
    for name in Array(ready.keys) where isOpen(name) {
      while let first = ready[name]?.min {
        if let entry = items[first.ordinal], mayGo(entry) {
          let time = due(entry)
          if time <= now { break }
          // The clock was set back, the upload failed since, or its batch is no longer full.
          delayed.insert(Timed(time: time, ordinal: entry.id))
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

  /// The best upload to probe a destination with.
  private func probe(_ name: String, now: Int64, _ history: ProbeHistory) -> Ready? {
    (ready[name]?.unordered ?? []).lazy.compactMap { ready -> (rank: (Int, Int, Int), ready: Ready)? in
      guard let entry = items[ready.ordinal], mayGo(entry), due(entry) <= now else { return nil }
      return (history.rank(entry), ready)
    }.min { $0.rank == $1.rank ? $0.ready < $1.ready : $0.rank < $1.rank }?.ready
  }

  /// The batch that begins with the first upload of a lane: the uploads that follow it under its order key, up to the
  /// limits of its kind. An upload that failed by itself is sent alone.
  ///
  /// - Parameter last: The largest ordinal that the batch may contain.
  /// - Complexity: O(*k* log *n*), where *k* is the size of the batch and *n* the size of the lane.
  mutating func batch(startingWith first: ScheduleEntry, through last: Int64 = .max, now: Int64) -> [ScheduleEntry] {
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
        guard entry.state == .waiting, entry.kind == first.kind, entry.notBefore <= now, entry.ownFailures == nil,
          entry.expires.map({ $0 > now }) ?? true, byteCount <= limits.maximumByteCount
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
  func candidate(_ ordinal: Int64, now: Int64) -> ScheduleEntry? {
    guard let entry = items[ordinal], entry.state == .waiting, entry.notBefore <= now || entry.failures > 0,
      entry.expires.map({ $0 > now }) ?? true, let key = entry.orderKey, lanes[key]?.isIdle == true
    else { return nil }
    return entry
  }

  /// Whether any upload is being sent, or can be sent now or later without a manual decision and without a change at
  /// its destination.
  ///
  /// - Parameters:
  ///   - now: The time after which an upload that was enqueued for later does not count, and neither do those that wait
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
  mutating func expired(now: Int64) -> [Int64] {
    var found: [Int64] = []
    var kept: [Timed] = []
    while let first = expiring.min, first.time <= now {
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

  /// When the next upload becomes ready or expires; `nil` for never.
  func nextTime(after now: Int64) -> Int64? {
    var time = delayed.min?.time
    // If an upload expires while it is being sent, that is handled when the attempt ends.
    if let expires = expiring.min?.time, expires > now { time = min(time ?? expires, expires) }
    return time
  }

  /// The uploads that wait only for the back-off after an attempt without an answer, in queue order, up to `limit` of
  /// them.
  ///
  /// - Complexity: O(*n*) in the delayed uploads.
  func unanswered(now: Int64, limit: Int) -> [Int64] {
    let found = delayed.unordered.lazy.filter { timed in
      guard timed.time > now, let entry = items[timed.ordinal], entry.notBefore == timed.time else { return false }
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
    let candidates = Set(delayed.unordered.map(\.ordinal))
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
