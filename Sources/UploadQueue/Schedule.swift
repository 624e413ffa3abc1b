import HeapModule

/// Which upload goes next: an image in memory of what waits or is being sent, kept up to date from commit to commit. What is
/// parked is not in it, but for what holds its order key.
///
/// A *lane* is the uploads with one order key; an upload without a key has a lane of its own. Only the first of a lane may go,
/// and only if nothing of the lane is being sent, and no parked upload holds the key. Uploads that may go are in heaps, one for each destination; an entry
/// of a heap that has become untrue is skipped when it comes up.
///
/// Invariants: an upload is `surfaced` when it may become ready: it waits, is first in its lane, and the lane is idle; each
/// such upload stands in `delayed` or in its destination's heap.
struct Schedule {
  private struct Lane {
    var ordinals = Heap<Int64>()
    /// What is being sent, by whomever.
    var sending: Set<Int64> = []
    /// Parked uploads that hold the key.
    var held: Set<Int64> = []
    /// Uploads that wait or are being sent.
    var count = 0

    /// Whether its first upload may go, but for its time.
    var isIdle: Bool { sending.isEmpty && held.isEmpty }
  }

  /// Orders by time, then as enqueued.
  private struct Timed: Comparable {
    let time: Int64
    let ordinal: Int64

    static func < (a: Timed, b: Timed) -> Bool { (a.time, a.ordinal) < (b.time, b.ordinal) }
  }

  /// Orders by priority, the highest first, then as enqueued.
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
  /// When somebody last asked to try again, by destination, since ``takeRetries()``.
  private var retries: [String: Int64] = [:]
  /// The order keys of parked uploads that hold them.
  private var held: [Int64: String] = [:]
  private let rules: ScheduleRules

  init(_ rules: ScheduleRules) { self.rules = rules }

  // MARK: What is there

  /// Adds an upload, or says what is now true of one. Complexity: O(log uploads), amortised.
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

  /// Forgets an upload. Complexity: O(log uploads), amortised.
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

  /// Makes the first of a lane a candidate.
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

  /// When an upload may go that is first in its lane: a batch that is not full waits a while for more.
  private func due(_ entry: ScheduleEntry, _ count: Int) -> Int64 {
    guard entry.failures == 0, let batch = rules.batch(entry.kind), batch.linger > .zero, count < batch.maximumCount
    else { return entry.notBefore }
    return max(entry.notBefore, entry.created.adding(batch.linger.microseconds))
  }

  private func due(_ entry: ScheduleEntry) -> Int64 {
    entry.orderKey.flatMap { lanes[$0] }.map { due(entry, $0.count) } ?? entry.notBefore
  }

  /// Whether an upload may go, but for its time.
  private func mayGo(_ entry: ScheduleEntry) -> Bool {
    guard entry.state == .waiting else { return false }
    guard let key = entry.orderKey, let lane = lanes[key] else { return true }
    return lane.isIdle && lane.ordinals.min == entry.id
  }

  /// The destinations that somebody asked to try again, and when, since this was last asked; of entries that are new here also
  /// what was long ago.
  mutating func takeRetries() -> [String: Int64] {
    defer { retries = [:] }
    return retries
  }

  // MARK: What goes

  /// Which upload goes now; `nil` for none.
  ///
  /// - Parameters:
  ///   - now: the time.
  ///   - isOpen: whether uploads may go to a destination.
  ///   - probes: for a destination to which a probe goes now, which lanes were probed before; `nil` for others.
  /// - Complexity: O(log uploads), amortised; for a probe, in the lanes that are ready.
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
          // The clock went back, it failed since, or its batch is not full any more.
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

  /// The upload to probe a destination with.
  private func probe(_ name: String, now: Int64, _ history: ProbeHistory) -> Ready? {
    (ready[name]?.unordered ?? []).lazy.compactMap { ready -> (rank: (Int, Int, Int), ready: Ready)? in
      guard let entry = items[ready.ordinal], mayGo(entry), due(entry) <= now else { return nil }
      return (history.rank(entry), ready)
    }.min { $0.rank == $1.rank ? $0.ready < $1.ready : $0.rank < $1.rank }?.ready
  }

  /// The uploads that go together with the first of a lane: those that follow it under its order key, up to the limits of its
  /// kind. One that failed by its own goes alone.
  ///
  /// - Parameter last: the largest ordinal that may be among them.
  /// - Complexity: O(their number · log of those in the lane).
  mutating func batch(startingWith first: ScheduleEntry, through last: Int64 = .max, now: Int64) -> [ScheduleEntry] {
    guard let limits = rules.batch(first.kind), limits.maximumCount > 1, first.ownFailures == nil,
      let key = first.orderKey, var lane = lanes.removeValue(forKey: key)
    else { return [first] }
    defer { lanes[key] = lane }
    var chosen: [ScheduleEntry] = []
    var byteCount = 0
    while chosen.count < limits.maximumCount, let ordinal = lane.ordinals.min {
      guard ordinal <= last || chosen.isEmpty else { break }
      // An upload that was parked and let go again may be here twice.
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
    // An upload that was parked and let go again may be here twice.
    let later = Set(lane.ordinals.unordered.lazy.filter { $0 > entry.id && items[$0] != nil })
    return Array(later.sorted().prefix(limit))
  }

  /// An upload that may go before those that come before it under its order key, as they were tried just now: it waits for nothing
  /// but them, and for no time that the caller who enqueued it chose. `nil` if it is another one.
  func candidate(_ ordinal: Int64, now: Int64) -> ScheduleEntry? {
    guard let entry = items[ordinal], entry.state == .waiting, entry.notBefore <= now || entry.failures > 0,
      entry.expires.map({ $0 > now }) ?? true, let key = entry.orderKey, lanes[key]?.isIdle == true
    else { return nil }
    return entry
  }

  /// Whether an upload waits that somebody need not decide about: it can go now or later, without a change of its destination.
  ///
  /// - Parameter isPaused: whether a destination is paused because of its answer.
  /// - Complexity: in the uploads that cannot.
  func canGoOn(isPaused: (String) -> Bool) -> Bool {
    items.values.contains { entry in
      if entry.state == .sending { return true }
      if isPaused(rules.destination(entry.kind)) { return false }
      return entry.orderKey.flatMap { lanes[$0]?.held.isEmpty } ?? true
    }
  }

  /// The uploads that wait and whose time to live is over.
  mutating func expired(now: Int64) -> [Int64] {
    var found: [Int64] = []
    var kept: [Timed] = []
    while let first = expiring.min, first.time <= now {
      expiring.removeMin()
      // One that was parked in between stands here twice.
      guard let entry = items[first.ordinal], kept.last != first else { continue }
      // It stays until it is known to be gone: the commit may fail.
      kept.append(first)
      if entry.state == .waiting { found.append(entry.id) }
    }
    for entry in kept { expiring.insert(entry) }
    return found
  }

  /// When the next upload comes up whose time has not come, or is over; `nil` for never.
  func nextTime(after now: Int64) -> Int64? {
    var time = delayed.min?.time
    // What expired while it is being sent is asked about when that ends.
    if let expires = expiring.min?.time, expires > now { time = min(time ?? expires, expires) }
    return time
  }

  /// Uploads that wait only for the pause after an attempt that got no answer, in the order of the queue, up to `limit` of them.
  ///
  /// - Complexity: in the uploads that wait for their time.
  func unanswered(now: Int64, limit: Int) -> [Int64] {
    let found = delayed.unordered.lazy.filter { timed in
      guard timed.time > now, let entry = items[timed.ordinal], entry.notBefore == timed.time else { return false }
      return entry.isUnanswered && mayGo(entry)
    }
    return Array(Set(found.map(\.ordinal)).sorted().prefix(limit))
  }

  /// Who has uploads.
  var leases: [ScheduleEntry.Lease] { Array(leased.keys) }

  /// The uploads that somebody has.
  func ordinals(of lease: ScheduleEntry.Lease) -> [Int64] { (leased[lease] ?? []).sorted() }
}

extension Schedule {
  /// Reports each invariant that does not hold.
  ///
  /// - Complexity: in all uploads.
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

  /// Checks the invariants in debug builds, which tests are, as long as there are few uploads.
  func assertInvariants() {
    assert(
      {
        if items.count <= 200 { checkInvariants { assertionFailure($0) } }
        return true
      }())
  }
}
