import Bytes
import RecordFormat
import Testing

@Suite struct BucketTests {
  @Test func `numbers in a row spread over buckets, tags and filters`() {
    let seed = HashSeed(1, 2)
    let count = 20_000
    let buckets = 1000
    var perBucket = [Int](repeating: 0, count: buckets)
    var tags: Set<UInt16> = []
    var filters = [Int](repeating: 0, count: 24)
    for number in 0..<count {
      let key = Array("69\(1_000_000_000 + number)".utf8)
      let hash = KeyHash.of(key.rawSpan, seed)
      perBucket[Bucket.home(hash, bucketCount: UInt32(buckets))] += 1
      tags.insert(Bucket.tag(hash))
      filters[Bucket.filterBit(hash).trailingZeroBitCount] += 1
    }
    // Twenty in each bucket, give or take: six standard deviations.
    #expect(perBucket.allSatisfy { (1...47).contains($0) })
    // 2^16 · (1 − e^(−count / 2^16))
    #expect((17_000...17_500).contains(tags.count))
    #expect(filters.allSatisfy { (600...1100).contains($0) })
  }

  @Test func `a home bucket is always one of the block's`() {
    for buckets: UInt32 in [1, 2, 3, 1000, .max] {
      #expect(Bucket.home(0, bucketCount: buckets) == 0)
      #expect(Bucket.home(.max, bucketCount: buckets) == Int(buckets) - 1)
    }
  }

  @Test(arguments: 0...14)
  func `a dead bucket lists its rows and no other`(count: Int) throws {
    let unit = UnitOffset(rawValue: 77)
    let rows = (0..<count).map { UnitOffset(rawValue: 1000 + UInt32($0)) }
    // A row that stands after the last entry is not listed.
    let bucket = deadBucket(rows + (count < 14 ? [UnitOffset(rawValue: 5)] : []), count: count, at: unit)
    for row in rows {
      let answer = try #require(search(bucket, at: unit, row))
      #expect(answer.isListed)
      #expect(!answer.continues)
    }
    for other: UInt32 in [0, 5, 999, 1000 + UInt32(count), .max] {
      let row = UnitOffset(rawValue: other)
      let answer = try #require(search(bucket, at: unit, row))
      #expect(!answer.isListed, "row \(other)")
    }
  }

  @Test func `the search of a dead bucket goes on where the filter has the row's bit`() throws {
    let unit = UnitOffset(rawValue: 77)
    let row = UnitOffset(rawValue: 123_456)
    let filter = Bucket.filterBit(KeyHash.of(row, HashSeed(1, 2)))
    let bucket = deadBucket([], count: 0, filter: filter, at: unit)
    let answer = try #require(search(bucket, at: unit, row))
    #expect(!answer.isListed)
    #expect(answer.continues)
  }

  @Test func `a dead bucket with a flipped bit, at another offset or with too many rows fails its check`() {
    let unit = UnitOffset(rawValue: 77)
    let row = UnitOffset(rawValue: 1000)
    let bucket = deadBucket([row], count: 1, at: unit)
    for bit in 0..<(8 * Bucket.byteCount) {
      var damaged = bucket
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(search(damaged, at: unit, row) == nil, "bit \(bit)")
    }
    #expect(search(bucket, at: UnitOffset(rawValue: 78), row) == nil)
    #expect(search(deadBucket([row], count: 15, at: unit), at: unit, row) == nil)
  }

  private func search(_ bucket: [UInt8], at unit: UnitOffset, _ row: UnitOffset) -> (isListed: Bool, continues: Bool)? {
    Bucket.searchDead(bucket.rawSpan, at: unit, KeyHash.of(row, HashSeed(1, 2)), row)
  }

  /// A dead bucket with a valid checksum, with these rows and this number of entries.
  private func deadBucket(_ rows: [UnitOffset], count: Int, filter: UInt32 = 0, at unit: UnitOffset) -> [UInt8] {
    var bucket = [UInt8](repeating: 0, count: Bucket.byteCount)
    bucket.store(UInt32(count) << 24 | filter, at: 4)
    for (index, row) in rows.enumerated() { bucket.store(row.rawValue, at: Bucket.deadOffsets + 4 * index) }
    bucket.store(Checksum.of(bucket.rawSpan.slice(4, 60), from: Checksum.salt(unit)), at: 0)
    return bucket
  }
}
