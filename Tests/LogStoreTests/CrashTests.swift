import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Loss of power after each single change of the device.
///
/// A workload notes what it was told: which commit was reported, and which is on its way. Whatever the crash leaves of
/// what was not synced, the next start has to find one of these two states, whole.
@Suite struct CrashTests {
  /// Operations of the workload, each of which leaves one state.
  private enum Step {
    case commit(rows: Int)
    case replace(rows: Int)
    case compact
    case reopen
  }

  private static let steps: [Step] = [
    .commit(rows: 6), .commit(rows: 1), .commit(rows: 40), .reopen, .commit(rows: 3), .commit(rows: 90),
    .compact,
    .commit(rows: 8), .commit(rows: 2), .replace(rows: 30), .commit(rows: 60), .commit(rows: 1), .reopen,
    .commit(rows: 5), .replace(rows: 2), .commit(rows: 5),
  ]

  /// What a run of the workload was told before power failed.
  private struct Run {
    var store: TestStore
    /// The state that was reported last, and the one that was on its way.
    var allowed: [StoreContents]
    var isComplete: Bool
  }

  /// Runs the workload until the device stops after `limit` changes.
  private func run(until limit: Int, flushLimit: Int?, seed: UInt64) -> Run {
    let store = TestStore(flushLimit: flushLimit)
    store.device.stop(after: limit)
    var random = SeededGenerator(seed: seed)
    var model = StoreModel()
    model.idLimit = 60
    var reported = StoreContents()
    do {
      var writer = try store.writer()
      for step in Self.steps {
        var next = model
        do {
          switch step {
          case .commit(let rows): _ = try writer.commit { try next.change($0, rows: rows, &random) }
          case .replace(let rows): _ = try writer.replace { try next.change($0, rows: rows, &random) }
          case .compact: _ = try writer.compact()
          case .reopen:
            writer.close()
            writer = try store.writer()
          }
        } catch {
          return Run(store: store, allowed: [reported, next.contents], isComplete: false)
        }
        model = next
        reported = model.contents
        // A slot that could not be written ends the writer without an error.
        if limit <= store.device.operations {
          return Run(store: store, allowed: [reported], isComplete: false)
        }
      }
      return Run(store: store, allowed: [reported], isComplete: true)
    } catch {
      return Run(store: store, allowed: [reported], isComplete: false)
    }
  }

  /// What a reader shows, or an empty store.
  private func contents(_ store: TestStore) throws -> StoreContents {
    try store.reader().map { try StoreContents($0.snapshot) } ?? StoreContents()
  }

  @Test(arguments: [nil, 700])
  func `after a crash at any point the store is in a state that was reported or on its way`(_ limit: Int?)
    throws
  {
    var random = SeededGenerator(for: "CrashTests, flush limit \(limit ?? 0)")
    let seed = random.next()
    let whole = run(until: .max, flushLimit: limit, seed: seed)
    #expect(whole.isComplete)
    var states = 0
    for point in 0..<whole.store.device.operations {
      let run = run(until: point, flushLimit: limit, seed: seed)
      for _ in 0..<(2 * depth) {
        states += try recover(run, point, limit, &random)
      }
    }
    print("CrashTests: \(whole.store.device.operations) points, \(states) crash states")
  }

  /// Crashes, recovers, and crashes again during the recovery. Returns how many crashes that were.
  private func recover(
    _ run: Run, _ point: Int, _ limit: Int?, _ random: inout SeededGenerator
  ) throws -> Int {
    let survival = SimulatedDevice.Survival.random(&random)
    let device = run.store.device.crashed(survival, &random)
    let note: Comment = "crash after \(point) changes, \(survival)"
    let crashed = TestStore(device, flushLimit: limit)
    let shown = try contents(crashed)
    try #require(run.allowed.contains(shown), note)
    // Power fails again, at some point of the recovery and of a commit behind it.
    device.stop(after: Int.random(in: 0...6, using: &random))
    var allowed = [shown]
    do {
      let writer = try crashed.writer()
      var next = shown
      next.sequence += 1
      let row = TestRow("after", "crash")
      next.tables[0].removeAll { $0.keys[0] == row.keys[0] }
      next.tables[0] = (next.tables[0] + [row]).sorted()
      try #require((try writer.snapshot.map { try StoreContents($0) } ?? StoreContents()) == shown, note)
      allowed = [shown, next]
      _ = try writer.commit { try $0.put(0, row) }
      allowed = [next]
    } catch is StoreError {
    }
    let again = TestStore(device.crashed(.random(&random), &random), flushLimit: limit)
    try #require(allowed.contains(try contents(again)), note)
    let writer = try again.writer()
    let found = try writer.snapshot.map { try StoreContents($0) } ?? StoreContents()
    try #require(allowed.contains(found), note)
    #expect(!again.device.names.contains("s.new"))
    _ = try StoreContents(try writer.commit { try $0.put("last") })
    if let verification = try Verification.run(again.location) {
      try #require(
        verification.findings.allSatisfy { $0.what == "acknowledgement slot" }, "\(verification.findings)")
    }
    return 2
  }
}
