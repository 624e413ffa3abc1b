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
}
