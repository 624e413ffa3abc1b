import RandomTestSupport
import Storage
import StoreTestSupport
import Synchronization

@testable import LogStore

/// One thing that is done to a store, from opening it to closing it: what faults, full disks and crashes are tried on.
struct Scenario: Sendable {
  /// What whoever opens the store finds.
  enum Shown: Hashable {
    case contents(StoreContents)
    /// The log of the scenario's beginning, which is damaged, byte for byte.
    case damaged
  }

  let name: String
  /// The disk at the beginning.
  let image: DiskImage
  let flushLimit: Int?
  /// What is shown at the beginning, and when all went well.
  let before: Shown
  let after: Shown
  private let act: @Sendable (TestStore) throws -> StoreContents
  /// The calls of a run without faults.
  let calls: [DeviceCall]
  /// Bytes on the device at the beginning, and at most.
  let byteCounts: ClosedRange<Int>

  init(
    _ name: String, _ image: DiskImage, flushLimit: Int? = nil, isDamaged: Bool = false,
    _ act: @escaping @Sendable (TestStore) throws -> StoreContents
  ) throws {
    self.name = name
    self.image = image
    self.flushLimit = flushLimit
    self.act = act
    let store = TestStore(SimulatedDevice(image), flushLimit: flushLimit)
    before = isDamaged ? .damaged : .contents(try Self.contents(store))
    let peak = Peak(store.device)
    store.device.record()
    after = .contents(try act(store))
    calls = store.device.calls
    byteCounts = peak.byteCounts
  }

  var isRepair: Bool { before == .damaged }
  /// Whether files that are there at the beginning are given up, if need be before the end.
  var givesUpFiles: Bool { image.names["s.damaged-1"] != nil }

  func store() -> TestStore { TestStore(SimulatedDevice(image), flushLimit: flushLimit) }

  /// Does what the scenario is about, and returns what was reported as done.
  func run(_ store: TestStore) throws -> Shown { .contents(try act(store)) }

  /// What a reader finds.
  ///
  /// - Throws: `Oddity` if a repaired log stands there and the damaged one nowhere.
  func show(_ device: SimulatedDevice) throws -> Shown {
    let store = TestStore(device)
    if device.contents("o.log") != image["o.log"] { throw Oddity(what: "the other store has changed") }
    if isRepair {
      let damaged = image["s.log"]
      if store.log == damaged { return .damaged }
      let isKept = device.names.contains { $0.hasPrefix("s.damaged-") && device.contents($0) == damaged }
      if !isKept { throw Oddity(what: "the damaged log is gone: \(device.names)") }
    }
    return .contents(try Self.contents(store))
  }

  /// Opens the store again as a user would, a damaged one with a repair first, and makes one more commit.
  func goOn(_ recording: CrashRecording<Shown>) throws {
    let store = TestStore(recording.device, flushLimit: flushLimit)
    if recording.reported == .damaged {
      try recording.step {
        _ = try act(store)
        return after
      }
    }
    let writer = try store.writer()
    try recording.step {
      let found = try writer.snapshot.map { try StoreContents($0) } ?? StoreContents()
      guard .contents(found) == recording.reported else { throw Oddity(what: "the writer finds \(found)") }
      return .contents(try StoreContents(try writer.commit { try $0.put("next", "one") }))
    }
    writer.close()
  }

  static func contents(_ store: TestStore) throws -> StoreContents {
    try store.reader().map { try StoreContents($0.snapshot) } ?? StoreContents()
  }

  /// Notes how full a device gets.
  private final class Peak: Sendable {
    private let device: SimulatedDevice
    private let first: Int
    private let most: Mutex<Int>

    init(_ device: SimulatedDevice) {
      self.device = device
      first = device.byteCount
      most = Mutex(first)
      device.observe { [unowned self] in
        let now = self.device.byteCount
        self.most.withLock { $0 = max($0, now) }
      }
    }

    deinit { device.observe(nil) }

    var byteCounts: ClosedRange<Int> { first...most.withLock { $0 } }
  }
}

extension Scenario {
  /// Everything that changes a store, each on a small one.
  static func all(_ random: inout SeededGenerator) throws -> [Scenario] {
    let seed = random.next()
    let base = try grown(seed)
    let rows = (0..<Int.random(in: 1...12, using: &random)).map { number in
      TestRow("\(number * 3)", "code\(number % 4)", shared: ["brand \(number % 3)"], body: "new")
    }
    let change: @Sendable (Transaction) throws -> Void = { transaction in
      for row in rows { try transaction.put(0, row) }
      try transaction.delete(TestSchema.id, "1")
      try transaction.put(1, TestRow("f1", "to1"))
      transaction.state = [7]
    }
    let plain = [
      try writing("the first commit", DiskImage()) { try $0.commit(change) },
      try writing("an increment", base) { try $0.commit(change) },
      try writing("a large increment", base, flushLimit: 300) { try $0.commit(change) },
      try writing("a full update", base) { try $0.replace(change) },
      try writing("a large full update", base, flushLimit: 300) { try $0.replace(change) },
      try writing("a compaction", base) { try $0.compact() },
      try writing("a rollback", base) { writer in
        guard let last = writer.snapshot, let old = try last.snapshot(at: last.sequence - 2) else { return nil }
        return try writer.rollback(to: old) { transaction, _ in transaction.state = old.state }
      },
      try writing("a rollback across a full update", replaced(base)) { writer in
        guard let previous = try writer.previousGeneration()?.snapshot else { return nil }
        return try writer.restore(previous) { $0.state = previous.state }
      },
      try Scenario(
        "a repair that goes back to the previous generation", emptied(replaced(base)), isDamaged: true, Self.repair),
      try Scenario("an update in the place of a damaged store", damaged(base), isDamaged: true) { store in
        let writer = try StoreWriter(store.location, schema: TestSchema.schema, replacesDamaged: true)
        defer { writer.close() }
        return try StoreContents(writer.replace(change))
      },
      try writing("the recovery of a commit that nobody was told of", unacknowledged(base)) { $0.snapshot },
      try writing("the recovery of a store with a torn tail", torn(base, &random)) { $0.snapshot },
      try writing(testsAreSealed ? "unsealing" : "sealing", base) {
        try $0.rewrite(sealed: !testsAreSealed)
      },
      try writing(
        "\(testsAreSealed ? "unsealing" : "sealing") with the generation before and what a repair has set aside",
        settingAside(replaced(base))
      ) {
        try $0.rewrite(sealed: !testsAreSealed)
      },
      try Scenario("sealing with another key", base) { store in
        var location = store.location
        location.keys.current = otherTestKey
        location.keys.former = [testKey]
        let writer = try StoreWriter(location, schema: TestSchema.schema)
        defer { writer.close() }
        return try writer.rewrite(sealed: true).map { try StoreContents($0) } ?? StoreContents()
      },
      try Scenario("a repair", damaged(base), isDamaged: true, Self.repair),
      try Scenario("a repair where no links can be made", damaged(base), isDamaged: true) { store in
        store.device.refuse(.link, 1)
        return try Self.repair(store)
      },
    ]
    // Sealed stores share nothing.
    return plain + (testsAreSealed ? [] : try sharing(base, change))
  }

  /// The same beside another store, `o`, whose log becomes or is this one's base.
  private static func sharing(
    _ base: DiskImage, _ change: @escaping @Sendable (Transaction) throws -> Void
  ) throws -> [Scenario] {
    let adopt: @Sendable (TestStore) throws -> StoreContents = { store in
      let other = StoreLocation.test(store.device.directory, name: "o", environment: store.environment)
      return try BaseAdoption.adopt(from: other, into: store.location).map { try StoreContents($0) } ?? StoreContents()
    }
    var other = DiskImage()
    other.names["o.log"] = base.names["s.log"]
    other.files = base.files
    let adopted = TestStore(SimulatedDevice(other), seed: 3)
    _ = try adopt(adopted)
    let young = adopted.device.image
    let writer = try adopted.writer()
    for number in 0..<3 { _ = try writer.commit { try $0.put("\(number)", "tail", shared: ["text"]) } }
    writer.close()
    let grown = adopted.device.image
    return [
      try Scenario("an adoption", other, adopt),
      try Scenario("an adoption where no links can be made", other) { store in
        store.device.refuse(.link, 18)
        return try adopt(store)
      },
      try writing("the first increment behind a shared base", young) { try $0.commit(change) },
      try writing("a large increment behind a shared base", grown, flushLimit: 300) { try $0.commit(change) },
      try writing("a full update of a tail log", grown) { try $0.replace(change) },
      try writing("a compaction of a tail log", young) { try $0.compact() },
      try writing("sealing a tail log", grown) { try $0.rewrite(sealed: true) },
      try writing("a rollback into a shared base", grown) { writer in
        guard let last = writer.snapshot, let old = try last.snapshot(at: last.sequence - 4) else { return nil }
        return try writer.rollback(to: old) { transaction, _ in transaction.state = old.state }
      },
      try Scenario("a repair of a tail log", rotten(grown), isDamaged: true, Self.repair),
    ]
  }

  /// A row of the shared base is damaged, and a footer of the tail.
  private static func rotten(_ image: DiskImage) -> DiskImage {
    var image = image
    if let base = image.names["s.base"] { image.files[base]?[12_288 + 100] ^= 0x11 }
    if let log = image.names["s.log"], let end = image.files[log]?.count { image.files[log]?[end - 20] ^= 1 }
    return image
  }

  private static func repair(_ store: TestStore) throws -> StoreContents {
    _ = try Repair.run(store.location, schema: TestSchema.schema)
    return try contents(store)
  }

  private static func writing(
    _ name: String, _ image: DiskImage, flushLimit: Int? = nil,
    _ body: @escaping @Sendable (StoreWriter) throws -> Snapshot?
  ) throws -> Scenario {
    try Scenario(name, image, flushLimit: flushLimit) { store in
      let writer = try store.writer()
      defer { writer.close() }
      return try body(writer).map { try StoreContents($0) } ?? StoreContents()
    }
  }

  /// A store with a base and three commits behind it.
  private static func grown(_ seed: UInt64) throws -> DiskImage {
    let store = TestStore(SimulatedDevice(), seed: seed)
    var random = SeededGenerator(seed: seed)
    var model = StoreModel()
    model.idLimit = 25
    let writer = try store.writer()
    for rows in [15, 6, 3, 8] { _ = try writer.commit { try model.change($0, rows: rows, &random) } }
    writer.close()
    return store.device.image
  }

  private static func changing(_ image: DiskImage, _ body: (inout [UInt8]) -> Void) -> DiskImage {
    var log = image["s.log"] ?? []
    body(&log)
    return DiskImage(["s.log": log])
  }

  /// The newest slot is not there.
  private static func unacknowledged(_ image: DiskImage) -> DiskImage {
    changing(image) { log in
      let newest = [4096, 8192].max { log.rawSpan.u64(at: $0 + 24) < log.rawSpan.u64(at: $1 + 24) } ?? 4096
      for byte in newest..<newest + 4096 { log[byte] = 0 }
    }
  }

  private static func torn(_ image: DiskImage, _ random: inout SeededGenerator) -> DiskImage {
    let rest = random.bytes(Int.random(in: 1...9000, using: &random))
    return changing(image) { log in
      // It begins as the base does, which no commit can follow.
      log += log[12_288..<12_352] + rest
    }
  }

  /// The store after a full update, with the generation before it.
  private static func replaced(_ image: DiskImage) throws -> DiskImage {
    let store = TestStore(SimulatedDevice(image))
    let writer = try store.writer()
    _ = try writer.replace { try $0.put(0, TestRow("1", "code", shared: ["brand 1"], body: "replaced")) }
    writer.close()
    return store.device.image
  }

  /// The same with a file that a repair has set aside.
  private static func settingAside(_ image: DiskImage) -> DiskImage {
    var image = image
    let number = (image.files.keys.max() ?? 0) + 1
    image.files[number] = image["s.log"]
    image.names["s.damaged-1"] = number
    return image
  }

  /// The same with a log that was truncated to nothing.
  private static func emptied(_ image: DiskImage) -> DiskImage {
    DiskImage(["s.log": [], "s.previous": image["s.previous"] ?? []])
  }

  /// A row of the base is damaged, and a footer.
  private static func damaged(_ image: DiskImage) -> DiskImage {
    changing(image) { log in
      log[12_288 + 100] ^= 0x11
      log[log.count - 20] ^= 1
    }
  }
}
