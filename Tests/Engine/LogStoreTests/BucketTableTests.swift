import Bytes
import RandomTestSupport
import RecordFormat
import StoreTestSupport
import Testing
@testable import LogStore

@Suite struct BucketTableTests {
  /// Looks an entry up as FORMAT.md says.
  private func find(_ hash: UInt64, _ table: BucketTable) -> Set<UInt32> {
    let capacity = table.kind == .index ? Bucket.indexCapacity : Bucket.deadCapacity
    var found: Set<UInt32> = []
    var bucket = Int(((hash >> 32) * UInt64(table.bucketCount)) >> 32)
    for _ in 0...table.longestDisplacement {
      let line = Array(table.bytes[(bucket * 64)..<(bucket * 64 + 64)])
      let word = line.rawSpan.u32(at: 4)
      #expect(Int(word >> 24) <= capacity)
      for entry in 0..<Int(word >> 24) {
        if table.kind == .dead {
          found.insert(line.rawSpan.u32(at: 8 + 4 * entry))
        } else if line.rawSpan.u16(at: 8 + 2 * entry) == UInt16(hash & 0xFFFF) {
          found.insert(line.rawSpan.u32(at: 28 + 4 * entry))
        }
      }
      if word >> UInt32((hash >> 16 & 0xFF) % 24) & 1 == 0 { break }
      bucket = (bucket + 1) % table.bucketCount
    }
    return found
  }

  @Test(arguments: [BlockHeader.Kind.index, .dead], [0, 1, 9, 10, 14, 15, 300, 20_000])
  func `every entry is found where the format says`(_ kind: BlockHeader.Kind, _ count: Int) throws {
    var random = SeededGenerator(for: "BucketTableTests, \(kind), \(count)")
    let entries = (0..<count).map { IndexEntry(hash: random.next(), offset: UInt32($0)) }
    let table = try BucketTable(kind, NewEntries(entries), rowCount: count)
    for entry in entries { #expect(find(entry.hash, table).contains(entry.offset)) }
    #expect(table.longestDisplacement <= 8)
  }

  @Test func `entries that all want one bucket are found, at the price of a longer table`() throws {
    let entries = (0..<200).map { IndexEntry(hash: 0xFFFF_FFFF_0000_0000 | UInt64($0), offset: UInt32($0)) }
    let table = try BucketTable(.index, NewEntries(entries), rowCount: entries.count)
    for entry in entries { #expect(find(entry.hash, table) == [entry.offset]) }
  }

  @Test func `sorting by hash keeps every entry and the order of the file`() {
    var random = SeededGenerator(for: "BucketTableTests, sorting")
    for count in [0, 1, 2, 511, 512, 1023, 1024, 5000, 40_000] {
      // All bits of the hashes differ, or only the lowest ones.
      let masks: [UInt64] = [.max, 1 << 56 - 1, 0xFFFF, 0xFF, 1]
      for mask in masks {
        var entries = (0..<count).map {
          let hash = random.next() % 1000 &* 0x9E37_79B9_7F4A_7C15
          return IndexEntry(hash: hash & mask | 0x1234_5678_9ABC_DEF0 & ~mask, offset: UInt32($0))
        }
        let expected = entries.sorted { ($0.hash, $0.offset) < ($1.hash, $1.offset) }
        entries.sortByHash()
        #expect(entries.map(\.offset) == expected.map(\.offset))
      }
    }
  }
}
