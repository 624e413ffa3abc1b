import Bytes
import RandomTestSupport
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Rot: every byte of a small store, changed.
@Suite struct DamageTests {
  @Test func `a finding says what is lost, also if that is nothing`() {
    #expect("\(Finding(path: "f", offset: 3, what: "w", lost: "a row"))" == "f: offset 3: w; lost: a row")
    #expect("\(Finding(path: "f", offset: 3, what: "w", lost: ""))" == "f: offset 3: w; lost: nothing")
  }

  @Test func `a changed byte anywhere gives an error or the right content, never anything else`() throws {
    var refused = 0
    var tried = 0
    for sample in [try DamageSample(), try DamageSample(isAcknowledged: false)] {
      let store = TestStore().with(log: sample.log)
      let file = try #require(try store.device.directory.open("s.log", .write))
      for offset in sample.log.indices {
        // Long runs of zeros, which are padding, are tried here and there.
        let isInside =
          offset > 8 && offset + 8 < sample.log.count
          && sample.log[(offset - 8)...(offset + 8)].allSatisfy { $0 == 0 }
        // What stands before the acknowledged end is the same in both.
        if depth == 1, isInside ? offset % 61 != 0 : sample.acknowledged < 3 && offset < sample.acknowledgedEnd {
          continue
        }
        let masks: [UInt8] = [0x01, 0x80, 0xFF]
        for mask in depth == 1 ? [masks[offset % 3]] : masks {
          let byte = sample.log[offset]
          try file.write([byte ^ mask].rawSpan, at: offset)
          tried += 1
          let answer = try noting("byte \(offset), mask \(mask)") {
            try sample.ask(store, damage: [offset..<offset + 1])
          }
          if answer != .opened(3, refused: 0) { refused += 1 }
          try file.write([byte].rawSpan, at: offset)
        }
      }
      #expect(try sample.ask(store, damage: []) == .opened(3, refused: 0))
    }
    print("DamageTests: \(tried) changed bytes, \(refused) of them seen")
    #expect(refused > tried / 3)
  }

  @Test func `a byte that changes under a reader's mapping is an error, never another row`() throws {
    let sample = try DamageSample()
    let store = TestStore().with(log: sample.log)
    let reader = try #require(try store.reader())
    let file = try #require(try store.device.directory.open("s.log", .write))
    var refused = 0
    for offset in stride(from: 0, to: sample.log.count, by: depth == 1 ? 7 : 1) {
      let byte = sample.log[offset]
      try file.write([byte ^ 0x41].rawSpan, at: offset)
      refused += try noting("byte \(offset)") { try sample.answers(reader.snapshot, sample.commits[2]) }
      // A slot that was hit announces a commit at most; what is found then is what was there.
      _ = try? reader.refresh()
      #expect(reader.snapshot.sequence == 3)
      try file.write([byte].rawSpan, at: offset)
    }
    #expect(refused > 100)
  }

  @Test func `several changed bytes give no other rows either`() throws {
    let samples = [try DamageSample(), try DamageSample(isAcknowledged: false)]
    var random = SeededGenerator(for: "DamageTests, several bytes")
    for round in 0..<(300 * depth) {
      let sample = samples[round % 2]
      var log = sample.log
      let interesting = log.indices.filter { log[$0] != 0 }
      var damage: [Range<Int>] = []
      for _ in 0..<Int.random(in: 2...5, using: &random) {
        let offset = interesting.randomElement(using: &random)!
        log[offset] ^= UInt8.random(in: 1...255, using: &random)
        damage.append(offset..<offset + 1)
      }
      _ = try noting("\(damage)") { try sample.ask(TestStore().with(log: log), damage: damage) }
    }
  }

  @Test func `a writer refuses what a reader refuses, and changes nothing`() throws {
    let log = try DamageSample().log
    for offset in [0, 9, 45, 60, log.count - 128, log.count - 1, log.count - 100] {
      var changed = log
      changed[offset] ^= 0x55
      let store = TestStore().with(log: changed)
      #expect(throws: StoreError.self) { _ = try store.writer() }
      #expect(store.log == changed)
    }
  }
}

/// Says which case it was that did not go as it should.
func noting<Result>(_ note: String, _ body: () throws -> Result) throws -> Result {
  do { return try body() } catch let error as Oddity { throw Oddity(what: "\(note): \(error)") }
}
