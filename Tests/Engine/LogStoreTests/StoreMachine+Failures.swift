import RandomTestSupport
import Storage
import StoreTestSupport

@testable import LogStore

extension StoreMachine {
  /// Power fails after some changes of an operation, and again during the recovery.
  mutating func crash(_ random: inout SeededGenerator) throws {
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

  mutating func restart(
    _ disk: SimulatedDisk, _ wanted: StoreModel?, _ random: inout SeededGenerator
  ) throws {
    reader = nil
    store = TestStore(
      SimulatedDevice(disk.crashed(.random(&random), &random)), flushLimit: flushLimit, seed: random.next())
    try settle(wanted)
  }

  /// Finds out whether what was on its way has arrived.
  mutating func settle(_ wanted: StoreModel?) throws {
    let found = try StoreContents(store.reader()?.snapshot)
    if let wanted, found != model.contents, found == wanted.contents { model = wanted }
    try compare(found)
    try learnHistory()
  }

  /// Which commits the generation has that is there now.
  mutating func learnHistory() throws {
    let sequences = Set(try store.reader()?.snapshot.history().map(\.sequence) ?? [])
    history = history.filter { sequences.contains($0.key) }
    if model.sequence > 0 { history[model.sequence] = model }
  }

  /// A call fails during an operation; then the store is opened again.
  mutating func fault(_ random: inout SeededGenerator) throws {
    let call: DeviceCall? = Bool.random(using: &random) ? nil : DeviceCall.allCases.randomElement(using: &random)
    let code: Int32 = [5, 28, 24, 13, 12].randomElement(using: &random)!
    let written = [0, 0.3, 0.9].randomElement(using: &random)!
    store.device.fail(call, Int.random(in: 1...20, using: &random), DeviceFault(code, written: written))
    try endure(&random)
  }

  /// The device has little room during an operation.
  mutating func fill(_ random: inout SeededGenerator) throws {
    store.device.limit(to: store.device.byteCount + Int.random(in: 0...30_000, using: &random))
    try endure(&random)
  }

  /// Does something while the device is not at its best.
  mutating func endure(_ random: inout SeededGenerator) throws {
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
  mutating func damage(_ random: inout SeededGenerator) throws {
    close()
    reader = nil
    guard !store.log.isEmpty else { return try open() }
    var log = store.log
    let offset = Int.random(in: 0..<log.count, using: &random)
    log[offset] ^= UInt8.random(in: 1...255, using: &random)
    let device = SimulatedDevice(DiskImage(["s.log": log]))
    store = TestStore(device, flushLimit: flushLimit, seed: random.next())
    let repair = try Repair.run(store.location, schema: TestSchema.schema)
    let found = try StoreContents(store.reader()?.snapshot)
    if let repair, repair.snapshot != nil {
      isRepaired = true
      let before = model.contents
      for table in found.tables.indices {
        for row in found.tables[table] where !before.tables[table].contains(row) {
          throw Oddity(what: "byte \(offset): repair invents \(row)")
        }
      }
      let isWhole = found.tables == before.tables && found.state == before.state
      if !isWhole, repair.losses.isEmpty { throw Oddity(what: "byte \(offset): a loss is not reported") }
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
}
