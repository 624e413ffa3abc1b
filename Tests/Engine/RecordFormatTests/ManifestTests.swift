import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing

@Suite struct ManifestTests {
  private static var sample: Manifest {
    var lengths = KeyLengths()
    for length in [0, 13, 254, 255, 9000] { lengths.insert(length) }
    var space = Manifest.KeySpace(name: "id", isUnique: true, skipsEmptyKeys: false)
    space.lengths = lengths
    space.blocks = (1...3).map { number in
      Manifest.Block(
        offset: UInt64(number) << 33, bucketCount: .max, entryCount: UInt32(number),
        rowCount: UInt32(number + 7),
        longestDisplacement: .max)
    }
    let other = Manifest.KeySpace(name: "条码", isUnique: false, skipsEmptyKeys: true)
    let list = Manifest.KeySpace(name: "words", isUnique: false, skipsEmptyKeys: false, isList: true)
    var table = Manifest.Table(name: "products", keySpaces: [space, other, list])
    table.liveRows = 1 << 40
    table.liveBytes = 3
    var manifest = Manifest(tables: [table, Manifest.Table(name: "", keySpaces: [])])
    manifest.deadBlocks = space.blocks
    manifest.deadRows = 4
    manifest.deadBytes = 5
    manifest.tailRows = 6
    manifest.state = [1, 2, 3]
    return manifest
  }

  private func decode(_ bytes: [UInt8]) throws -> Manifest { try Manifest(bytes.rawSpan) }

  @Test func `what is written is read`() throws {
    #expect(try decode(Self.sample.encoded()) == Self.sample)
    #expect(try decode(Manifest(tables: []).encoded()) == Manifest(tables: []))
    #expect(Self.sample.tables[0].keySpaces[0].lengths.lengths == [0, 13, 254, 255])
  }

  @Test func `every shorter input is refused`() {
    let bytes = Self.sample.encoded()
    for count in bytes.indices {
      #expect(throws: FormatFault.self) { try decode(Array(bytes.prefix(count))) }
    }
  }

  @Test func `another version and too many tables are refused`() {
    var bytes = Self.sample.encoded()
    bytes[0] = 3
    #expect(throws: FormatFault.field("manifest version", 3)) { try decode(bytes) }
    bytes = Self.sample.encoded()
    bytes[4] = 241
    #expect(throws: FormatFault.self) { try decode(bytes) }
  }

  @Test func `names have to be UTF-8`() throws {
    var bytes = Self.sample.encoded()
    bytes[10] = 0xFF
    #expect(throws: FormatFault.self) { try decode(bytes) }
  }

  @Test func `arbitrary and mutated bytes never trap`() {
    var random = SeededGenerator(for: "ManifestTests")
    let sample = Self.sample.encoded()
    for round in 0..<(3000 * depth) {
      var bytes = round % 4 == 0 ? random.bytes(Int.random(in: 0..<200, using: &random)) : sample
      for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = try? decode(bytes)
    }
  }
}
