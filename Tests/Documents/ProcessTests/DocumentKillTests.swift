import DocumentFormat
import Documents
import Foundation
import LogStore
import ProcessTestSupport
import RandomTestSupport
import StoreTestSupport
import Testing

/// Processes that insert documents and are killed at any moment: what they acknowledged is there, whole and found by
/// its keys.
@Suite(.serialized) struct DocumentKillTests {
  /// As in the scene.
  private static let notesPerTransaction = 3

  @Test func `a process that is killed leaves the transactions that it acknowledged, and at most one more`() throws {
    var random = SeededGenerator(for: "DocumentKillTests")
    let memory = "/dev/shm"
    let parent =
      FileManager.default.isWritableFile(atPath: memory) ? memory : FileManager.default.temporaryDirectory.path
    let path = parent + "/shelfmark-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let location = try StoreLocation.creating(path, name: "s")
    var last = 0
    var acknowledged = 0
    let rounds = 15 * depth
    for round in 0..<rounds {
      let actor = try ActorProcess("documents", path)
      var lines: [String] = []
      if round % 3 > 0 {
        #expect(actor.line() == "open")
        // Transactions are waited for, as on a busy machine none is done in a fixed time.
        for _ in 0..<Int.random(in: 1...4, using: &random) { lines.append(try #require(actor.line())) }
      }
      usleep(UInt32(Int.random(in: 0..<40_000, using: &random)))
      actor.kill()
      let reported = (lines + actor.lines()).compactMap(Int.init)
      #expect(actor.wait() == 128 + SIGKILL)
      acknowledged += reported.count
      let promised = reported.last ?? last
      #expect(reported == Array((last + 1)..<(promised + 1)))
      let store = try DocumentStore.open(location)
      let snapshot = try store.snapshot()
      #expect(try snapshot.verify().isEmpty, "round \(round)")
      let notes = try store.untypedCollection("notes")
      guard let counter = try notes.get(.integer(0)), case .text(let text) = counter["text"], let found = Int(text)
      else {
        #expect(promised == 0)
        continue
      }
      #expect(found == promised || found == promised + 1, "round \(round): \(promised) reported, \(found) found")
      #expect(try notes.count() == 1 + found * Self.notesPerTransaction, "round \(round)")
      var ids: [DocumentValue?] = []
      try notes.query(Condition(parsing: "tags == 'all'"), ordering: Ordering(parsing: "id")) { _, note in
        ids.append(note["id"])
      }
      #expect(ids == (0..<found * Self.notesPerTransaction).map { .integer(Int64($0 + 1)) }, "round \(round)")
      last = found
    }
    print("DocumentKillTests: \(rounds) processes killed, \(acknowledged) transactions acknowledged and found")
    #expect(try Verification.run(location)?.findings.isEmpty != false)
    #expect(acknowledged > rounds)
  }
}
