import Bytes
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Structures that say what is not so, under checksums that hold: nothing may be believed without a check.
@Suite(.disabled(if: testsAreSealed, "it forges what is in clear")) struct LyingStructureTests {
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

  @Test func `verification finds an earlier commit whose manifest lies with a valid checksum`() throws {
    var log = try DamageSample().log
    let end = log.count - SegmentFooter.byteCount
    let last = try SegmentFooter(log.rawSpan.slice(end, SegmentFooter.byteCount))
    let footer = Int(last.previousFooterOffset)
    let manifest = Int(log.rawSpan.u64(at: footer + 56))
    log.put(.max, at: manifest)
    log.putChecksum(of: manifest..<footer, at: footer + 68)
    log.putChecksum(of: footer..<(footer + 124), at: footer + 124)
    Self.name(footer, asTheOneBefore: last, in: &log)
    let store = TestStore().with(log: log)
    let snapshot = try #require(try store.reader()).snapshot
    #expect(throws: StoreError.self) { _ = try snapshot.history() }
    let findings = try #require(try Verification.run(store.location)).findings
    #expect(findings.contains { $0.offset == manifest && $0.what.contains("manifest version") }, "\(findings)")
  }

  @Test(arguments: [0, 1, 13, 4097, Int.max - 7])
  func `a base whose header lies about its length is written to without a trap`(_ length: Int) throws {
    var log = try DamageSample().log
    let base = SegmentHeader.firstOffset
    log.put(UInt32(truncatingIfNeeded: length), at: base + 40)
    log.put(UInt32(truncatingIfNeeded: length >> 32), at: base + 44)
    log.putChecksum(of: base..<(base + 60), at: base + 60)
    let store = TestStore().with(log: log)
    #expect(try Verification.run(store.location)?.findings.isEmpty == false)
    let writer = try store.writer()
    let snapshot = try writer.commit { try $0.put("next", "code") }
    #expect(try snapshot.rows(TestSchema.id, "next").count == 1)
    _ = try CompactionPolicy.standard.isDue(in: snapshot)
    writer.close()
  }

  @Test func `an earlier commit with a later number is damage, not a history to go through`() throws {
    var log = try DamageSample().log
    let end = log.count - SegmentFooter.byteCount
    let last = try SegmentFooter(log.rawSpan.slice(end, SegmentFooter.byteCount))
    let footer = Int(last.previousFooterOffset)
    log.put(1000, at: footer + 24)
    log.putChecksum(of: footer..<(footer + 124), at: footer + 124)
    Self.name(footer, asTheOneBefore: last, in: &log)
    let store = TestStore().with(log: log)
    let snapshot = try #require(try store.reader()).snapshot
    #expect(throws: StoreError.self) { _ = try snapshot.history() }
    #expect(throws: StoreError.self) { _ = try snapshot.snapshot(at: 1000) }
    let findings = try #require(try Verification.run(store.location)).findings
    #expect(findings.contains { $0.offset == footer }, "\(findings)")
  }

  /// Makes the last commit and its slot name the chain that the footer at `previous` has now.
  private static func name(_ previous: Int, asTheOneBefore last: SegmentFooter, in log: inout [UInt8]) {
    let segment = Int(last.segmentOffset)
    let end = Int(last.offset)
    let chain = log.rawSpan.u32(at: previous + 124)
    log.put(chain, at: segment + 48)
    log.putChecksum(of: segment..<(segment + 60), at: segment + 60)
    log.put(chain, at: end + 80)
    log.putChecksum(of: end..<(end + 124), at: end + 124)
    let lastChain = log.rawSpan.u32(at: end + 124)
    for slot in AcknowledgementSlot.offsets where log.rawSpan.u64(at: slot + 40) == UInt64(end) {
      log.put(lastChain, at: slot + 56)
      log.putChecksum(of: slot..<(slot + 4092), at: slot + 4092)
    }
  }

  @Test func `verification finds a row that names a text which is not there`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "b", shared: ["brand"]) }
    writer.close()
    var log = store.log
    let end = log.count - SegmentFooter.byteCount
    let footer = try SegmentFooter(log.rawSpan.slice(end, SegmentFooter.byteCount))
    let text = SegmentHeader.firstOffset + SegmentHeader.byteCount
    let row = text + ObjectHeader.padded(ObjectHeader.length(log.rawSpan.u32(at: text + 4)))
    let length = ObjectHeader.length(log.rawSpan.u32(at: row + 4))
    // Behind the ends of two keys; its own unit, which holds no text.
    log.put(UnitOffset(byteOffset: row).rawValue, at: row + 16)
    let salt = Checksum.salt(UnitOffset(byteOffset: row))
    log.put(Checksum.of(Array(log[(row + 4)..<(row + length)]), from: salt), at: row)
    log.putChecksum(of: text..<Int(footer.manifestOffset), at: end + 96)
    log.putChecksum(of: end..<(end + 124), at: end + 124)
    let slot = AcknowledgementSlot.offsets[0]
    let chain = log.rawSpan.u32(at: end + 124)
    log.put(chain, at: slot + 56)
    log.putChecksum(of: slot..<(slot + 4092), at: slot + 4092)
    let findings = try #require(try Verification.run(TestStore().with(log: log).location)).findings
    #expect(findings.map(\.offset) == [row] && findings[0].what.contains("text that is not there"), "\(findings)")
  }

  @Test func `a posting list that names a row outside the commit is damage to whoever merges it`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { _ in }
    _ = try writer.commit { transaction in for id in 0..<6 { try transaction.put("\(id)", "shared") } }
    writer.close()
    var log = store.log
    let list = try #require(
      stride(from: SegmentHeader.firstOffset, to: log.count, by: UnitOffset.byteCount).first { place in
        let length = ObjectHeader.length(log.rawSpan.u32(at: place + 4))
        return ObjectHeader.kind(log.rawSpan.u32(at: place + 4)) == .postingList && length <= log.count - place
          && Checksum.isValid(log.rawSpan.slice(place, length), at: UnitOffset(byteOffset: place))
      })
    let length = ObjectHeader.length(log.rawSpan.u32(at: list + 4))
    log.put(UInt32.max, at: list + 16)
    let salt = Checksum.salt(UnitOffset(byteOffset: list))
    log.put(Checksum.of(Array(log[(list + 4)..<(list + length)]), from: salt), at: list)
    let again = try TestStore().with(log: log).writer()
    #expect {
      _ = try again.commit { transaction in for id in 6..<12 { try transaction.put("\(id)", "shared") } }
    } throws: { error in
      guard case StoreError.damaged(_, let offset, _) = error else { return false }
      return offset == list
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

  @Test func `a compaction copies no row that has not one key for each key space`() throws {
    let store = TestStore()
    let writer = try store.writer()
    _ = try writer.commit { try $0.put("a", "b") }
    writer.close()
    for count in [UInt8(1), 3] {
      var log = store.log
      let row = SegmentHeader.firstOffset + SegmentHeader.byteCount
      let length = ObjectHeader.length(log.rawSpan.u32(at: row + 4))
      log[row + 9] = count
      let salt = Checksum.salt(UnitOffset(byteOffset: row))
      log.put(Checksum.of(Array(log[(row + 4)..<(row + length)]), from: salt), at: row)
      let lying = TestStore().with(log: log)
      let writer = try lying.writer()
      #expect {
        _ = try writer.compact()
      } throws: { error in
        guard case StoreError.damaged(_, row, _) = error else { return false }
        return true
      }
      #expect(lying.log == log && lying.device.names == ["s.log"])
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
    do {
      guard let repair = try Repair.run(store.location, schema: TestSchema.schema), repair.snapshot != nil else {
        return
      }
      #expect(try Verification.run(store.location)?.findings.map(\.description) == [])
    } catch { #expect(error is StoreError) }
  }
}

extension [UInt8] {
  fileprivate mutating func put(_ number: UInt32, at offset: Int) {
    for byte in 0..<4 { self[offset + byte] = UInt8(truncatingIfNeeded: number >> UInt32(8 * byte)) }
  }

  fileprivate mutating func putChecksum(of range: Range<Int>, at offset: Int) {
    put(Checksum.of(Array(self[range])), at: offset)
  }
}
