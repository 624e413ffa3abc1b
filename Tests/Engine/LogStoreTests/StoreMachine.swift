import RandomTestSupport
import Storage
import StoreTestSupport

@testable import LogStore

/// A store on a device that may fail at any time, beside plain collections that say what it should hold.
///
/// After an operation that failed, the store may hold what was there before or what was on its way; whoever opens it
/// next finds out which, and from then on it is that.
struct StoreMachine {
  var store: TestStore
  var writer: StoreWriter?
  var reader: StoreReader?
  var model = StoreModel()
  /// The commits of this generation.
  var history: [UInt64: StoreModel] = [:]
  /// Old snapshots, and what they showed when they were new.
  private var held: [(snapshot: Snapshot, contents: StoreContents)] = []
  let flushLimit: Int?
  /// Whether the generation is that of a repair, which leaves out ordered indexes.
  var isRepaired = false

  init(flushLimit: Int?) {
    self.flushLimit = flushLimit
    store = TestStore(flushLimit: flushLimit)
    model.idLimit = 14
  }

  /// Runs operations one after another. Returns what went wrong first.
  static func run(_ operations: [StoreOperation], flushLimit: Int?) -> String? {
    var machine = StoreMachine(flushLimit: flushLimit)
    for (number, operation) in operations.enumerated() {
      do { try machine.perform(operation) } catch { return "operation \(number), \(operation): \(error)" }
    }
    do { try machine.finish() } catch { return "at the end: \(error)" }
    return nil
  }

  mutating func perform(_ operation: StoreOperation) throws {
    var random = SeededGenerator(seed: operation.seed)
    switch operation.kind {
    case .commit, .replace, .compact, .rollback:
      try change(operation.kind, &random)
      try compare(StoreContents(writer?.snapshot))
    case .reopen:
      close()
      try open()
    case .hold:
      guard let snapshot = writer?.snapshot else { return }
      held.append((snapshot, model.contents))
      if held.count > 4 { held.removeFirst() }
    case .look:
      for (snapshot, contents) in held where try StoreContents(snapshot) != contents {
        throw Oddity(what: "a snapshot of commit \(contents.sequence) has changed")
      }
    case .refresh:
      if reader == nil { reader = try store.reader() }
      try refresh()
      try compare(StoreContents(reader?.snapshot))
    case .openAt:
      guard let (sequence, earlier) = pick(&random), let old = try writer?.snapshot?.snapshot(at: sequence) else {
        return
      }
      if try StoreContents(old) != earlier.contents { throw Oddity(what: "commit \(sequence) is another one") }
    case .crash: try crash(&random)
    case .fault: try fault(&random)
    case .fill: try fill(&random)
    case .damage: try damage(&random)
    }
  }

  mutating func finish() throws {
    close()
    if let findings = try Verification.run(store.location)?.findings, !findings.isEmpty {
      throw Oddity(what: "\(findings)")
    }
    try open()
    try compare(StoreContents(writer?.snapshot))
    close()
  }

  // MARK: Changes

  mutating func change(_ kind: StoreOperation.Kind, _ random: inout SeededGenerator) throws {
    if writer == nil { try open() }
    guard let writer else { return }
    var next = model
    var startsGeneration = false
    defer {
      if startsGeneration { history = [:] }
      if next.sequence > 0 { history[next.sequence] = next }
    }
    do {
      switch kind {
      case .commit:
        let rows = Int.random(in: 0...5, using: &random)
        _ = try writer.commit { try next.change($0, rows: rows, &random) }
      case .replace:
        let rows = Int.random(in: 0...12, using: &random)
        _ = try writer.replace(keepsPrevious: rows % 2 == 0) { try next.change($0, rows: rows, &random) }
        startsGeneration = true
      case .compact: startsGeneration = try writer.compact() != nil
      default:
        guard let (sequence, earlier) = pick(&random), let old = try writer.snapshot?.snapshot(at: sequence) else {
          return
        }
        next = earlier.again(as: model.sequence + 1)
        _ = try writer.rollback(to: old) { transaction, _ in transaction.state = old.state }
      }
      model = next
      if startsGeneration { isRepaired = false }
      try checkOrderedIndexes(writer.snapshot)
    } catch {
      // What was on its way the caller has to reckon with.
      let wanted = next
      next = model
      throw Interrupted(wanted: kind == .compact ? model : wanted, cause: error)
    }
  }

  /// Checks that a store has its ordered indexes, whose contents are compared with the rest. Only a repair leaves them
  /// out.
  func checkOrderedIndexes(_ snapshot: Snapshot?) throws {
    guard let snapshot, !isRepaired else { return }
    let found = [snapshot.orderedIndexes(of: 0), snapshot.orderedIndexes(of: 1)]
    if found != [["code", "words"], ["ends"]] { throw Oddity(what: "its ordered indexes are \(found)") }
  }

  /// An operation that did not come to its end.
  struct Interrupted: Error {
    var wanted: StoreModel
    var cause: any Error
  }

  func pick(_ random: inout SeededGenerator) -> (UInt64, StoreModel)? {
    history.sorted { $0.key < $1.key }.randomElement(using: &random).map { ($0.key, $0.value) }
  }

  static func changing(_ random: inout SeededGenerator) -> StoreOperation.Kind {
    let kinds: [StoreOperation.Kind] = [.commit, .commit, .commit, .replace, .compact, .rollback]
    return kinds.randomElement(using: &random)!
  }

  // MARK: Opening and comparing

  mutating func open() throws {
    let opened = try store.writer()
    writer = opened
    try compare(StoreContents(opened.snapshot))
    if store.device.names.contains("s.new") { throw Oddity(what: "an unfinished generation remains") }
  }

  mutating func close() {
    writer?.close()
    writer = nil
  }

  func refresh() throws {
    guard let reader else { return }
    let old = reader.snapshot
    try reader.refresh()
    let new = reader.snapshot
    if (new.generation, new.sequence) < (old.generation, old.sequence) { throw Oddity(what: "a reader went back") }
  }

  func compare(_ found: StoreContents) throws {
    if found != model.contents { throw Oddity(what: "it shows \(found), and should show \(model.contents)") }
  }
}

extension StoreContents {
  /// What a store shows that may have no commit yet.
  init(_ snapshot: Snapshot?) throws {
    if let snapshot { try self.init(snapshot) } else { self.init() }
  }
}
