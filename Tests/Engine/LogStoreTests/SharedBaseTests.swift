import Bytes
import Foundation
import RandomTestSupport
import RecordFormat
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// Stores that begin with what another one holds: what they share, and that they do not depend on each other.
@Suite(.disabled(if: testsAreSealed, "sealed stores share nothing")) struct SharedBaseTests {
  private let stores: SharedStores

  init() throws { stores = try SharedStores() }

  private func writer(_ name: String) throws -> StoreWriter { try stores.writer(name) }

  @Test func `an adopted store shows the same commit and takes a few pages`() throws {
    let source = try stores.fill("a", commits: 5)
    #expect(try stores.adopt("a", "b") == 5)
    let found = try stores.reader("b").snapshot
    try NumberedStore.check(found)
    #expect(found.sequence == 5 && found.generation == source.generation)
    #expect(try found.history().map(\.sequence) == [5, 4, 3, 2, 1])
    try NumberedStore.check(#require(try found.snapshot(at: 2)))
    // One file more, of three pages; the rest is on the disk once.
    #expect(try stores.bytes("b", "s.log").count == SegmentHeader.firstOffset)
    #expect(try stores.names("b") == ["s.base", "s.lock", "s.log"])
    #expect(try stores.status("b", "s.base").inode == stores.status("a", "s.log").inode)
    #expect(try stores.status("b", "s.log").blocks * 512 <= SegmentHeader.firstOffset)
    let base = try #require(try found.sharedBase())
    #expect(base.path.hasSuffix("b/s.base") && base.linkCount == 2 && base.isShared)
    #expect(base.byteCount == source.end - SegmentHeader.firstOffset)
    let other = try #require(try source.sharedBase())
    #expect(other.path.hasSuffix("a/s.log") && other.byteCount == source.end && other.isShared)
    let verification = try #require(try Verification.run(stores.location("b")))
    #expect(verification.findings.isEmpty && verification.commitCount == 5 && verification.byteCount == source.end)
    #expect(try found.statistics().fileByteCount == source.statistics().fileByteCount)
  }

  @Test func `a base that others share is not written out for what is dead in it`() throws {
    _ = try stores.fill("a", commits: 40)
    #expect(try stores.adopt("a", "b") == 40)
    let alone = try stores.reader("a").snapshot
    // Due at once, by what is dead, were it not for the other name of the base.
    let policy = CompactionPolicy(share: 0.5, floor: 0)
    let writer = try writer("b")
    var snapshot = try #require(writer.snapshot)
    let base = try #require(try snapshot.sharedBase())
    let limit = policy.allowance(for: base.byteCount)
    #expect(try policy.isDue(in: alone) && limit > 8 * 4096)
    var commits = 0
    while try !policy.isDue(in: snapshot), commits < 200 {
      let own = snapshot.end - base.byteCount
      #expect(own <= limit, "a commit more than allowed")
      snapshot = try NumberedStore.commit(writer)
      commits += 1
    }
    let own = snapshot.end - base.byteCount
    #expect(own > limit && commits > 4, "\(own) of \(limit) bytes behind \(commits) commits")
    _ = try writer.compact()
    let compacted = try #require(writer.snapshot)
    writer.close()
    #expect(try compacted.sharedBase() == nil && !policy.isDue(in: compacted))
    #expect(try stores.names("b") == ["s.lock", "s.log"])
    // Of a base that nobody else has any more, all of it is the store's own.
    #expect(try stores.adopt("a", "c") == 40)
    #expect(try !policy.isDue(in: stores.reader("c").snapshot))
    try FileManager.default.removeItem(atPath: stores.path("a"))
    #expect(try policy.isDue(in: stores.reader("c").snapshot))
  }

  @Test func `nothing is adopted where there is a log, from where there is no commit, and while somebody writes`()
    throws
  {
    #expect(try stores.adopt("a", "b") == nil)
    _ = try writer("a")
    #expect(try stores.adopt("a", "b") == nil)
    _ = try stores.fill("a", commits: 2)
    _ = try stores.fill("b", commits: 1)
    #expect(try stores.adopt("a", "b") == nil)
    #expect(try stores.reader("b").snapshot.sequence == 1)
    let held = try writer("c")
    #expect {
      _ = try BaseAdoption.adopt(from: stores.location("a"), into: stores.location("c"))
    } throws: { error in
      if case StoreError.locked = error { true } else { false }
    }
    held.close()
    #expect(try stores.adopt("a", "c") == 2)
  }

  @Test func `both go on from the common commit, each in its own way, as a store without a base would`() throws {
    var random = SeededGenerator(for: "SharedBaseTests, increments")
    for round in 0..<(2 * depth) {
      let stores = try SharedStores()
      var models = [StoreModel()]
      models[0].idLimit = 80
      let first = try stores.writer("0")
      for rows in [60, 10, 5] { _ = try first.commit { try models[0].change($0, rows: rows, &random) } }
      // A third one adopts from the second, which has gone on meanwhile: it begins where the second did.
      models += [models[0], models[0]]
      #expect(try stores.adopt("0", "1") == 3)
      var writers = [first, try stores.writer("1")]
      _ = try writers[1].commit { try models[1].change($0, rows: 7, &random) }
      #expect(try stores.adopt("1", "2") == 3)
      writers.append(try stores.writer("2"))
      // What the same changes make of a file that shares nothing.
      var plain: [[UInt64: StoreContents]] = models.map { [$0.sequence: $0.contents] }
      for step in 0..<30 {
        let index = Int.random(in: 0..<3, using: &random)
        let writer = writers[index]
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
          writer.close()
          writers[index] = try stores.writer("\(index)")
        case 1:
          // Also to a commit inside the base.
          let sequence = try #require(plain[index].keys.sorted().randomElement(using: &random))
          let last = try #require(writer.snapshot)
          guard sequence < last.sequence, let old = try last.snapshot(at: sequence) else { continue }
          var expected = try #require(plain[index][sequence])
          #expect(try StoreContents(old) == expected)
          _ = try writer.rollback(to: old) { transaction, _ in transaction.state = old.state }
          expected.sequence = last.sequence + 1
          models[index] = models[index].keeping(expected)
        case 2 where step > 15:
          _ = try writer.compact()
          plain[index] = [:]
        case 3 where step > 20:
          _ = try writer.replace { try models[index].change($0, rows: 20, &random) }
          plain[index] = [:]
        default:
          _ = try writer.commit {
            try models[index].change($0, rows: Int.random(in: 0...12, using: &random), &random)
          }
        }
        plain[index][models[index].sequence] = models[index].contents
        for other in 0..<3 {
          let shown = try StoreContents(stores.reader("\(other)").snapshot)
          try #require(shown == models[other].contents, "round \(round), step \(step), store \(other)")
        }
      }
      for name in ["0", "1", "2"] {
        #expect(try #require(try Verification.run(stores.location(name))).findings.isEmpty)
      }
      for writer in writers { writer.close() }
    }
  }

  @Test(arguments: ["compaction", "full update", "removal of its files", "removal of its directory"])
  func `whatever happens to the source, the other one goes on, and so does who reads it`(fate: String) throws {
    _ = try stores.fill("a", commits: 20)
    #expect(try stores.adopt("a", "b") == 20)
    let reader = try stores.reader("b")
    let source = try writer("a")
    switch fate {
    case "compaction": _ = try source.compact()
    case "full update":
      for _ in 0..<2 { _ = try NumberedStore.commit(source, isGeneration: true) }
    case "removal of its files":
      for name in try stores.names("a") { _ = try stores.directory("a").remove(name) }
    default: try FileManager.default.removeItem(atPath: stores.path("a"))
    }
    try NumberedStore.check(reader.snapshot)
    let again = try writer("b")
    try NumberedStore.check(#require(again.snapshot))
    for _ in 0..<20 { _ = try NumberedStore.commit(again) }
    #expect(try reader.refresh())
    #expect(reader.snapshot.sequence == 40)
    try NumberedStore.check(reader.snapshot)
    #expect(try #require(try Verification.run(stores.location("b"))).findings.isEmpty)
    // Nobody else has the base now, and it goes with the last who needs it.
    #expect(try #require(try reader.snapshot.sharedBase()).linkCount == 1)
    _ = try again.compact()
    #expect(try stores.names("b") == ["s.lock", "s.log"])
    try NumberedStore.check(reader.snapshot)
    try reader.refresh()
    #expect(try reader.snapshot.sharedBase() == nil)
    try NumberedStore.check(reader.snapshot)
  }

  @Test func `whatever happens to the adopted store, the source keeps its bytes`() throws {
    _ = try stores.fill("a", commits: 6)
    let before = try stores.bytes("a", "s.log")
    #expect(try stores.adopt("a", "b") == 6)
    let writer = try writer("b")
    for _ in 0..<3 { _ = try NumberedStore.commit(writer) }
    _ = try NumberedStore.commit(writer, isGeneration: true)
    // The generation before, which is kept, still needs the base.
    #expect(try stores.names("b") == ["s.base", "s.lock", "s.log", "s.previous"])
    _ = try writer.compact()
    #expect(try stores.names("b") == ["s.base", "s.lock", "s.log", "s.previous"])
    try stores.directory("b").rename("s.previous", to: "x.log")
    try stores.directory("b").link("s.base", to: "x.base")
    let previous = StoreLocation.test(try stores.directory("b"), name: "x")
    try NumberedStore.check(#require(try StoreReader.open(previous)).snapshot)
    _ = try NumberedStore.commit(writer, isGeneration: true)
    // From now on nobody does.
    #expect(try stores.names("b").contains("s.previous") && !stores.names("b").contains("s.base"))
    writer.close()
    #expect(try stores.bytes("a", "s.log") == before)
  }

  @Test func `what no log names any more the next writer removes`() throws {
    _ = try stores.fill("a", commits: 2)
    for isTorn in [true, false] {
      #expect(try stores.adopt("a", "b") == 2)
      if isTorn {
        try stores.directory("b").rename("s.log", to: "s.new")
      } else {
        _ = try stores.directory("b").remove("s.log")
      }
      #expect(try StoreReader.open(stores.location("b")) == nil)
      try writer("b").close()
      #expect(try stores.names("b") == ["s.lock"])
    }
    // Another file that stands in the way is replaced.
    try stores.write([1, 2, 3], "b", "s.base")
    #expect(try stores.adopt("a", "b") == 2)
    // What an earlier log needs is not: then the bytes are copied.
    try stores.directory("b").rename("s.log", to: "s.previous")
    _ = try stores.fill("c", commits: 4)
    #expect(try stores.adopt("c", "b") == 4)
    let copied = try stores.reader("b").snapshot
    #expect(try copied.sharedBase() == nil && stores.names("b").contains("s.base"))
    try NumberedStore.check(copied)
  }

  @Test func `a commit that was not acknowledged is not shared`() throws {
    _ = try stores.fill("a", commits: 3)
    var log = try stores.bytes("a", "s.log")
    // Slot A names commit 3, slot B commit 2.
    for byte in 4096..<8192 { log[byte] = 0 }
    try stores.write(log, "a", "s.log")
    #expect(try stores.reader("a").snapshot.sequence == 3)
    #expect(try stores.adopt("a", "b") == 2)
    for byte in 8192..<12_288 { log[byte] = 0 }
    try stores.write(log, "a", "s.log")
    #expect(try stores.adopt("a", "c") == nil)
  }

  @Test func `slots of a tail log that cannot be read leave what the base and the tail hold`() throws {
    _ = try stores.fill("a", commits: 3)
    #expect(try stores.adopt("a", "b") == 3)
    let before = try stores.bytes("a", "s.log")
    for commits in 0..<3 {
      var log = try stores.bytes("b", "s.log")
      for byte in stride(from: 4096, to: 12_288, by: 512) { log[byte] ^= 1 }
      try stores.write(log, "b", "s.log")
      #expect(try #require(try Verification.run(stores.location("b"))).findings.count == 2)
      let writer = try writer("b")
      try NumberedStore.check(#require(writer.snapshot))
      #expect(try NumberedStore.commit(writer).sequence == UInt64(4 + commits))
      writer.close()
      try NumberedStore.check(stores.reader("b").snapshot)
    }
    #expect(try stores.bytes("a", "s.log") == before)
  }

  @Test func `a log that has lost its name under its opener gives way to the one that has it`() throws {
    _ = try stores.fill("a", commits: 3)
    #expect(try stores.adopt("a", "b") == 3)
    let location = try stores.location("b")
    let stale = try #require(try location.directory.open("s.log", .read))
    let writer = try writer("b")
    _ = try writer.compact()
    let log = try #require(try LogFile.open(stale, at: location, .read))
    #expect(log.file.identity != stale.identity && log.header.base == nil)
    _ = try stores.directory("b").remove("s.log")
    #expect(try LogFile.open(stale, at: location, .read) == nil)
  }
}
