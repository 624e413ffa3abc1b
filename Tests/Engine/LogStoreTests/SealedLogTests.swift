import Bytes
import RandomTestSupport
import RecordFormat
import Sealing
import StoreTestSupport
import Testing

@testable import LogStore

/// Sealed logs: what they hide, who can open them, and what is noticed.
@Suite struct SealedLogTests {
  private let device = SimulatedDevice()

  private func location(_ key: DataKey? = testKey, sealsNew: Bool = true) -> StoreLocation {
    StoreLocation(device.directory, name: "s", environment: FixedEnvironment().environment())
      .opening(with: key, sealsNew: sealsNew)
  }

  private func writer(_ location: StoreLocation) throws(StoreError) -> StoreWriter {
    try StoreWriter(location, schema: TestSchema.schema)
  }

  private func snapshot(_ location: StoreLocation) throws -> Snapshot {
    try #require(try StoreReader.open(location)).snapshot
  }

  /// Makes a store with a base and two commits after it: rows with keys, texts, bodies, posting lists and deletions.
  @discardableResult
  private func fill(_ location: StoreLocation) throws -> [TestRow] {
    let writer = try writer(location)
    defer { writer.close() }
    for commit in 0..<3 {
      _ = try writer.commit { transaction in
        for number in 0..<40 {
          try transaction.put(
            "identity-\(commit)-\(number)", number < 20 ? "code-common" : "code-single-\(number)",
            shared: ["brand-name-\(number % 3)"], body: "contents-\(commit)-\(number)")
        }
        if commit > 0 { _ = try transaction.delete(TestSchema.id, Array("identity-0-\(commit)".utf8).rawSpan) }
        transaction.state = Array("cursor-\(commit)".utf8)
      }
    }
    return try snapshot(location).rows(0)
  }

  private var log: [UInt8] { device.contents("s.log") ?? [] }

  /// Returns a device with other bytes in its log.
  private func with(log: [UInt8]) -> StoreLocation {
    let device = SimulatedDevice()
    device.place(log, as: "s.log")
    return StoreLocation(device.directory, name: "s", environment: FixedEnvironment().environment())
      .opening(with: testKey, sealsNew: true)
  }

  @Test func `what was put is found, before and after a compaction`() throws {
    let rows = try fill(location())
    #expect(rows.count == 118)
    #expect(try location().isSealed() == true)
    #expect(try #require(try Verification.run(location())).findings.isEmpty)
    _ = try StoreContents(snapshot(location()))
    let writer = try writer(location())
    _ = try writer.compact()
    writer.close()
    #expect(try snapshot(location()).rows(0) == rows)
    #expect(try snapshot(location()).state == Array("cursor-2".utf8))
    #expect(try #require(try Verification.run(location())).findings.isEmpty)
  }

  @Test func `a store is sealed with the algorithm for processors without AES as with the other one`() throws {
    var chacha = location()
    chacha.keys.algorithm = .chaCha20Poly1305
    let rows = try fill(chacha)
    #expect(try FileHeader(log.rawSpan).sealing?.algorithm == AuthenticatedCipher.Algorithm.chaCha20Poly1305.rawValue)
    // Reading needs no choice, and a new generation has the usual algorithm again.
    #expect(try snapshot(location()).rows(0) == rows)
    #expect(try #require(try Verification.run(location())).findings.isEmpty)
    let structure = ForgedStructure(log)
    let part = try #require(structure.sealedParts.first)
    var forged = log
    forged[part.contents.lowerBound] ^= 1
    structure.fixChecksums(&forged)
    #expect(try #require(try Verification.run(with(log: forged))).findings.isEmpty == false)
    let writer = try writer(location())
    _ = try writer.compact()
    writer.close()
    let usual = try AuthenticatedCipher.Algorithm.preferred().rawValue
    #expect(try FileHeader(log.rawSpan).sealing?.algorithm == usual && snapshot(location()).rows(0) == rows)
  }

  @Test func `no text of six bytes or more is in clear`() throws {
    try fill(location())
    let words = ["identity", "code-c", "code-s", "brand-name", "contents", "cursor", "items", "links", "words"]
    for _ in 0..<2 {
      for name in device.names {
        let bytes = try #require(device.contents(name))
        for word in words { #expect(!bytes.contains(Array(word.utf8)), "\(word) in \(name)") }
      }
      let writer = try writer(location())
      _ = try writer.compact()
      writer.close()
    }
  }

  @Test func `without the key nothing is read`() throws {
    try fill(location())
    for (key, isOther) in [(nil, false), (makeTestKey(8), true)] {
      let location = location(key)
      for open in [
        { _ = try StoreReader.open(location) }, { _ = try writer(location) }, { _ = try Verification.run(location) },
      ] {
        #expect {
          try open()
        } throws: { error in
          guard case .sealed(_, let isOtherKey) = error as? StoreError else { return false }
          return isOtherKey == isOther
        }
      }
      #expect(try location.isSealed() == true)
    }
    let structure = try #require(try Verification.runStructure(location(nil)))
    #expect(structure.findings.isEmpty && structure.commitCount == 3)
  }

  @Test func `a clear store ignores a key`() throws {
    let clear = location(nil, sealsNew: false)
    let rows = try fill(clear)
    #expect(try location().isSealed() == false)
    #expect(try snapshot(location()).rows(0) == rows)
    #expect(try #require(try Verification.runStructure(clear)).findings.isEmpty)
  }

  @Test func `a program brings a key of its own`() throws {
    var bytes = [UInt8](repeating: 9, count: StoreKey.byteCount)
    let key = try StoreKey(taking: &bytes)
    #expect(bytes.isEmpty)
    var sameBytes = [UInt8](repeating: 9, count: StoreKey.byteCount)
    let same = try StoreKey(taking: &sameBytes)
    let bare = StoreLocation(device.directory, name: "s", environment: FixedEnvironment().environment())
    let rows = try fill(bare.opening(with: key, sealsNew: true))
    #expect(try snapshot(bare.opening(with: same, sealsNew: false)).rows(0) == rows)
    #expect(try bare.isSealed() == true)
    #expect(throws: StoreError.self) { try snapshot(bare) }
  }

  @Test func `a store is sealed, gets another key, and is unsealed`() throws {
    let rows = try fill(location(nil, sealsNew: false))
    let sealing = try writer(location())
    let sequence = try #require(sealing.snapshot).sequence
    let sealed = try #require(try sealing.rewrite(sealed: true))
    #expect(sealed.isSealed && sealed.sequence == sequence)
    // The next commits and generations stay sealed.
    _ = try sealing.commit { try $0.put("identity-new", "code-new") }
    _ = try sealing.compact()
    sealing.close()
    #expect(!log.contains(Array("identity-".utf8)))
    #expect(Set(try snapshot(location()).rows(0)) == Set(rows + [TestRow("identity-new", "code-new")]))

    var both = location(makeTestKey(9))
    both.keys.former = [testKey]
    let rekeying = try writer(both)
    _ = try rekeying.rewrite(sealed: true)
    rekeying.close()
    #expect(throws: StoreError.self) { try snapshot(location()) }
    #expect(try snapshot(location(makeTestKey(9))).rows(0).count == rows.count + 1)

    let unsealing = try writer(location(makeTestKey(9)))
    _ = try unsealing.rewrite(sealed: false)
    unsealing.close()
    #expect(try snapshot(location(nil)).rows(0).count == rows.count + 1)
    #expect(device.names.filter { $0.hasPrefix("s.") } == ["s.log"])
  }

  /// Computes the checksums of the file anew, as somebody does who changes it on purpose: those of objects, pages,
  /// buckets, manifests and footers.
  @Test func `a changed bit of an object, page or manifest is noticed, whatever its checksums say`() throws {
    try fill(location())
    let original = log
    let structure = ForgedStructure(original)
    var generator = SeededGenerator(for: "changed bits of a sealed log")
    for _ in 0..<150 * depth {
      let part = try #require(structure.sealedParts.randomElement(using: &generator))
      var log = original
      log[Int.random(in: part.contents, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      structure.fixChecksums(&log)
      let forged = with(log: log)
      let findings = Result { try #require(try Verification.run(forged)).findings }
      switch findings {
      case .success(let findings): #expect(!findings.isEmpty, "\(part)")
      case .failure(let error): #expect((error as? StoreError)?.isDamage == true, "\(error)")
      }
    }
  }

  @Test func `objects that change places are noticed`() throws {
    try fill(location())
    let original = log
    let structure = ForgedStructure(original)
    let records = structure.sealedParts.filter { $0.what == "object" }
    var swapped = 0
    for (a, b) in zip(records, records.dropFirst()) where a.contents.count == b.contents.count {
      var log = original
      log.replaceSubrange(a.contents, with: original[b.contents])
      log.replaceSubrange(b.contents, with: original[a.contents])
      structure.fixChecksums(&log)
      let findings = try #require(try Verification.run(with(log: log))).findings
      #expect(findings.contains { $0.what.contains("not what was sealed here") })
      swapped += 1
    }
    #expect(swapped > 50)
  }

  @Test func `what is damaged can be repaired with the key`() throws {
    let rows = try fill(location())
    let structure = ForgedStructure(log)
    let part = try #require(structure.sealedParts.first { $0.what == "object" && $0.table == 0 })
    for damagesHeader in [false, true] {
      var log = log
      log[part.contents.lowerBound] ^= 1
      if damagesHeader { for offset in 0..<4096 { log[offset] = 0 } }
      let damaged = with(log: log)
      let repair = try #require(
        try StoreWriter.repair(
          damaged, schema: TestSchema.schema, lockTimeout: .zero, setsAside: false, findingFaulty: { _ in [] },
          state: { state, _, _ in state }))
      let saved = try #require(repair.snapshot)
      #expect(saved.isSealed)
      #expect(try saved.rows(0).count == rows.count - 1)
      #expect(try #require(try Verification.run(damaged)).findings.isEmpty)
    }
  }

  @Test func `no nonce comes twice in a million commits that were torn and made again`() {
    var seen: Set<[UInt8]> = []
    let random = StoreEnvironment.system.random
    let count = 1_000_000
    for _ in 0..<count {
      var nonces = NonceSequence(random)
      seen.insert(nonces.next().bytes)
    }
    #expect(seen.count == count)
    var nonces = NonceSequence { .max }
    let first = nonces.next().bytes
    var next = first
    for _ in 0..<1000 {
      next = nonces.next().bytes
      #expect(next != first)
    }
  }
}

extension [UInt8] {
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    guard let first = part.first, count >= part.count else { return false }
    for start in 0...count - part.count where self[start] == first {
      if self[start..<start + part.count].elementsEqual(part) { return true }
    }
    return false
  }
}
