import Bytes
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Damage in pieces: what a disk, a cable or a copy does to a file.
@Suite struct PageDamageTests {
  private static let page = 4096
  /// One whose last commit is acknowledged, and one whose last commit is not.
  private static func samples() throws -> [DamageSample] {
    [try DamageSample(), try DamageSample(isAcknowledged: false)]
  }

  private func ask(
    _ sample: DamageSample, _ log: [UInt8], damage: [Range<Int>], _ what: String
  ) throws -> DamageSample.Answer {
    try noting("\(what), acknowledged \(sample.acknowledged)") {
      try sample.ask(TestStore().with(log: log), damage: damage)
    }
  }

  @Test func `a file that ends anywhere is damaged, or shows the last commit that is whole`() throws {
    for sample in try Self.samples() {
      var seen: Set<Int> = []
      for size in stride(from: 0, to: sample.log.count, by: depth == 1 ? 37 : 1) {
        let log = Array(sample.log[..<size])
        let answer = try ask(sample, log, damage: [size..<sample.log.count], "cut at \(size)")
        if case .opened(let number, let refused) = answer {
          #expect(number == sample.acknowledged && refused == 0)
          seen.insert(number)
        } else {
          #expect(size < sample.acknowledgedEnd)
        }
      }
      #expect(seen == (sample.acknowledged == 3 ? [] : [2]))
    }
  }

  @Test func `a page that is zero, garbage, another one or a copy of an older one`() throws {
    var random = SeededGenerator(for: "PageDamageTests")
    for sample in try Self.samples() {
      let pages = sample.log.count / Self.page
      var refused = 0
      for number in 0..<pages {
        let range = number * Self.page..<(number + 1) * Self.page
        var contents = [[UInt8](repeating: 0, count: Self.page), [UInt8](repeating: 0xFF, count: Self.page)]
        for _ in 0..<2 * depth { contents.append(random.bytes(Self.page)) }
        // Any other page in its place; and the halves of two.
        for other in 0..<pages where other != number {
          let there = Array(sample.log[other * Self.page..<(other + 1) * Self.page])
          contents.append(there)
          contents.append(Array(sample.log[range.prefix(2048)]) + there[2048...])
        }
        for bytes in contents where bytes != Array(sample.log[range]) {
          var log = sample.log
          log.replaceSubrange(range, with: bytes)
          let answer = try ask(sample, log, damage: [range], "page \(number)")
          if answer != .opened(3, refused: 0) { refused += 1 }
        }
        for other in 0..<number {
          let there = other * Self.page..<(other + 1) * Self.page
          var log = sample.log
          log.replaceSubrange(range, with: sample.log[there])
          log.replaceSubrange(there, with: sample.log[range])
          if log == sample.log { continue }
          _ = try ask(sample, log, damage: [range, there], "pages \(other) and \(number) swapped")
        }
      }
      #expect(refused > pages)
    }
  }

  @Test func `garbage behind the end is nobody's`() throws {
    var random = SeededGenerator(for: "PageDamageTests, appended")
    for sample in try Self.samples() {
      for _ in 0..<30 * depth {
        var rest = random.bytes(Int.random(in: 1...20_000, using: &random))
        // What looks like a commit is none where it does not follow.
        if Bool.random(using: &random) { rest = Array(sample.log[12_288...]) + rest }
        let answer = try ask(
          sample, sample.log + rest, damage: [sample.log.count..<sample.log.count + rest.count], "appended")
        #expect(answer == .opened(3, refused: 0))
      }
    }
  }

  @Test func `a sector that the device cannot read is damage with an offset, not a wrong row`() throws {
    var random = SeededGenerator(for: "PageDamageTests, unreadable")
    let sample = try DamageSample()
    for start in stride(from: 0, to: sample.log.count, by: depth == 1 ? 2048 : 512) {
      let range = start..<start + 512
      for garbage in [[UInt8](repeating: 0, count: 512), random.bytes(512)] {
        var log = sample.log
        log.replaceSubrange(range, with: garbage)
        let store = TestStore().with(log: log)
        store.device.makeUnreadable(range, of: "s.log")
        _ = try noting("sector at \(start)") { try sample.ask(store, damage: [range]) }
        let findings = try #require(try Verification.run(store.location)).findings
        #expect(!findings.isEmpty && findings.allSatisfy { $0.offset < range.upperBound })
        let repair = try #require(try Repair.run(store.location, schema: TestSchema.schema))
        #expect(repair.snapshot != nil && store.device.contents("s.damaged-1") == log)
        #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
        let rows = try StoreContents(#require(try store.reader()).snapshot).tables
        for table in rows.indices {
          let lost = sample.commits[2].contents.tables[table].filter { !rows[table].contains($0) }
          #expect(lost.isEmpty || !repair.losses.isEmpty, "sector at \(start)")
        }
      }
    }
  }
}
