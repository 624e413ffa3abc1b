import Bytes
import Storage
import StoreTestSupport
import Testing
@testable import LogStore

/// A caller's mistake ends the process with a sentence; it never reaches the file.
@Suite struct PreconditionTests {
  @Test(arguments: ["", "..", "a/b", "a\0b", String(repeating: "x", count: 201)])
  func `a name that is no name of a store is refused`(name: String) async throws {
    let end = await #expect(processExitsWith: .failure) { [name] in
      _ = try StoreLocation.existing("/", name: name)
    }
    expectTrap(end)
  }

  @Test func `a name of 200 bytes is one`() throws {
    let folder = try TemporaryDirectory()
    for name in [String(repeating: "x", count: 200), "a b", "...", "é\n"] {
      let writer = try StoreWriter(.creating(folder.path, name: name), schema: TestSchema.schema)
      _ = try writer.commit { try $0.put("1") }
      writer.close()
      #expect(try StoreReader.open(try #require(try .existing(folder.path, name: name)))?.snapshot.rowCount(0) == 1)
    }
  }

  @Test func `a transaction of another writer is not committed`() async {
    let end = await #expect(processExitsWith: .failure) {
      let foreign = try TestStore().writer().begin()
      _ = try TestStore().writer().commit(foreign)
    }
    expectTrap(end)
  }

  @Test func `a transaction that was committed takes no deletion`() async {
    let end = await #expect(processExitsWith: .failure) {
      let writer = try TestStore().writer()
      let transaction = try writer.begin()
      _ = try writer.commit(transaction)
      try transaction.delete(TestSchema.id, "1")
    }
    expectTrap(end)
  }

  @Test func `a row with a key too few is refused`() async {
    let end = await #expect(processExitsWith: .failure) {
      let writer = try TestStore().writer()
      _ = try writer.commit { transaction in
        var draft = RecordDraft()
        draft.addKey([UInt8](repeating: 1, count: 3).rawSpan)
        try transaction.put(0, draft)
      }
    }
    expectTrap(end)
  }

  @Test func `bytes outside a mapping are not lent`() async {
    let end = await #expect(processExitsWith: .failure) {
      let folder = try TemporaryDirectory()
      let file = try #require(try folder.directory.open("file", .create))
      try file.truncate(to: 4096)
      let mapping = try file.map(4096)
      // Bytes outside are what is asked for: the check has to come before the span.
      _ = unsafe mapping.bytes(4090, 8).byteCount
    }
    expectTrap(end)
  }

  @Test func `changes do not lead back in time`() async {
    let end = await #expect(processExitsWith: .failure) {
      let writer = try TestStore().writer()
      let first = try writer.commit { try $0.put("1") }
      let second = try writer.commit { try $0.put("2") }
      _ = try first.changes(since: second)
    }
    expectTrap(end)
  }
}
