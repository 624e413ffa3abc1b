import Bytes
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Loss of power after each single change of the device.
///
/// A workload records which commit was reported, and which is on its way. Whatever the crash leaves of
/// what was not synced, the next start has to find one of these two states, whole; and so it is with a crash during
/// that start, and during the one behind it.
@Suite struct CrashTests {
  /// Operations of a workload, each of which leaves one state.
  private enum Step {
    case commit(rows: Int)
    case replace(rows: Int)
    case compact
    case reopen
    /// Back to the commit so many before the last, if this generation has it.
    case rollback(Int)

    static func random(_ random: inout SeededGenerator) -> Step {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: .replace(rows: Int.random(in: 0...12, using: &random))
      case 1: .compact
      case 2: .reopen
      case 3, 4: .rollback(Int.random(in: 0...3, using: &random))
      default: .commit(rows: Int.random(in: 0...9, using: &random))
      }
    }
  }

  private static let steps: [Step] = [
    .commit(rows: 6), .commit(rows: 1), .commit(rows: 40), .reopen, .commit(rows: 3), .rollback(2), .commit(rows: 90),
    .compact, .commit(rows: 8), .commit(rows: 2), .rollback(1), .replace(rows: 30), .commit(rows: 60), .commit(rows: 1),
    .reopen, .commit(rows: 5), .rollback(3), .replace(rows: 2), .commit(rows: 5),
  ]

  /// Runs a workload from a store that does not exist yet.
  private static func record(
    _ steps: [Step], flushLimit: Int?, _ random: inout SeededGenerator
  ) throws -> CrashRecording<StoreContents> {
    let store = TestStore(SimulatedDevice(), flushLimit: flushLimit, seed: random.next())
    let recording = CrashRecording(store.device, showing: StoreContents())
    var model = StoreModel()
    model.idLimit = 60
    var history: [UInt64: StoreModel] = [:]
    var writer = try store.writer()
    for step in steps {
      try recording.step {
        switch step {
        case .commit(let rows): _ = try writer.commit { try model.change($0, rows: rows, &random) }
        case .replace(let rows):
          _ = try writer.replace { try model.change($0, rows: rows, &random) }
          history = [:]
        case .compact:
          if try writer.compact() != nil { history = [:] }
        case .reopen:
          writer.close()
          writer = try store.writer()
        case .rollback(let distance):
          let sequence = model.sequence &- UInt64(distance)
          guard let earlier = history[sequence], let last = writer.snapshot else { break }
          let old = try #require(try last.snapshot(at: sequence))
          _ = try writer.rollback(to: old) { transaction, _ in transaction.state = old.state }
          model = earlier.again(as: model.sequence + 1)
        }
        if model.sequence > 0 { history[model.sequence] = model }
        return model.contents
      }
    }
    try #require(try StoreContents(#require(writer.snapshot)) == recording.reported)
    writer.close()
    return recording
  }

  /// Opens what a crash left, makes one more commit, and checks that all is in order.
  static func goOn(_ recording: CrashRecording<StoreContents>, flushLimit: Int?) throws {
    let store = TestStore(recording.device, flushLimit: flushLimit)
    // Whoever verifies before anybody writes finds no damage: a crash does none.
    let left = try Verification.run(store.location)?.findings ?? []
    guard left.isEmpty else { throw Oddity(what: "a crash is called damage: \(left)") }
    var writer: StoreWriter?
    try recording.step {
      let opened = try store.writer()
      writer = opened
      return try opened.snapshot.map { try StoreContents($0) } ?? StoreContents()
    }
    guard let writer else { return }
    guard !store.device.names.contains("s.new") else { throw Oddity(what: "an unfinished generation remains") }
    try recording.step {
      let row = TestRow("after", "crash \(recording.reported.sequence)")
      var next = recording.reported
      next.sequence += 1
      next.tables[0].removeAll { $0.keys[0] == row.keys[0] }
      next.tables[0] = (next.tables[0] + [row]).sorted()
      let shown = try StoreContents(try writer.commit { try $0.put(0, row) })
      guard shown == next else { throw Oddity(what: "the next commit shows \(shown)") }
      return next
    }
    let findings = try Verification.run(store.location)?.findings ?? []
    guard findings.isEmpty else { throw Oddity(what: "\(findings)") }
    writer.close()
  }

  @Test(arguments: [nil, 700])
  func `after a crash at any point the store is in a state that was reported or on its way`(_ limit: Int?)
    throws
  {
    var random = SeededGenerator(for: "CrashTests, flush limit \(limit ?? 0)")
    var explorer = CrashExplorer<StoreContents>(
      samples: depth == 1 ? [3, 1] : [10, 2, 1],
      show: { device in try TestStore(device).reader().map { try StoreContents($0.snapshot) } ?? StoreContents() },
      goOn: { try Self.goOn($0, flushLimit: limit) })
    for number in 0..<depth {
      let steps = number == 0 ? Self.steps : (0..<12).map { _ in Step.random(&random) }
      try explorer.explore(Self.record(steps, flushLimit: limit, &random), &random)
    }
    print(
      "CrashTests: \(explorer.points) points, \(explorer.crashes) crashes, \(explorer.distinctStates) distinct states")
  }

  @Test func `a reader's snapshot stays as it is when the writer dies, whatever it was doing`() throws {
    var random = SeededGenerator(for: "CrashTests, readers")
    let before = TestStore()
    var model = StoreModel()
    model.idLimit = 30
    let writer = try before.writer()
    for _ in 0..<3 { _ = try writer.commit { try model.change($0, rows: 12, &random) } }
    writer.close()
    let acts: [(StoreWriter) throws -> Void] = [
      { writer in _ = try writer.commit { try $0.put("next", "1") } },
      { writer in _ = try writer.replace { try $0.put("other", "1") } },
      { writer in _ = try writer.compact() },
      { writer in
        let first = try #require(try writer.snapshot?.snapshot(at: 1))
        _ = try writer.rollback(to: first) { _, _ in }
      },
    ]
    for (number, act) in acts.enumerated() {
      for limit in [nil, 200] {
        var isDone = false
        var changes = 0
        while !isDone {
          let store = TestStore(SimulatedDevice(before.device.image), flushLimit: limit)
          let reader = try #require(try store.reader())
          let snapshot = reader.snapshot
          store.device.stop(after: changes)
          do {
            let writer = try store.writer()
            try act(writer)
            isDone = store.device.operations < changes
          } catch is StoreError {
          }
          #expect(try StoreContents(snapshot) == model.contents, "act \(number), \(changes) changes")
          try reader.refresh()
          let sequence = reader.snapshot.sequence
          #expect((3...4).contains(sequence))
          if sequence == 3 { #expect(try StoreContents(reader.snapshot).tables == model.contents.tables) }
          changes += 1
        }
        #expect(changes > 3)
      }
    }
  }
}

/// Something that is not as it should be.
struct Oddity: Error, CustomStringConvertible {
  let what: String
  var description: String { what }
}
