import RandomTestSupport
import Storage
import StoreTestSupport

@testable import LogStore

/// One operation of a model test. Each carries its own seed, so that it does the same whatever is left out before it.
struct StoreOperation: CustomStringConvertible, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case commit, replace, compact, rollback, reopen
    case hold, look, refresh, openAt
    case crash, fault, fill, damage
  }

  let kind: Kind
  let seed: UInt64

  init(_ random: inout SeededGenerator) {
    kind =
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<38: .commit
      case 38..<42: .replace
      case 42..<47: .compact
      case 47..<54: .rollback
      case 54..<57: .reopen
      case 57..<63: .hold
      case 63..<68: .look
      case 68..<76: .refresh
      case 76..<80: .openAt
      case 80..<86: .crash
      case 86..<95: .fault
      case 95..<98: .fill
      default: .damage
      }
    seed = random.next() % 1_000_000
  }

  var description: String { "\(kind.rawValue) \(seed)" }
}

/// A store on a device that may fail at any time, beside plain collections that say what it should hold.
///
/// After an operation that failed, the store may hold what was there before or what was on its way; whoever opens it
/// next finds out which, and from then on it is that.
struct StoreMachine {
  private var store: TestStore
  private var writer: StoreWriter?
  private var reader: StoreReader?
  private var model = StoreModel()
  /// The commits of this generation.
  private var history: [UInt64: StoreModel] = [:]
  /// Old snapshots, and what they showed when they were new.
  private var held: [(snapshot: Snapshot, contents: StoreContents)] = []
  private let flushLimit: Int?
  private(set) var counts: [StoreOperation.Kind: Int] = [:]

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

  private mutating func perform(_ operation: StoreOperation) throws {
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
      guard let (sequence, earlier) = pick(&random), let old = try writer?.snapshot?.snapshot(at: sequence) else { return }
      if try StoreContents(old) != earlier.contents { throw Oddity(what: "commit \(sequence) is another one") }
    case .crash: try crash(&random)
    case .fault: try fault(&random)
    case .fill: try fill(&random)
    case .damage: try damage(&random)
    }
  }

  private mutating func finish() throws {
    close()
    if let findings = try Verification.run(store.location)?.findings, !findings.isEmpty {
      throw Oddity(what: "\(findings)")
    }
    try open()
    try compare(StoreContents(writer?.snapshot))
    close()
  }

  // MARK: Changes

  private mutating func change(_ kind: StoreOperation.Kind, _ random: inout SeededGenerator) throws {
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
    } catch {
      // What was on its way the caller has to reckon with.
      let wanted = next
      next = model
      throw Interrupted(wanted: kind == .compact ? model : wanted, cause: error)
    }
  }

  /// An operation that did not come to its end.
  private struct Interrupted: Error {
    var wanted: StoreModel
    var cause: any Error
  }

  private func pick(_ random: inout SeededGenerator) -> (UInt64, StoreModel)? {
    history.sorted { $0.key < $1.key }.randomElement(using: &random).map { ($0.key, $0.value) }
  }

  private static func changing(_ random: inout SeededGenerator) -> StoreOperation.Kind {
    let kinds: [StoreOperation.Kind] = [.commit, .commit, .commit, .replace, .compact, .rollback]
    return kinds.randomElement(using: &random)!
  }

  // MARK: Failures

  /// Power fails after some changes of an operation, and again during the recovery.
  private mutating func crash(_ random: inout SeededGenerator) throws {
    store.device.stop(after: store.device.operations + Int.random(in: 0...14, using: &random))
    var wanted: StoreModel?
    do { try change(Self.changing(&random), &random) } catch let error as Interrupted {
      wanted = error.wanted
    } catch is StoreError {
    }
    writer = nil
    try restart(store.device.disk, wanted, &random)
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      store.device.stop(after: Int.random(in: 0...5, using: &random))
      writer = try? store.writer()
      writer = nil
      try restart(store.device.disk, nil, &random)
    }
    try open()
  }

  private mutating func restart(
    _ disk: SimulatedDisk, _ wanted: StoreModel?, _ random: inout SeededGenerator
  ) throws {
    reader = nil
    store = TestStore(SimulatedDevice(disk.crashed(.random(&random), &random)), flushLimit: flushLimit, seed: random.next())
    try settle(wanted)
  }

  /// Finds out whether what was on its way has arrived.
  private mutating func settle(_ wanted: StoreModel?) throws {
    let found = try StoreContents(store.reader()?.snapshot)
    if let wanted, found != model.contents, found == wanted.contents { model = wanted }
    try compare(found)
    try learnHistory()
  }

  /// Which commits the generation has that is there now.
  private mutating func learnHistory() throws {
    let known = Set(try store.reader()?.snapshot.history().map(\.sequence) ?? [])
    history = history.filter { known.contains($0.key) }
    if model.sequence > 0 { history[model.sequence] = model }
  }

  /// A call fails during an operation; then the store is opened again.
  private mutating func fault(_ random: inout SeededGenerator) throws {
    let call: DeviceCall? = Bool.random(using: &random) ? nil : DeviceCall.allCases.randomElement(using: &random)
    let code: Int32 = [5, 28, 24, 13, 12].randomElement(using: &random)!
    let written = [0, 0.3, 0.9].randomElement(using: &random)!
    store.device.fail(call, Int.random(in: 1...20, using: &random), DeviceFault(code, written: written))
    try endure(&random)
  }

  /// The device has little room during an operation.
  private mutating func fill(_ random: inout SeededGenerator) throws {
    store.device.limit(to: store.device.byteCount + Int.random(in: 0...30_000, using: &random))
    try endure(&random)
  }

  /// Does something while the device is not at its best.
  private mutating func endure(_ random: inout SeededGenerator) throws {
    if Int.random(in: 0..<3, using: &random) == 0 { close() }
    var wanted: StoreModel?
    do { try change(Self.changing(&random), &random) } catch let error as Interrupted {
      guard let cause = error.cause as? StoreError else { throw error.cause }
      if !"\(cause)".contains("/simulated") { throw Oddity(what: "\(cause) names no file") }
      wanted = error.wanted
    } catch is StoreError {
    }
    close()
    store.device.failNoMore()
    store.device.limit(to: 1 << 50)
    try settle(wanted)
    try open()
    try refresh()
  }

  /// A byte rots. Whatever the store says then, repair loses no more than it has to, and says so.
  private mutating func damage(_ random: inout SeededGenerator) throws {
    close()
    reader = nil
    guard !store.log.isEmpty else { return try open() }
    var log = store.log
    let offset = Int.random(in: 0..<log.count, using: &random)
    log[offset] ^= UInt8.random(in: 1...255, using: &random)
    var image = store.device.image
    for name in image.names.keys where name != "s.log" { image.names[name] = nil }
    image = DiskImage(["s.log": log])
    store = TestStore(SimulatedDevice(image), flushLimit: flushLimit, seed: random.next())
    let repair = try Repair.run(store.location, schema: TestSchema.schema)
    let found = try StoreContents(store.reader()?.snapshot)
    if let repair, repair.snapshot != nil {
      let before = model.contents
      for table in found.tables.indices {
        for row in found.tables[table] where !before.tables[table].contains(row) {
          throw Oddity(what: "byte \(offset): repair invents \(row)")
        }
      }
      let isWhole = found.tables == before.tables && found.state == before.state
      if isWhole != repair.losses.isEmpty { throw Oddity(what: "byte \(offset): losses \(repair.losses)") }
      guard let damaged = store.device.contents("s.damaged-1"), damaged == log else {
        throw Oddity(what: "byte \(offset): the damaged log is gone")
      }
      // Whatever was lost, from here on it is as if nothing had happened to the rest.
      model = model.keeping(found)
      history = [model.sequence: model]
    }
    try compare(found)
    try open()
  }

  // MARK: Opening and comparing

  private mutating func open() throws {
    let opened = try store.writer()
    writer = opened
    try compare(StoreContents(opened.snapshot))
    if store.device.names.contains("s.new") { throw Oddity(what: "an unfinished generation remains") }
  }

  private mutating func close() {
    writer?.close()
    writer = nil
  }

  private func refresh() throws {
    guard let reader else { return }
    let old = reader.snapshot
    try reader.refresh()
    let new = reader.snapshot
    if (new.generation, new.sequence) < (old.generation, old.sequence) { throw Oddity(what: "a reader went back") }
  }

  private func compare(_ found: StoreContents) throws {
    if found != model.contents { throw Oddity(what: "it shows \(found), and should show \(model.contents)") }
  }
}

extension StoreContents {
  /// What a store shows that may have no commit yet.
  init(_ snapshot: Snapshot?) throws {
    if let snapshot { try self.init(snapshot) } else { self.init() }
  }
}
