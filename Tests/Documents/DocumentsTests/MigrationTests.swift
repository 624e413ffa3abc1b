import DocumentFormat
import LogStore
import StoreTestSupport
import Synchronization
import Testing

@testable import Documents

@Suite struct MigrationTests {
  private struct Refusal: Error, CustomStringConvertible {
    let description = "not today"
  }

  /// Documents with the cursor of a synchronisation among them.
  private struct Note: Codable, Identifiable, Equatable, Sendable {
    var id: String
    var text: String
  }

  private func step(_ version: Int, _ name: String, _ log: NumberLog) -> Migration {
    Migration(to: version, name) { transaction in
      log.add(version)
      let notes = try DocumentTable("notes")
      for id in ["cursor", "a"] {
        let key = try DocumentTable.key(id)
        let old = try transaction.document(notes, key).map { try DocumentDecoder().decode(Note.self, from: $0) }
        let new = Note(id: id, text: (old?.text ?? "") + "\(version)")
        transaction.put(notes, key, try DocumentEncoder().encode(new))
      }
    }
  }

  private func text(_ store: DocumentStore) throws -> [String?] {
    let notes = try store.collection("notes", of: Note.self)
    return try ["cursor", "a"].map { try notes.get($0)?.text }
  }

  @Test func `the steps that a store lacks run in their order, in one commit with the documents`() throws {
    let documents = TestDocuments()
    let log = NumberLog()
    let steps = [3, 1, 4, 2].map { step($0, "step \($0)", log) }
    try documents.store(version: 1, migrations: steps).collection("notes", of: Note.self).insert(
      Note(id: "b", text: "b"))
    #expect(log.all == [1])
    let sequence = try documents.inspect().snapshot().sequence
    let store = try documents.store(version: 3, migrations: steps)
    #expect(log.all == [1, 2, 3])
    #expect(try store.snapshot().sequence == sequence + 1 && store.snapshot().schemaVersion == 3)
    #expect(try text(store) == ["123", "123"])
    let bytes = documents.bytes
    #expect(try documents.store(version: 3, migrations: steps).snapshot().schemaVersion == 3)
    #expect(documents.bytes == bytes && log.all == [1, 2, 3])
    // A store that was already open sees the new commit.
    #expect(try documents.store(version: 4, migrations: steps).snapshot().schemaVersion == 4)
    #expect(try text(store) == ["1234", "1234"])
    #expect(try documents.contents().schemaVersion == 4)
  }

  @Test func `a step that fails is named, and nothing was changed`() throws {
    let documents = TestDocuments()
    let log = NumberLog()
    _ = try documents.store(version: 1, migrations: [step(1, "one", log)])
    let bytes = documents.bytes
    let failing = Migration(to: 3, "the third") { _ in throw Refusal() }
    let error = #expect(throws: DocumentStoreError.self) {
      try documents.store(version: 4, migrations: [step(2, "two", log), failing, step(4, "four", log)])
    }
    guard case .migration(let path, 3, "the third", let reason) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "")")
      return
    }
    #expect(path == "/simulated/documents.log" && reason is Refusal)
    #expect(error.map { "\($0)".contains("the third") && "\($0)".contains("not today") } == true)
    #expect(documents.bytes == bytes)
    #expect(log.all == [1, 2])
    #expect(try text(documents.store(version: 1)) == ["1", "1"])
    #expect(try documents.store(version: 2, migrations: [step(2, "two", log)]).snapshot().schemaVersion == 2)
  }

  @Test func `a store of a newer version is refused, whoever is writing to it, and tools still read it`() throws {
    let documents = TestDocuments()
    let store = try documents.store(version: 5)
    try store.collection("notes", of: Note.self).insert(Note(id: "a", text: "x"))
    let bytes = documents.bytes
    let writer = try StoreWriter(documents.location, schema: Schema([]))
    let error = #expect(throws: DocumentStoreError.self) { try documents.store(version: 4) }
    guard case .newerSchema("/simulated/documents.log", 5, 4) = error else {
      Issue.record("\(error.map { "\($0)" } ?? "")")
      return
    }
    writer.close()
    #expect(documents.bytes == bytes)
    let inspected = try documents.inspect()
    #expect(try inspected.snapshot().schemaVersion == 5)
    #expect(try inspected.untypedCollection("notes").get(.text("a"))?["text"] == .text("x"))
  }

  @Test func `another program's log is no store of documents`() throws {
    let documents = TestDocuments()
    let writer = try StoreWriter(documents.location, schema: TestSchema.schema)
    _ = try writer.commit {
      try $0.put("a")
      $0.state = Array("something else".utf8)
    }
    writer.close()
    #expect(throws: DocumentStoreError.self) { try documents.store() }
    #expect(throws: DocumentStoreError.self) { try documents.inspect() }
    #expect(throws: DocumentStoreError.self) {
      try DocumentStore.repair(documents.with(rotten(documents.bytes)).location)
    }
  }

  private func rotten(_ log: [UInt8]) -> [UInt8] {
    var log = log
    log[SegmentOffset.firstObject] ^= 1
    return log
  }
}

/// Where the first row of a log stands.
enum SegmentOffset { static let firstObject = 12288 + 64 + 8 }

/// Numbers that closures add to.
final class NumberLog: Sendable {
  private let numbers = Mutex<[Int]>([])

  func add(_ number: Int) { numbers.withLock { $0.append(number) } }

  var all: [Int] { numbers.withLock { $0 } }
}
