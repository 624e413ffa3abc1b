import StoreTestSupport
import Testing

@testable import LogStore

/// A shared string belongs to the transaction that shared it.
@Suite struct SharedStringTests {
  private static func draft(_ id: String, naming text: SharedString) -> RecordDraft {
    var draft = RecordDraft()
    let key = Array(id.utf8)
    draft.addKey(key.rawSpan)
    draft.addKey(key.rawSpan)
    draft.addShared(text)
    return draft
  }

  @Test func `a text is shared by the rows of its transaction, and the empty one by all rows`() throws {
    let writer = try TestStore().writer()
    let text = Array("brand".utf8)
    for round in 0..<2 {
      let snapshot = try writer.commit { transaction in
        let shared = try transaction.share(text.rawSpan)
        for index in 0..<3 { try transaction.put(0, Self.draft("\(round) \(index)", naming: shared)) }
        try transaction.put(0, Self.draft("\(round) empty", naming: .empty))
      }
      #expect(try snapshot.rows(TestSchema.id, "\(round) 2").map(\.shared) == [[text]])
      #expect(try snapshot.rows(TestSchema.id, "\(round) empty").map(\.shared) == [[[]]])
    }
  }

  @Test func `a text of another transaction is refused, also of the same writer`() async {
    let end = await #expect(processExitsWith: .failure) {
      let writer = try TestStore().writer()
      let text = Array("brand".utf8)
      var stale = SharedString.empty
      _ = try writer.commit { stale = try $0.share(text.rawSpan) }
      _ = try writer.commit { transaction in
        // What is shared here may stand where the other one stood: the offset alone would not tell.
        _ = try transaction.share(text.rawSpan)
        try transaction.put(0, Self.draft("1", naming: stale))
      }
    }
    expectTrap(end)
  }
}
