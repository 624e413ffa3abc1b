import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Structures that say what is not so, under checksums that hold: nothing may be believed without a check.
@Suite struct LyingStructureTests {
  @Test func `objects and buckets that lie with valid checksums do not trap`() throws {
    let log = try DamageSample().log
    var random = SeededGenerator(for: "DamageTests, lying objects")
    // Every place at which an object or bucket can begin; what stands there is taken for one.
    let places = stride(from: SegmentHeader.firstOffset + 64, to: log.count - 128, by: 8).filter { place in
      let unit = UnitOffset(byteOffset: place)
      let length = ObjectHeader.length(log.rawSpan.u32(at: place + 4))
      return [length, Bucket.byteCount].contains { length in
        length >= 8 && place + length <= log.count
          && Checksum.of(log.rawSpan.slice(place + 4, length - 4), from: Checksum.salt(unit))
            == log.rawSpan.u32(at: place)
      }
    }
    #expect(places.count > 20)
    for _ in 0..<(1200 * depth) {
      var lying = log
      let place = places.randomElement(using: &random)!
      let length = ObjectHeader.length(log.rawSpan.u32(at: place + 4))
      let isObject = length >= 8 && length < 200
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let last = isObject ? length : Bucket.byteCount
        lying[place + Int.random(in: 4..<last, using: &random)] =
          [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &random)!
      }
      let now = isObject ? ObjectHeader.length(lying.rawSpan.u32(at: place + 4)) : Bucket.byteCount
      guard now >= 8, place + now <= log.count else { continue }
      let salt = Checksum.salt(UnitOffset(byteOffset: place))
      lying.put(Checksum.of(lying.rawSpan.slice(place + 4, now - 4), from: salt), at: place)
      try exercise(TestStore().with(log: lying))
    }
  }

  /// A structure whose checksum was made to fit: nothing that it says may be believed without a check.
  @Test func `lies with valid checksums do not trap`() throws {
    let log = try DamageSample().log
    var random = SeededGenerator(for: "DamageTests, lies")
    let footer = log.count - SegmentFooter.byteCount
    let manifest = Int(log.rawSpan.u64(at: footer + 56))
    let manifestLength = Int(log.rawSpan.u32(at: footer + 64))
    for round in 0..<(1200 * depth) {
      var lying = log
      // Values near a limit find more than others.
      let value = [0, 1, 0x7F, 0x80, 0xFE, 0xFF].randomElement(using: &random)!
      let start =
        round % 2 == 0
        ? manifest + Int.random(in: 0..<manifestLength, using: &random)
        : footer + Int.random(in: 24..<124, using: &random)
      for offset in start..<(start + Int.random(in: 1...8, using: &random)) where offset < footer + 124 {
        lying[offset] = UInt8(value)
      }
      if start < footer {
        lying.put(Checksum.of(lying.rawSpan.slice(manifest, footer - manifest)), at: footer + 68)
      }
      let chain = Checksum.of(lying.rawSpan.slice(footer, 124))
      lying.put(chain, at: footer + 124)
      for slot in AcknowledgementSlot.offsets where lying.rawSpan.u64(at: slot + 40) == UInt64(footer) {
        lying.put(chain, at: slot + 56)
        lying.put(Checksum.of(lying.rawSpan.slice(slot, 4092)), at: slot + 4092)
      }
      let store = TestStore().with(log: lying)
      try exercise(store)
    }
  }

  /// Does everything with a store that one can do. Any error will do, as long as it is one.
  private func exercise(_ store: TestStore) throws {
    do {
      let writer = try store.writer()
      _ = try writer.snapshot.map { try StoreContents($0) }
      _ = try writer.snapshot?.statistics()
      _ = try writer.snapshot?.history()
      _ = try writer.commit { transaction in
        for id in 0..<4 { try transaction.put("\(id)", "code") }
      }
      _ = try writer.compact()
    } catch {
      #expect(error is StoreError || error is StoreContents.Contradiction)
    }
    _ = try? Verification.run(store.location)
  }
}

extension [UInt8] {
  fileprivate mutating func put(_ number: UInt32, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte)) }
  }
}
