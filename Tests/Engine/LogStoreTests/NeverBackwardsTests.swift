import RandomTestSupport
import Storage
import StoreTestSupport
import Synchronization
import Testing

@testable import LogStore

/// Readers that see every single change of the device while a writer works.
@Suite struct NeverBackwardsTests {
  /// What readers saw.
  private final class Watcher: Sendable {
    private struct State {
      var reader: StoreReader?
      var last: [(generation: UInt64, sequence: UInt64)] = [(0, 0), (0, 0)]
      var shown: [UInt64: Set<[[TestRow]]>] = [:]
      var reads = 0
      var steps = 0
      var failures: [String] = []
    }

    private let store: TestStore
    private let state = Mutex(State())

    init(_ store: TestStore) { self.store = store }

    /// Refreshes a reader, and opens another one.
    func read() {
      state.withLock { state in
        do {
          state.reads += 1
          let new = try store.reader()
          if state.reader == nil { state.reader = new }
          let hasMoved = try state.reader?.refresh() == true
          if hasMoved { state.steps += 1 }
          for (index, reader) in [state.reader, new].enumerated() {
            guard let snapshot = reader?.snapshot else { continue }
            let now = (generation: snapshot.generation, sequence: snapshot.sequence)
            if now < state.last[index] { state.failures.append("\(now) after \(state.last[index])") }
            if now != state.last[index] {
              state.shown[snapshot.sequence, default: []].insert(try StoreContents(snapshot).tables)
            }
            state.last[index] = now
          }
        } catch {
          state.failures.append("\(error)")
        }
      }
    }

    var reads: Int { state.withLock { $0.reads } }
    var steps: Int { state.withLock { $0.steps } }
    var failures: [String] { state.withLock { $0.failures } }
    var shown: [UInt64: Set<[[TestRow]]>] { state.withLock { $0.shown } }
  }

  @Test(arguments: [nil, 500])
  func `generation and sequence of what a reader shows never go back, and each commit shows one thing`(
    _ limit: Int?
  ) throws {
    var random = SeededGenerator(for: "NeverBackwardsTests, flush limit \(limit ?? 0)")
    var reads = 0
    var steps = 0
    for _ in 0..<3 * depth {
      let store = TestStore(flushLimit: limit)
      let watcher = Watcher(store)
      store.device.observe { watcher.read() }
      defer { store.device.observe(nil) }
      var model = StoreModel()
      model.idLimit = 20
      var expected: [UInt64: [[TestRow]]] = [:]
      var generation: [UInt64: StoreModel] = [:]
      var writer = try store.writer()
      for _ in 0..<25 {
        let rows = Int.random(in: 0...6, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1:
          _ = try writer.replace { try model.change($0, rows: rows, &random) }
          generation = [:]
        case 2, 3:
          if try writer.compact() != nil { generation = [:] }
        case 4:
          writer.close()
          writer = try store.writer()
        case 5:
          let earlier = generation.sorted { $0.key < $1.key }.randomElement(using: &random)
          guard let earlier, let old = try writer.snapshot?.snapshot(at: earlier.key) else { continue }
          _ = try writer.rollback(to: old) { transaction, _ in transaction.state = old.state }
          model = earlier.value.again(as: model.sequence + 1)
        default: _ = try writer.commit { try model.change($0, rows: rows, &random) }
        }
        guard model.sequence > 0 else { continue }
        expected[model.sequence] = model.contents.tables
        generation[model.sequence] = model
      }
      writer.close()
      try #require(watcher.failures == [])
      for (sequence, shown) in watcher.shown { try #require([expected[sequence]] == shown.map(Optional.init)) }
      reads += watcher.reads
      steps += watcher.steps
    }
    print("NeverBackwardsTests: \(reads) reads, \(steps) steps")
    #expect(steps > 40)
  }
}
