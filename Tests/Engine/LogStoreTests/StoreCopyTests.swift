import Storage
import StoreTestSupport
import Testing

@testable import LogStore

/// Copies of stores for backups, and their way back.
@Suite struct StoreCopyTests {
  private let stores: SharedStores

  init() throws { stores = try SharedStores() }

  private func copy(_ source: String, _ target: String) throws -> Snapshot {
    try #require(try StoreCopy.make(of: stores.location(source), at: stores.location(target)))
  }

  private func restore(_ source: String, _ target: String, keeping lifetime: Duration = .zero) throws -> Snapshot? {
    try StoreCopy.restore(
      stores.location(source), to: stores.location(target), lockTimeout: .milliseconds(1), previousLifetime: lifetime)
  }

  private func isSound(_ name: String) throws -> Bool {
    try Verification.run(stores.location(name))?.findings.isEmpty == true
  }

  @Test func `a copy has the history up to the last commit and slots of its own, and both stores go on`() throws {
    let last = try stores.fill("a", commits: 5)
    let writer = try stores.writer("a")
    let copied = try copy("a", "b")
    #expect((copied.sequence, copied.generation) == (last.sequence, last.generation))
    #expect(try stores.names("b") == ["s.log"] && isSound("b"))
    for sequence in UInt64(1)...5 {
      let commit = try #require(try copied.snapshot(at: sequence))
      #expect(try StoreContents(commit) == NumberedStore.contents(sequence))
    }
    _ = try NumberedStore.commit(writer)
    writer.close()
    for _ in 0..<2 { _ = try stores.fill("b", commits: 2) }
    #expect(try stores.reader("a").snapshot.sequence == 6 && stores.reader("b").snapshot.sequence == 9)
    for name in ["a", "b"] {
      try NumberedStore.check(stores.reader(name).snapshot)
      #expect(try isSound(name))
    }
  }

  @Test(.disabled(if: testsAreSealed, "sealed stores share nothing"))
  func `a copy of a store with a shared base is a log of its own`() throws {
    _ = try stores.fill("a", commits: 3)
    #expect(try stores.adopt("a", "b") == 3)
    let last = try stores.fill("b", commits: 4)
    let copied = try copy("b", "c")
    #expect(try stores.names("c") == ["s.log"] && isSound("c"))
    #expect(try StoreContents(copied) == StoreContents(last))
    #expect(try copied.snapshot(at: 2) != nil)
  }

  @Test func `nothing is copied of a store without a commit, nor of one whose acknowledged end is unknown`() throws {
    #expect(try StoreCopy.make(of: stores.location("a"), at: stores.location("b")) == nil)
    #expect(try restore("a", "b") == nil && stores.names("b") == [])
    _ = try stores.fill("a", commits: 3)
    var bytes = try stores.bytes("a", "s.log")
    for offset in 4096..<12_288 { bytes[offset] = 0xFF }
    try stores.write(bytes, "a", "s.log")
    #expect(throws: StoreError.self) { try StoreCopy.make(of: stores.location("a"), at: stores.location("b")) }
    #expect(try stores.names("b") == [])
  }

  @Test func `a restored store is a newer generation, which readers and resting writers follow`() throws {
    _ = try stores.fill("a", commits: 3)
    let saved = try StoreContents(copy("a", "b"))
    let resting = try stores.writer("a")
    resting.rest()
    _ = try stores.fill("a", commits: 4)
    let reader = try stores.reader("a")
    let before = reader.snapshot
    let held = try stores.writer("a")
    #expect(throws: StoreError.self) { try restore("b", "a") }
    held.close()
    let restored = try #require(try restore("b", "a"))
    #expect((restored.sequence, restored.generation) == (8, before.generation + 1))
    #expect(try reader.refresh() && !resting.resume(lockTimeout: .zero))
    var contents = try StoreContents(reader.snapshot)
    contents.sequence = saved.sequence
    #expect(contents == saved)
    #expect(try StoreContents(before) == NumberedStore.contents(7))
    #expect(try stores.names("a") == ["s.lock", "s.log"] && isSound("a"))
    // Twice is as good as once.
    #expect(try restore("b", "a", keeping: .seconds(60))?.sequence == 9)
    #expect(try stores.names("a") == ["s.lock", "s.log", "s.previous"] && isSound("a"))
  }

  @Test func `a damaged store is set aside, and is no generation to go back to`() throws {
    _ = try stores.fill("a", commits: 3)
    _ = try copy("a", "b")
    var bytes = try stores.bytes("a", "s.log")
    bytes[12_288 + 100] ^= 1
    try stores.write(bytes, "a", "s.log")
    #expect(try !isSound("a"))
    #expect(try restore("b", "a", keeping: .seconds(60))?.state == Array("3".utf8))
    #expect(try stores.names("a") == ["s.damaged-1", "s.lock", "s.log"] && isSound("a"))
  }

  @Test func `a store that is gone but for the generation before it is restored as well`() throws {
    _ = try stores.fill("a", commits: 3)
    _ = try copy("a", "b")
    let writer = try stores.writer("a")
    _ = try NumberedStore.commit(writer, isGeneration: true)
    writer.close()
    _ = try stores.directory("a").remove("s.log")
    #expect(throws: StoreError.self) { try stores.reader("a") }
    let restored = try #require(try restore("b", "a"))
    #expect(restored.state == Array("3".utf8) && restored.sequence > 3)
    #expect(try isSound("a"))
  }
}
