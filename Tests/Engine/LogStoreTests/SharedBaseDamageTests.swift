import Bytes
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Bytes of a shared base, or of a tail log, that rot or go away: both stores say so, and a repair of one leaves the
/// other.
@Suite(.disabled(if: testsAreSealed, "sealed stores share nothing")) struct SharedBaseDamageTests {
  private let stores: SharedStores
  /// The base, as the source has it, and the end of what is shared.
  private let base: [UInt8]

  /// Stores a and b share four commits, and b has two more.
  init() throws {
    stores = try SharedStores()
    _ = try stores.fill("a", commits: 4)
    #expect(try stores.adopt("a", "b") == 4)
    _ = try stores.fill("b", commits: 2)
    base = try stores.bytes("a", "s.log")
  }

  private func findings(_ name: String) throws -> [Finding] {
    try #require(try Verification.run(stores.location(name))).findings
  }

  private func repair(_ name: String) throws -> Repair {
    try #require(try Repair.run(stores.location(name), schema: TestSchema.schema))
  }

  /// The rows that `contents` has and `expected` has not, or the other way round.
  private func difference(_ contents: StoreContents, _ expected: StoreContents) -> Int {
    zip(contents.tables, expected.tables).reduce(0) { $0 + Set($1.0).symmetricDifference($1.1).count }
  }

  @Test func `damage in the base is reported of both stores with file and offset, and each is repaired alone`() throws {
    var bytes = base
    let last = try stores.reader("b").snapshot
    // A row of the first commit that lives in both stores.
    var row: Int?
    try last.scan(0) { (record) throws(StoreError) in
      if row == nil, record.rowID.byteOffset < base.count { row = record.rowID.byteOffset }
    }
    let offset = try #require(row)
    bytes[offset + 20] ^= 4
    try stores.write(bytes, "a", "s.log")
    for (name, file) in [("a", "s.log"), ("b", "s.base")] {
      let found = try findings(name)
      #expect(found.contains { $0.offset == offset && $0.path == stores.path(name) + "/" + file }, "\(found)")
      #expect {
        _ = try StoreContents(stores.reader(name).snapshot)
      } throws: { error in
        guard case StoreError.damaged(let path, let place, _) = error else { return false }
        return path == stores.path(name) + "/" + file && place == offset
      }
    }
    let repaired = try repair("b")
    #expect(repaired.losses.count == 1 && repaired.losses[0].path.hasSuffix("b/s.base"))
    #expect(repaired.losses[0].offset == offset)
    #expect(try difference(StoreContents(stores.reader("b").snapshot), NumberedStore.contents(6)) == 1)
    #expect(try findings("b").isEmpty)
    #expect(try stores.bytes("a", "s.log") == bytes)
    // The damaged log is kept, and with it what it needs.
    #expect(try stores.names("b") == ["s.base", "s.damaged-1", "s.lock", "s.log"])
    _ = try stores.directory("b").remove("s.damaged-1")
    try stores.writer("b").close()
    #expect(try stores.names("b") == ["s.lock", "s.log"])
    #expect(try repair("a").losses.count == 1)
  }

  @Test func `damage in the tail is reported with its place in the tail log, and no matter of the source`() throws {
    var log = try stores.bytes("b", "s.log")
    let last = try stores.reader("b").snapshot
    var row: Int?
    try last.scan(0) { (record) throws(StoreError) in
      if record.rowID.byteOffset >= base.count { row = record.rowID.byteOffset }
    }
    let offset = try #require(row) - base.count + SegmentHeader.firstOffset
    log[offset + 12] ^= 1
    try stores.write(log, "b", "s.log")
    let found = try findings("b")
    #expect(found.contains { $0.offset == offset && $0.path == stores.path("b") + "/s.log" }, "\(found)")
    #expect(try findings("a").isEmpty)
    let repaired = try repair("b")
    #expect(repaired.losses.map(\.offset) == [offset] && repaired.losses[0].path.hasSuffix("b/s.log"))
    try NumberedStore.check(stores.reader("a").snapshot)
  }

  @Test(arguments: ["missing", "another store's", "an earlier state", "cut", "no store", "another adopted one"])
  func `a base that is not the one is refused, and what the tail holds can be saved`(kind: String) throws {
    let directory = try stores.directory("b")
    _ = try directory.remove("s.base")
    switch kind {
    case "missing": break
    case "another store's":
      _ = try stores.fill("c", commits: 4)
      try directory.link("s.log", of: stores.directory("c"), to: "s.base")
    case "an earlier state":
      let earlier = try #require(try stores.reader("a").snapshot.snapshot(at: 3))
      try stores.write(Array(base[..<earlier.end]), "b", "s.base")
    case "cut": try stores.write(Array(base.dropLast()), "b", "s.base")
    case "no store": try stores.write([UInt8](repeating: 7, count: base.count), "b", "s.base")
    default: try directory.link("s.log", to: "s.base")
    }
    let errors: [() throws -> Void] = [
      { _ = try StoreReader.open(stores.location("b")) }, { _ = try stores.writer("b") },
      { _ = try BaseAdoption.adopt(from: stores.location("b"), into: stores.location("d")) },
    ]
    for attempt in errors {
      #expect {
        try attempt()
      } throws: { error in
        switch error {
        case StoreError.damaged(let path, _, _), StoreError.unusable(let path, _): path.hasSuffix("b/s.base")
        default: false
        }
      }
    }
    #expect(try findings("b").count == 1)
    #expect(try stores.names("d").filter { $0 != "s.lock" }.isEmpty)
    let repaired = try repair("b")
    // The byte that is cut off is the footer's.
    #expect(repaired.losses.isEmpty == (kind == "cut"))
    let contents = try StoreContents(stores.reader("b").snapshot)
    // Nothing is invented: what there is, some commit put.
    let all = Set((1...6).flatMap { NumberedStore.contents($0).tables.joined() })
    #expect(Set(contents.tables.joined()).isSubset(of: all))
    // What the last two commits put is saved, but for texts that stand in what is lost.
    #expect(contents.tables[0].contains(TestRow("ring 6", "6", body: "6")))
    #expect(try findings("b").isEmpty)
    try NumberedStore.check(stores.reader("a").snapshot)
  }

  @Test(arguments: ["the tail log's header", "the base's header", "the tail log's header and slots", "the footer"])
  func `a repair saves all rows where only what leads to them is damaged`(kind: String) throws {
    var log = try stores.bytes("b", "s.log")
    var shared = base
    switch kind {
    case "the base's header": shared[50] ^= 1
    case "the footer": shared[shared.count - 100] ^= 1
    case "the tail log's header": log[110] ^= 1
    default: for offset in stride(from: 60, to: 12_288, by: 512) { log[offset] ^= 1 }
    }
    try stores.write(shared, "a", "s.log")
    try stores.write(log, "b", "s.log")
    #expect(try !findings("b").isEmpty)
    _ = try repair("b")
    let contents = try StoreContents(stores.reader("b").snapshot)
    #expect(difference(contents, NumberedStore.contents(6)) == 0, "\(contents.tables)")
    #expect(try stores.bytes("a", "s.log") == shared)
    #expect(try stores.names("b").contains("s.base"))
  }

  @Test func `the slots alone tell where the base ends, too`() throws {
    #expect(try stores.adopt("a", "c") == 4)
    var log = try stores.bytes("c", "s.log")
    log[200] ^= 1
    try stores.write(log, "c", "s.log")
    #expect(try repair("c").losses.isEmpty)
    let contents = try StoreContents(stores.reader("c").snapshot)
    #expect(contents.tables == NumberedStore.contents(4).tables)
  }

  @Test func `a header or slots that lie, under checksums that hold, neither trap nor reach the base`() throws {
    var random = SeededGenerator(for: "SharedBaseDamageTests, lies")
    let log = try stores.bytes("b", "s.log")
    let ends = try stores.reader("a").snapshot.segments().map(\.end) + [12_288, 4096, 1 << 34, 1 << 60]
    var refused = 0
    for round in 0..<(60 * depth) {
      var lying = log
      // A field of the header's reference, or of either slot.
      let page = [0, 4096, 8192].randomElement(using: &random) ?? 0
      let field = page == 0 ? [104, 112, 120] : [24, 40, 48, 56]
      let offset = page + (field.randomElement(using: &random) ?? 0)
      let value = (ends + [0, 1, 3, 4, 5, 7]).randomElement(using: &random) ?? 0
      lying.store(UInt32(truncatingIfNeeded: value), at: offset)
      if ![56, 120].contains(offset % 4096) { lying.store(UInt32(truncatingIfNeeded: value >> 32), at: offset + 4) }
      if page > 0, offset == page + 48 {
        // The footer's place goes with the end, so that the slot may name an earlier commit.
        lying.store(UInt32(truncatingIfNeeded: value &- 128), at: page + 40)
        lying.store(UInt32(truncatingIfNeeded: (value &- 128) >> 32), at: page + 44)
      }
      lying.store(Checksum.of(lying.rawSpan.slice(page, 4092)), at: page + 4092)
      let device = SimulatedDevice()
      device.place(base, as: "s.base")
      device.place(lying, as: "s.log")
      let store = TestStore(device)
      do {
        let writer = try store.writer()
        _ = try writer.commit { try $0.put("more", "1") }
        _ = try StoreContents(#require(writer.snapshot))
        writer.close()
      } catch is StoreError { refused += 1 }
      _ = try Verification.run(store.location)
      _ = try Repair.run(store.location, schema: TestSchema.schema)
      #expect(try #require(try Verification.run(store.location)).findings.isEmpty, "round \(round)")
      if let left = device.contents("s.base") { #expect(left == base, "round \(round)") }
    }
    #expect(refused > 10)
  }

  @Test func `a slot that names an earlier commit of the base is none`() throws {
    let earlier = try #require(try stores.reader("a").snapshot.snapshot(at: 2)).footer
    var log = try stores.bytes("b", "s.log")
    for offset in AcknowledgementSlot.offsets {
      let slot = AcknowledgementSlot(
        storeID: earlier.storeID, sequence: 2, generation: earlier.generation, footerOffset: earlier.offset,
        end: earlier.end, chain: earlier.chain)
      log.replaceSubrange(offset..<offset + AcknowledgementSlot.byteCount, with: slot.encoded())
    }
    try stores.write(log, "b", "s.log")
    #expect(try findings("b").map(\.what) == ["acknowledgement slot", "acknowledgement slot"])
    #expect(try stores.fill("b", commits: 1).sequence == 7)
    try NumberedStore.check(stores.reader("b").snapshot)
    #expect(try stores.bytes("a", "s.log") == base)
  }

  @Test func `a base that is cut under a reader is an error there, and the end of no process`() throws {
    try MappingGuard.install()
    let reader = try stores.reader("b")
    try NumberedStore.check(reader.snapshot)
    let held = try #require(try stores.directory("b").open("s.base", .write))
    try held.truncate(to: SegmentHeader.firstOffset)
    #expect {
      // Only the base has this row.
      _ = try reader.snapshot.rows(TestSchema.id, "ring 1")
    } throws: { error in
      guard case StoreError.damaged(let path, _, let what) = error else { return false }
      return path.hasSuffix("b/s.base") && what.contains("truncated")
    }
    #expect(reader.snapshot.isLost)
    try stores.write(base, "a", "s.log")
    #expect(try !reader.refresh())
    try NumberedStore.check(reader.snapshot)
  }

  @Test func `any byte of either file that rots is found, or is of no matter`() throws {
    var random = SeededGenerator(for: "SharedBaseDamageTests, any byte")
    let log = try stores.bytes("b", "s.log")
    let expected = NumberedStore.contents(6)
    var reportedCount = 0
    for _ in 0..<(60 * depth) {
      let isBase = Bool.random(using: &random)
      var bytes = isBase ? base : log
      let offset = Int.random(in: 0..<bytes.count, using: &random)
      bytes[offset] ^= UInt8.random(in: 1...255, using: &random)
      let device = SimulatedDevice()
      device.place(isBase ? bytes : base, as: "s.base")
      device.place(isBase ? log : bytes, as: "s.log")
      let store = TestStore(device)
      do {
        let contents = try StoreContents(try #require(try store.reader()).snapshot)
        #expect(contents == expected || contents == NumberedStore.contents(5), "offset \(offset), base \(isBase)")
      } catch is StoreError {}
      let findings = try #require(try Verification.run(store.location)).findings
      // The slots of the base are the source's, and the newest of the tail log may be one that a power cut tore.
      let isSlot = isBase ? (4096..<12_288).contains(offset) : (4096..<8192).contains(offset)
      if findings.isEmpty { #expect(isSlot, "offset \(offset), base \(isBase)") } else { reportedCount += 1 }
      if !findings.isEmpty {
        _ = try Repair.run(store.location, schema: TestSchema.schema)
        #expect(try #require(try Verification.run(store.location)).findings.isEmpty)
        #expect(device.contents("s.base") == (isBase ? bytes : base))
      }
    }
    #expect(reportedCount > 20)
  }
}
