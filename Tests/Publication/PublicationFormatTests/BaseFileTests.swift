import PublicationFormat
import RandomTestSupport
import Testing

@Suite struct BaseFileTests {
  /// Keys of which many begin others.
  private func keys(_ count: Int, _ random: inout SeededGenerator) -> [[UInt8]] {
    (0..<count).map { _ in
      (0..<Int.random(in: 0...6, using: &random)).map { _ in UInt8.random(in: 0x41...0x43, using: &random) }
    }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test func `heads are the keys so far that begin a key`() {
    var random = SeededGenerator(for: "BaseFile heads")
    for _ in 0..<50 * depth {
      var chain = BaseFile.HeadChain()
      var before: Set<[UInt8]> = []
      for key in keys(60, &random) {
        let heads = (1..<max(1, key.count)).filter { before.contains(Array(key.prefix($0))) }
        #expect(chain.next(key) == heads)
        before.insert(key)
      }
    }
  }

  @Test(arguments: [1, 15, 17, 300, 1000])
  func `pages list all groups with their heads`(_ count: Int) throws {
    var random = SeededGenerator(for: "BaseFile pages")
    var writer = try BaseFileWriter(dictionary: [], level: 1)
    var chain = BaseFile.HeadChain()
    var written: [(key: [UInt8], heads: [Int])] = []
    for key in keys(count, &random) {
      let heads = chain.next(key)
      try writer.add(key, .entries, key: key, heads: heads)
      written.append((key, heads))
    }
    let (bytes, topByteCount) = try writer.finish()
    let top = try BaseFile.Top(Array(bytes.prefix(topByteCount)))
    var read: [BaseFile.Part] = []
    for (page, groupCount) in zip(top.pages(.entries), top.groupCounts[0]) {
      let part = Array(bytes[page.offset..<page.offset + page.byteCount])
      let groups = try BaseFile.Part.groups(ofPage: part)
      #expect(groups.count == groupCount && groupCount <= 128 && page.key == groups[0].key)
      read += groups
      for cut in 0..<part.count where groups.count == 1 {
        #expect(throws: PublicationError.self) { try BaseFile.Part.groups(ofPage: Array(part.prefix(cut)) + [0xFF]) }
      }
    }
    #expect(read.map(\.key) == written.map(\.key) && read.map(\.heads) == written.map(\.heads))
    for group in read {
      let bytes = Array(bytes[group.offset..<group.offset + group.byteCount])
      let isPart = try group.isPart(bytes)
      #expect(isPart)
    }
  }
}
