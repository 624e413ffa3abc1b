/// Which upload goes next: an image in memory of what waits or is being sent, kept up to date from commit to commit. What is
/// parked is not in it.
///
/// A *lane* is the uploads with one order key; an upload without a key has a lane of its own. Only the first of a lane may go,
/// and only if nothing of the lane is being sent. Uploads that may go stand in heaps, one for each destination; an entry
/// of a heap that has become untrue is skipped when it comes up.
///
/// Invariants: an upload is `surfaced` when it may become ready: it waits, is first in its lane, and the lane is idle; each
/// such upload stands in `delayed` or in its destination's heap.
struct Schedule {
  private struct Lane {
    var ordinals = Heap<Int64>()
    /// What is being sent, by whomever.
    var sending: Set<Int64> = []
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
  private let destination: @Sendable (String) -> String

  /// - Parameter destination: where uploads of a kind go.
  init(destination: @escaping @Sendable (String) -> String) { self.destination = destination }

  // MARK: What is there

  /// Adds an upload, or says what is now true of one. Complexity: O(log uploads), amortised.
  mutating func set(_ entry: ScheduleEntry) {
    if entry.state == .parked { return remove(entry.id) }
    let old = items.updateValue(entry, forKey: entry.id)
    if old == entry { return }
    if let time = entry.retried, time != old?.retried {
      retries[destination(entry.kind)] = max(time, retries[destination(entry.kind)] ?? time)
    }
    if let lease = old?.lease, lease != entry.lease { forget(lease, entry.id) }
    if let lease = entry.lease { leased[lease, default: []].insert(entry.id) }
    if let expires = entry.expires, old == nil { expiring.insert(Timed(time: expires, ordinal: entry.id)) }
    guard let key = entry.orderKey else {
      if entry.state == .waiting { delayed.insert(Timed(time: entry.notBefore, ordinal: entry.id)) }
      return
    }
    if old == nil { lanes[key, default: Lane()].ordinals.insert(entry.id) }
    if entry.state == .sending { lanes[key]?.sending.insert(entry.id) } else { lanes[key]?.sending.remove(entry.id) }
    surface(key)
  }

  /// Forgets an upload. Complexity: O(log uploads), amortised.
  mutating func remove(_ ordinal: Int64) {
    guard let old = items.removeValue(forKey: ordinal) else { return }
    if let lease = old.lease { forget(lease, ordinal) }
    guard let key = old.orderKey else { return }
    lanes[key]?.sending.remove(ordinal)
    surface(key)
  }

  private mutating func forget(_ lease: ScheduleEntry.Lease, _ ordinal: Int64) {
    leased[lease]?.remove(ordinal)
    if leased[lease]?.isEmpty == true { leased[lease] = nil }
  }

  /// Makes the first of a lane a candidate.
  private mutating func surface(_ key: String) {
    guard var lane = lanes.removeValue(forKey: key) else { return }
    while let first = lane.ordinals.first, items[first] == nil { lane.ordinals.removeFirst() }
    guard let first = lane.ordinals.first else { return }
    if lane.sending.isEmpty, let entry = items[first] {
      delayed.insert(Timed(time: entry.notBefore, ordinal: first))
    }
    lanes[key] = lane
  }

  /// Whether an upload may go, but for its time.
  private func mayGo(_ entry: ScheduleEntry) -> Bool {
    guard entry.state == .waiting else { return false }
    guard let key = entry.orderKey, let lane = lanes[key] else { return true }
    return lane.sending.isEmpty && lane.ordinals.first == entry.id
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
  mutating func next(now: Int64, isOpen: (String) -> Bool) -> ScheduleEntry? {
    while let first = delayed.first, first.time <= now {
      delayed.removeFirst()
      guard let entry = items[first.ordinal], entry.notBefore == first.time, mayGo(entry) else { continue }
      ready[destination(entry.kind), default: Heap()].insert(Ready(priority: entry.priority, ordinal: entry.id))
    }
    var best: Ready?
    for name in Array(ready.keys) where isOpen(name) {
      while let first = ready[name]?.first {
        if let entry = items[first.ordinal], mayGo(entry) {
          if entry.notBefore <= now { break }
          // The clock went back, or it failed since.
          delayed.insert(Timed(time: entry.notBefore, ordinal: entry.id))
        }
        ready[name]?.removeFirst()
      }
      guard let first = ready[name]?.first else {
        ready[name] = nil
        continue
      }
      if best.map({ first < $0 }) ?? true { best = first }
    }
    return best.flatMap { items[$0.ordinal] }
  }

  /// The uploads that wait and whose time to live is over.
  mutating func expired(now: Int64) -> [Int64] {
    var found: [Int64] = []
    var kept: [Timed] = []
    while let first = expiring.first, first.time <= now {
      expiring.removeFirst()
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
    var time = delayed.first?.time
    // What expired while it is being sent is asked about when that ends.
    if let expires = expiring.first?.time, expires > now { time = min(time ?? expires, expires) }
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
