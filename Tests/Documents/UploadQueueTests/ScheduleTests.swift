import RandomTestSupport
import Testing

@testable import UploadQueue

@Suite struct ScheduleTests {
  private static func entry(_ ordinal: Int64, _ random: inout SeededGenerator) -> ScheduleEntry {
    ScheduleEntry(
      id: ordinal, upload: UploadID(tick: UInt64(ordinal), random: 0), kind: ["a", "b"].randomElement(using: &random)!,
      priority: UploadPriority.allCases.randomElement(using: &random)!,
      orderKey: ["x", "y", "z", nil].randomElement(using: &random)!, replaceKey: nil, created: 0,
      notBefore: Int64.random(in: 0..<50, using: &random),
      expires: Bool.random(using: &random) ? Int64.random(in: 0..<200, using: &random) : nil, byteCount: 1)
  }

  /// What goes next, by looking at everything.
  private static func next(_ entries: [Int64: ScheduleEntry], now: Int64, isOpen: (String) -> Bool) -> ScheduleEntry? {
    let live = entries.values.filter { $0.state != .parked }
    return live.filter { entry in
      guard entry.state == .waiting, entry.earliest ?? 0 <= now, isOpen(entry.kind) else { return false }
      guard let key = entry.orderKey else { return true }
      return live.allSatisfy { other in
        other.orderKey != key || (other.state == .waiting && other.id >= entry.id)
      }
    }.min { (b: ScheduleEntry, a: ScheduleEntry) in (a.priority, b.id) < (b.priority, a.id) }
  }

  @Test func `the schedule says what a look at everything says`() throws {
    var random = SeededGenerator(for: "ScheduleTests")
    for round in 0..<(60 * depth) {
      var schedule = DueQueue(ScheduleRules(destination: { $0 }))
      var model: [Int64: ScheduleEntry] = [:]
      var now: Int64 = 0
      var last: Int64 = 0
      for step in 0..<250 {
        schedule.checkInvariants { Issue.record("round \(round), step \(step): \($0)") }
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3:
          last += 1
          let entry = Self.entry(last, &random)
          model[last] = entry
          schedule.set(entry, now: QueueTime(now))
        case 3: now = max(0, now + Int64.random(in: -3..<12, using: &random))
        case 4:
          // Parked, or let go again.
          if var entry = model.values.sorted(by: { $0.id < $1.id }).randomElement(using: &random) {
            entry.state = entry.state == .parked ? .waiting : .parked
            entry.lease = nil
            model[entry.id] = entry
            schedule.set(entry, now: QueueTime(now))
          }
        case 5:
          if let ordinal = model.keys.sorted().randomElement(using: &random) {
            model[ordinal] = nil
            schedule.remove(ordinal)
          }
        case 6, 7:
          // What was sent comes back, or arrived.
          let sending = model.values.filter { $0.state == .sending }.sorted { $0.id < $1.id }
          if var entry = sending.randomElement(using: &random) {
            if Bool.random(using: &random) {
              model[entry.id] = nil
              schedule.remove(entry.id)
            } else {
              entry.state = .waiting
              entry.lease = nil
              entry.begin(pause: Int64.random(in: 0..<20, using: &random), now: now)
              model[entry.id] = entry
              schedule.set(entry, now: QueueTime(now))
            }
          }
        default:
          let open = Set(["a", "b"].filter { _ in Int.random(in: 0..<4, using: &random) > 0 })
          let next = schedule.next(now: QueueTime(now)) { open.contains($0) }
          let expected = Self.next(model, now: now) { open.contains($0) }
          try #require(next == expected, "round \(round), step \(step)")
          if let next, Bool.random(using: &random) {
            let claimed = next.claimed(by: .init(slot: Int.random(in: 0..<2, using: &random), holder: 7))
            model[next.id] = claimed
            schedule.set(claimed, now: QueueTime(now))
          }
        }
        let expired = model.values.filter { $0.state == .waiting && ($0.expires ?? .max) <= now }.map(\.id).sorted()
        try #require(schedule.expired(now: QueueTime(now)).sorted() == expired, "round \(round), step \(step)")
        for slot in 0..<2 {
          let lease = ScheduleEntry.Lease(slot: slot, holder: 7)
          let held = model.values.filter { $0.lease == lease }.map(\.id).sorted()
          try #require(schedule.ordinals(of: lease) == held)
        }
        // Whoever sleeps until the next time misses nothing.
        if Self.next(model, now: now, isOpen: { _ in true }) == nil,
          schedule.next(now: QueueTime(now), isOpen: { _ in true }) == nil
        {
          let later = schedule.nextTime(after: QueueTime(now)) ?? .max
          if later > now + 1, later < .max {
            try #require(Self.next(model, now: later - 1, isOpen: { _ in true }) == nil, "round \(round), step \(step)")
          }
        }
      }
    }
  }
}
