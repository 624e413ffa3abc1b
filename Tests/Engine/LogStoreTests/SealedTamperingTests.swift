import Bytes
import RandomTestSupport
import RecordFormat
import Sealing
import StoreTestSupport
import Testing

@testable import LogStore

/// Changes of a sealed log by somebody who has the file and not the key, and who computes all checksums anew: the table
/// in FORMAT.md, row by row.
@Suite struct SealedTamperingTests {
  /// What reading a changed log shows.
  private enum Outcome: Equatable {
    /// Opening, reading or `verify` reports it.
    case noticed
    /// The log cannot be opened because its header names another key.
    case refused
    /// Nothing reports it.
    case unnoticed
  }

  private static func location(_ log: [UInt8], seed: UInt64 = 5) -> (device: SimulatedDevice, location: StoreLocation) {
    let device = SimulatedDevice()
    if !log.isEmpty { device.place(log, as: "s.log") }
    let environment = FixedEnvironment(seed: seed).environment()
    let location = StoreLocation(device.directory, name: "s", environment: environment)
    return (device, location.opening(with: testKey, sealsNew: true))
  }

  /// Writes items and links: some with keys of their own, some with a key that many share, in both key spaces of links.
  private static func put(_ commit: Int, in transaction: Transaction) throws {
    for number in 0..<24 {
      let code = number < 12 ? "common-code" : "own-code-\(number)"
      try transaction.put("item-\(number)", code, shared: ["brand-\(number % 3)"], body: "body \(commit) of \(number)")
      let (from, to) = number < 8 ? ("hub", "end-\(commit)-\(number)") : ("start-\(commit)-\(number)", "hub")
      try transaction.put(1, TestRow(from, to))
    }
    transaction.state = Array("cursor-\(commit)".utf8)
  }

  /// Makes a sealed log.
  private static func made(commits: Int = 3, seed: UInt64 = 5) throws -> [UInt8] {
    let (device, location) = location([], seed: seed)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    for commit in 0..<commits { _ = try writer.commit { try put(commit, in: $0) } }
    writer.close()
    return device.contents("s.log") ?? []
  }

  /// Goes on with a log.
  private static func continued(_ log: [UInt8], seed: UInt64, _ body: (StoreWriter) throws -> Void) throws -> [UInt8] {
    let (device, location) = location(log, seed: seed)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    try body(writer)
    writer.close()
    return device.contents("s.log") ?? []
  }

  private static func outcome(_ log: [UInt8]) throws -> Outcome {
    do {
      let findings = try #require(try Verification.run(location(log).location)).findings
      return findings.isEmpty ? .unnoticed : .noticed
    } catch let error as StoreError {
      if case .sealed = error { return .refused }
      if case .unusable = error { return .noticed }
      if case .newer = error { return .noticed }
      try #require(error.isDamage, "\(error)")
      return .noticed
    }
  }

  /// Looks up all keys, and reads all indexes: each row that is found was written once, and has the key by which it was
  /// found. Returns whether something was damaged.
  @discardableResult
  private static func readsOnlyWhatWasWritten(_ log: [UInt8]) throws -> Bool {
    var isDamaged = false
    func reading(_ body: () throws -> Void) throws {
      do { try body() } catch let error as StoreError {
        try #require(error.isDamage, "\(error)")
        isDamaged = true
      }
    }
    try reading {
      let snapshot = try #require(try StoreReader.open(location(log).location)).snapshot
      for space in TestSchema.all {
        let keys = space.table == 0 ? Self.itemKeys : Self.linkKeys
        for key in keys {
          try reading {
            for row in try snapshot.rows(space, key) {
              #expect(row.keys[space.index] == Array(key.utf8) && wasWritten(row, space.table), "\(row) by \(key)")
            }
          }
        }
      }
      for table in 0..<2 {
        try reading { for row in try snapshot.rows(table) { #expect(wasWritten(row, table), "\(row)") } }
        for name in snapshot.orderedIndexes(of: table) {
          let index = try #require(snapshot.orderedIndex(table, named: name))
          try reading {
            for pair in try snapshot.pairs(of: index) {
              guard let record = try snapshot.record(pair.row, table: table) else { continue }
              #expect(try TestRow(record).orderedKeys(name).contains(pair.key), "\(name)")
            }
          }
        }
      }
    }
    return isDamaged
  }

  private static let itemKeys = (0..<24).flatMap { ["item-\($0)", "own-code-\($0)"] } + ["common-code"]
  private static let linkKeys =
    ["hub"] + (0..<4).flatMap { commit in (0..<24).flatMap { ["end-\(commit)-\($0)", "start-\(commit)-\($0)"] } }

  private static func wasWritten(_ row: TestRow, _ table: Int) -> Bool {
    let text = row.keys.map { String(decoding: $0, as: UTF8.self) }
    guard table == 0 else { return linkKeys.contains(text[0]) && linkKeys.contains(text[1]) }
    guard let number = Int(text[0].dropFirst("item-".count)), row.shared == [Array("brand-\(number % 3)".utf8)] else {
      return false
    }
    return (0..<4).contains { row.body == Array("body \($0) of \(number)".utf8) }
  }

  // MARK: Objects and pages

  /// The objects and pages of a log: the offset of each, its kind, and what is sealed of it.
  private static func parts(_ forged: ForgedLog) -> [(kind: String, range: Range<Int>, contents: Range<Int>)] {
    let objects = forged.objects.map { object in
      (
        "object \(object.kind.rawValue)", object.offset..<object.offset + object.length,
        object.offset + ObjectHeader.byteCount..<object.offset + object.length
      )
    }
    let pages = forged.segments.flatMap(\.ordered).flatMap { $0.mainPages + $0.fragmentPages }
    return objects + pages.map { ("page", $0, $0.lowerBound + 4..<$0.upperBound) }
  }

  @Test func `objects and pages from another place of their segment, or from another segment, are noticed`() throws {
    let forged = try ForgedLog(Self.made())
    let parts = Self.parts(forged)
    var tried = (same: 0, other: 0, pages: 0)
    for (number, a) in parts.enumerated() {
      for b in parts[(number + 1)...] where a.kind == b.kind && a.contents.count == b.contents.count {
        let isSame = forged.segments.contains {
          $0.start..<$0.footerOffset ~= a.range.lowerBound
            && $0.start..<$0.footerOffset ~= b.range.lowerBound
        }
        // Every pair of pages, and some of the many pairs of objects.
        guard a.kind == "page" || (isSame ? tried.same : tried.other) < 60 || (number + b.range.lowerBound) % 97 == 0
        else { continue }
        var changed = forged
        changed.bytes.replaceSubrange(a.contents, with: forged.bytes[b.contents])
        changed.bytes.replaceSubrange(b.contents, with: forged.bytes[a.contents])
        changed.seal(keepsChains: true)
        #expect(try Self.outcome(changed.bytes) == .noticed, "\(a.kind) at \(a.range) and \(b.range)")
        if isSame { tried.same += 1 } else { tried.other += 1 }
        if a.kind == "page" { tried.pages += 1 }
        if tried.same + tried.other < 40 { try Self.readsOnlyWhatWasWritten(changed.bytes) }
      }
    }
    #expect(tried.same > 50 && tried.other > 50 && tried.pages > 2, "\(tried)")
  }

  @Test func `objects and pages of another generation, or of another store with the same key, are noticed`() throws {
    let first = try Self.made(commits: 1)
    let nextGeneration = try Self.continued(first, seed: 6) { _ = try $0.compact() }
    for other in [nextGeneration, try Self.made(commits: 1, seed: 7)] {
      let forged = try ForgedLog(first)
      let own = Self.parts(forged)
      let others = Self.parts(try ForgedLog(other))
      var tried = 0
      for part in own {
        guard others.contains(where: { $0.kind == part.kind && $0.range == part.range }) else { continue }
        var changed = forged
        changed.bytes.replaceSubrange(part.contents, with: other[part.contents])
        changed.seal(keepsChains: true)
        #expect(try Self.outcome(changed.bytes) == .noticed, "\(part.kind) at \(part.range)")
        tried += 1
      }
      #expect(tried > own.count / 2, "\(tried) of \(own.count)")
    }
  }

  @Test func `a row of a copy that went on differently is not noticed at the same place`() throws {
    let common = try Self.made(commits: 2)
    func continued(_ text: String, seed: UInt64) throws -> [UInt8] {
      try Self.continued(common, seed: seed) { writer in
        _ = try writer.commit { try $0.put("item-1", "own-code-1", shared: ["brand-1"], body: "body \(text) of 1") }
      }
    }
    let own = try continued("2", seed: 8)
    let other = try continued("3", seed: 9)
    var forged = try ForgedLog(own)
    let segment = try #require(forged.segments.last)
    let record = try #require(segment.objects.first { $0.kind.table == 0 })
    let contents = record.offset + ObjectHeader.byteCount..<record.offset + record.length
    #expect(own[contents] != other[contents])
    forged.bytes.replaceSubrange(contents, with: other[contents])
    forged.seal(keepsChains: true)
    #expect(try Self.outcome(forged.bytes) == .unnoticed)
    let snapshot = try #require(try StoreReader.open(Self.location(forged.bytes).location)).snapshot
    #expect(try snapshot.rows(TestSchema.id, "item-1").map(\.body) == [Array("body 3 of 1".utf8)])
  }

  // MARK: Buckets

  /// The buckets of the blocks that the last commit uses, or of all others.
  private static func buckets(_ forged: ForgedLog, isDead: Bool, areUsed: Bool = true) throws -> [Int] {
    let footer = try #require(forged.segments.last).footer
    let manifest = try Manifest(forged.bytes.rawSpan.slice(Int(footer.manifestOffset), Int(footer.manifestLength)))
    let used = Set((manifest.tables.flatMap { $0.keySpaces.flatMap(\.blocks) } + manifest.deadBlocks).map(\.offset))
    return forged.segments.flatMap(\.blocks).filter {
      $0.isDead == isDead && used.contains(UInt64($0.offset)) == areUsed
    }
    .flatMap { block in (0..<block.bucketCount).map(block.bucket) }
  }

  @Test func `buckets that are exchanged, emptied or lead elsewhere give no wrong row, and verify reports them`() throws
  {
    let forged = try ForgedLog(Self.made())
    let buckets = try Self.buckets(forged, isDead: false).filter {
      Bucket.count(forged.bytes.rawSpan.u32(at: $0 + 4)) > 0
    }
    let units = forged.objects.map { UInt32($0.offset / 8) }
    var random = SeededGenerator(for: "buckets of a sealed log")
    let contents = try StoreContents(#require(try StoreReader.open(Self.location(forged.bytes).location)).snapshot)
    var (missed, unnoticed, tried) = (0, 0, 0)
    for _ in 0..<150 * depth {
      var changed = forged
      let bucket = buckets.randomElement(using: &random)!
      let body = bucket + 4..<bucket + Bucket.byteCount
      let kind = Int.random(in: 0..<4, using: &random)
      switch kind {
      case 0:
        let other = buckets.filter { $0 != bucket }.randomElement(using: &random)!
        changed.bytes.replaceSubrange(body, with: forged.bytes[other + 4..<other + Bucket.byteCount])
        changed.bytes.replaceSubrange(other + 4..<other + Bucket.byteCount, with: forged.bytes[body])
      case 1:
        changed.bytes.replaceSubrange(body, with: repeatElement(0, count: body.count))
        missed += 1
      case 2:
        // Entries lead to other objects, of the same kind or another.
        for entry in 0..<Bucket.count(forged.bytes.rawSpan.u32(at: bucket + 4)) {
          changed.put(units.randomElement(using: &random)!, at: bucket + 28 + 4 * entry)
        }
      default:
        // The entries of two buckets change places, and keep their tags.
        let other = buckets.filter { $0 != bucket }.randomElement(using: &random)!
        changed.bytes.replaceSubrange(bucket + 28..<bucket + 64, with: forged.bytes[other + 28..<other + 64])
      }
      if changed.bytes == forged.bytes { continue }
      tried += 1
      changed.seal(keepsChains: true)
      // Entries of dead rows matter to earlier commits only.
      if try Self.outcome(changed.bytes) != .noticed {
        let snapshot = try #require(try StoreReader.open(Self.location(changed.bytes).location)).snapshot
        #expect(try StoreContents(snapshot) == contents, "change \(kind) of the bucket at \(bucket)")
        unnoticed += 1
      }
      try Self.readsOnlyWhatWasWritten(changed.bytes)
    }
    #expect(missed > 0 && unnoticed < tried / 10, "\(unnoticed) of \(tried)")
  }

  @Test func `buckets that only earlier commits use may be changed unnoticed, and give no wrong row there`() throws {
    let forged = try ForgedLog(Self.made())
    let buckets = try Self.buckets(forged, isDead: false, areUsed: false)
    #expect(!buckets.isEmpty)
    var changed = forged
    let table = forged.objects.filter { $0.kind.table == 0 }
    let row = UInt32(try #require(table.first).offset / 8)
    for bucket in buckets {
      for entry in 0..<Bucket.count(forged.bytes.rawSpan.u32(at: bucket + 4)) {
        changed.put(row, at: bucket + Bucket.indexOffsets + 4 * entry)
      }
    }
    changed.seal(keepsChains: true)
    #expect(try Self.outcome(changed.bytes) == .unnoticed)
    let snapshot = try #require(try StoreReader.open(Self.location(changed.bytes).location)).snapshot
    #expect(try StoreContents(snapshot).sequence == 3)
    let earlier = try #require(try snapshot.snapshot(at: 2))
    #expect(try earlier.rows(0).count == 24 && earlier.rows(TestSchema.id, "item-3").isEmpty)
  }

  @Test func `an emptied bucket hides its rows from lookups, which do not notice it`() throws {
    let forged = try ForgedLog(Self.made(commits: 1))
    var hidden = 0
    for bucket in try Self.buckets(forged, isDead: false) {
      var changed = forged
      changed.bytes.replaceSubrange(bucket + 4..<bucket + 64, with: repeatElement(0, count: 60))
      changed.seal(keepsChains: true)
      let snapshot = try #require(try StoreReader.open(Self.location(changed.bytes).location)).snapshot
      for key in Self.itemKeys[..<24] where try snapshot.rows(TestSchema.id, key).isEmpty { hidden += 1 }
      #expect(try snapshot.rows(0).count == 24)
    }
    #expect(hidden >= 24)
  }

  @Test func `a posting list of another key space is not taken for the list of a key`() throws {
    let forged = try ForgedLog(Self.made(commits: 1))
    // Both key spaces of links have a list of the key "hub". Somebody who cannot read them tries all pairs.
    let lists = forged.objects(.postingList).map { UInt32($0.offset / 8) }
    #expect(lists.count >= 3)
    var exchanged = 0
    for bucket in try Self.buckets(forged, isDead: false) {
      for entry in 0..<Bucket.count(forged.bytes.rawSpan.u32(at: bucket + 4)) {
        let place = bucket + 28 + 4 * entry
        let old = forged.bytes.rawSpan.u32(at: place)
        for list in lists where lists.contains(old) && list != old {
          var changed = forged
          changed.put(list, at: place)
          changed.seal(keepsChains: true)
          #expect(try Self.readsOnlyWhatWasWritten(changed.bytes) || Self.outcome(changed.bytes) == .noticed)
          exchanged += 1
        }
      }
    }
    #expect(exchanged >= 6)
  }

  @Test func `a row taken from a dead block lives again and one added hides a row, which only verify notices`() throws {
    let forged = try ForgedLog(Self.made())
    // Each item of the commits before was replaced.
    let buckets = try Self.buckets(forged, isDead: true)
    var emptied = forged
    for bucket in buckets {
      emptied.bytes.replaceSubrange(bucket + 4..<bucket + 64, with: repeatElement(0, count: 60))
    }
    emptied.seal(keepsChains: true)
    let snapshot = try #require(try StoreReader.open(Self.location(emptied.bytes).location)).snapshot
    let bodies = try snapshot.rows(TestSchema.id, "item-3").map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies.count > 1 && bodies.contains("body 0 of 3"))
    #expect(try Self.outcome(emptied.bytes) == .noticed)
    try Self.readsOnlyWhatWasWritten(emptied.bytes)

    var hiding = forged
    let alive = UInt32(try #require(forged.segments.last?.objects.first { $0.kind.table == 0 }).offset / 8)
    for bucket in buckets {
      let count = Bucket.count(forged.bytes.rawSpan.u32(at: bucket + 4))
      if count == Bucket.deadCapacity { continue }
      hiding.put(alive, at: bucket + 8 + 4 * count)
      hiding.bytes[bucket + 7] = UInt8(count + 1)
    }
    hiding.seal(keepsChains: true)
    #expect(try Self.outcome(hiding.bytes) == .noticed)
    let hidden = try #require(try StoreReader.open(Self.location(hiding.bytes).location)).snapshot
    #expect(try Self.itemKeys[..<24].contains { try hidden.rows(TestSchema.id, $0).isEmpty })
  }

  // MARK: Segments, slots and the header

  @Test func `a manifest or a segment of another commit is noticed`() throws {
    let log = try Self.made()
    let forged = try ForgedLog(log)
    let (second, third) = (forged.segments[1], forged.segments[2])
    // The sealed names and state of one commit in the manifest of another.
    let sealedLength = Int(forged.bytes.rawSpan.u32(at: Self.stateLength(forged, 2)))
    #expect(sealedLength > 28)
    for (from, to) in [(1, 2), (0, 1)] {
      var changed = forged
      let (source, target) = (forged.segments[from], forged.segments[to])
      let sourceEnd = source.manifestOffset + Int(source.footer.manifestLength)
      let targetEnd = target.manifestOffset + Int(target.footer.manifestLength)
      changed.bytes.replaceSubrange(
        targetEnd - sealedLength..<targetEnd, with: forged.bytes[sourceEnd - sealedLength..<sourceEnd])
      changed.seal(keepsChains: true)
      #expect(try Self.outcome(changed.bytes) == .noticed)
    }
    // Two segments change places, and say so.
    var exchanged = forged
    let bytes = forged.bytes
    exchanged.bytes.replaceSubrange(
      second.start..<third.footerOffset + 128,
      with: bytes[third.start..<third.footerOffset + 128] + bytes[second.start..<second.footerOffset + 128])
    #expect(try Self.outcome(exchanged.bytes) == .noticed)
    // A counter, a block or a key length of a manifest is changed.
    for offset in third.manifestOffset..<third.manifestOffset + Int(third.footer.manifestLength) {
      var changed = forged
      changed.bytes[offset] ^= 1
      changed.seal(keepsChains: true)
      #expect(try Self.outcome(changed.bytes) == .noticed, "byte \(offset - third.manifestOffset)")
    }
  }

  /// The offset of the length of a manifest's state, which is the last thing before the state.
  private static func stateLength(_ forged: ForgedLog, _ index: Int) -> Int {
    let segment = forged.segments[index]
    let end = segment.manifestOffset + Int(segment.footer.manifestLength)
    return (segment.manifestOffset..<end - 4).last { $0 + 4 + Int(forged.bytes.rawSpan.u32(at: $0)) == end } ?? 0
  }

  @Test func `commits that are cut off are noticed by the slots, but not if these are changed too`() throws {
    let log = try Self.made()
    let forged = try ForgedLog(log)
    var cut = Array(log[..<forged.segments[2].start])
    #expect(try Self.outcome(cut) == .noticed)
    // The slot of the second commit is still there; the other one named the third commit.
    let slots = AcknowledgementSlot.offsets
    let newest = try #require(slots.max { log.rawSpan.u64(at: $0 + 24) < log.rawSpan.u64(at: $1 + 24) })
    let older = try #require(slots.first { $0 != newest })
    cut.replaceSubrange(newest..<newest + 4096, with: cut[older..<older + 4096])
    #expect(try Self.outcome(cut) == .unnoticed)
    let snapshot = try #require(try StoreReader.open(Self.location(cut).location)).snapshot
    #expect(snapshot.state == Array("cursor-1".utf8))
  }

  @Test func `an older file that is put back as a whole is not noticed`() throws {
    let log = try Self.made(commits: 2)
    let next = try Self.continued(log, seed: 10) { writer in _ = try writer.commit { try Self.put(2, in: $0) } }
    #expect(log != next)
    #expect(try Self.outcome(log) == .unnoticed)
  }

  /// The bytes, of those that are in clear and that a test changes one after the other, whose change nothing notices.
  private static func unnoticed(_ log: [UInt8], _ range: Range<Int>, _ fix: (inout ForgedLog) -> Void) throws -> Set<
    Int
  > {
    let forged = try ForgedLog(log)
    var result: Set<Int> = []
    for offset in range {
      var changed = forged
      changed.bytes[offset] ^= 1
      fix(&changed)
      if try outcome(changed.bytes) == .unnoticed { result.insert(offset - range.lowerBound) }
    }
    return result
  }

  @Test func `of the header, the creation time and what is ignored can be changed`() throws {
    let log = try Self.made()
    let unnoticed = try Self.unnoticed(log, 0..<128) { changed in
      let checksum = Checksum.of(changed.bytes.rawSpan.slice(0, 4092))
      changed.put(checksum, at: 4092)
    }
    // The minor version, the features that a reader ignores, and the creation time.
    #expect(unnoticed == Set([10, 11] + Array(16..<32) + Array(72..<80)), "\(unnoticed.sorted())")
  }

  @Test func `of the clear fields of a segment, the time of its commit and the flags can be changed`() throws {
    let log = try Self.made()
    let forged = try ForgedLog(log)
    for segment in forged.segments {
      let header = try Self.unnoticed(log, segment.start..<segment.start + 60) { $0.seal(keepsChains: true) }
      // The chain is a checksum, which is computed anew.
      #expect(header == Set(48..<52), "\(header.sorted())")
      let footer = try Self.unnoticed(log, segment.footerOffset..<segment.footerOffset + 124) {
        $0.seal(keepsChains: true)
      }
      // Three checksums, the flags and the time.
      let checksums = Array(68..<72) + Array(80..<84) + Array(96..<100)
      #expect(footer == Set(checksums + [84] + Array(88..<96)), "\(footer.sorted())")
    }
  }

  @Test func `slots and headers of blocks change no row that is read`() throws {
    let log = try Self.made()
    let forged = try ForgedLog(log)
    for slot in AcknowledgementSlot.offsets {
      for offset in slot..<slot + 64 {
        var changed = forged
        changed.bytes[offset] ^= 1
        changed.sealSlots()
        let isNoticed = try Self.outcome(changed.bytes) == .noticed
        if !isNoticed { try Self.readsOnlyWhatWasWritten(changed.bytes) }
      }
    }
    let last = try #require(forged.segments.last)
    for block in last.blocks.map(\.offset) + last.ordered.map(\.offset) {
      for offset in block..<block + 60 {
        var changed = forged
        changed.bytes[offset] ^= 1
        changed.seal(keepsChains: true)
        #expect(try Self.outcome(changed.bytes) == .noticed, "byte \(offset - block)")
        try Self.readsOnlyWhatWasWritten(changed.bytes)
      }
    }
  }
}
