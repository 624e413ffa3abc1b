import Foundation
import LogStore
import ProcessTestSupport
import RandomTestSupport
import StoreTestSupport
import Testing

/// Processes that are killed at any moment. The page cache survives them, so what was acknowledged has to be there.
@Suite(.serialized) struct KillTests {
  /// A directory in memory where there is one: a kill loses nothing that was written, and a sync costs no time.
  private final class Folder {
    let path: String

    init() throws {
      let memory = "/dev/shm"
      let parent =
        FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
      path = parent + "/shelfmark-\(UUID().uuidString)"
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Microseconds from `start` to now.
  private func microseconds(since start: ContinuousClock.Instant) -> Int {
    Int((ContinuousClock.now - start) / .microseconds(1))
  }

  @Test func `a writer that is killed leaves what it acknowledged, and at most one commit more`() throws {
    var random = SeededGenerator(for: "KillTests.writer")
    let rounds = 30 * depth
    var folder = try Folder()
    var last: UInt64 = 0
    var acknowledged = 0
    var unacknowledged = 0
    var startup = 20_000
    let start = ContinuousClock.now
    for round in 0..<rounds {
      if round % 200 == 199 {
        // The first commit of a store is one like any other.
        folder = try Folder()
        last = 0
      }
      let location = try StoreLocation.creating(folder.path, name: "s")
      let begin = ContinuousClock.now
      let actor = try ActorProcess("write", folder.path)
      var lines: [String] = []
      if round % 3 == 0 {
        // From the start of the process, and while it puts in order what the last one left.
        usleep(UInt32(Int.random(in: 0..<startup * 3 / 2, using: &random)))
      } else {
        #expect(actor.line() == "open")
        startup = (startup * 7 + microseconds(since: begin)) / 8
        // Commits are waited for, as on a busy machine none is done in a fixed time.
        for _ in 0..<Int.random(in: 0...3, using: &random) { lines.append(try #require(actor.line())) }
        usleep(UInt32(Int.random(in: 0..<12_000, using: &random)))
      }
      actor.kill()
      let reported = (lines + actor.lines()).compactMap(UInt64.init)
      #expect(actor.wait() == 128 + SIGKILL)
      let promised = reported.last ?? last
      #expect(reported == Array((last + 1)..<(promised + 1)))
      acknowledged += reported.count
      guard let reader = try StoreReader.open(location) else {
        #expect(promised == 0)
        continue
      }
      let found = reader.snapshot.sequence
      #expect(found == promised || found == promised + 1, "round \(round): \(promised) reported, \(found) found")
      unacknowledged += Int(found - promised)
      try NumberedStore.check(reader.snapshot)
      last = found
      // The lock died with its process. Who comes next goes on from there.
      let writer = try StoreWriter(location, schema: TestSchema.schema)
      #expect(writer.snapshot?.sequence == found)
      if round % 4 == 0 {
        last = try NumberedStore.commit(writer, isGeneration: round % 16 == 0).sequence
        if round % 8 == 0 { _ = try writer.compact() }
        #expect(try reader.refresh())
        try NumberedStore.check(reader.snapshot)
      }
      writer.close()
      if round % 50 == 49 { #expect(try Verification.run(location)?.findings.isEmpty == true) }
    }
    let seconds = Double(microseconds(since: start)) / 1e6
    print(
      "KillTests: \(rounds) writers killed in \(seconds) s, \(acknowledged) commits acknowledged and found, "
        + "\(unacknowledged) found that were not reported")
    #expect(acknowledged > rounds / 2)
  }

  @Test func `a reader that is killed leaves no trace`() throws {
    var random = SeededGenerator(for: "KillTests.reader")
    let folder = try Folder()
    let location = try StoreLocation.creating(folder.path, name: "s")
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    _ = try NumberedStore.commit(writer)
    for round in 1...(10 * depth) {
      let readers = try (0..<2).map { _ in try ActorProcess("read", folder.path) }
      #expect(readers[0].line() == "open")
      for _ in 0..<Int.random(in: 1...10, using: &random) {
        _ = try NumberedStore.commit(writer, isGeneration: Int.random(in: 0..<8, using: &random) == 0)
      }
      if round % 4 == 0 { _ = try writer.compact() }
      for reader in readers {
        reader.kill()
        #expect(reader.wait() == 128 + SIGKILL, "\(reader.lines())")
      }
    }
    try NumberedStore.check(#require(writer.snapshot))
    #expect(try Verification.run(location)?.findings.isEmpty == true)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["s.lock", "s.log", "s.previous"])
  }
}
