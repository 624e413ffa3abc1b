import DocumentFormat
import LogStore
import RandomTestSupport
import Testing

@testable import Documents

/// Queries inside a transaction.
@Suite struct TransactionQueryTests {
  private struct Undo: Error {}

  @Test func `a query in a transaction sees its changes, by index and by scan`() throws {
    for indexes in [[], Member.indexes] {
      let members = try TestDocuments().store().collection("members", of: Member.self, indexes: indexes)
      try members.insert(contentsOf: (0..<9).map { Member($0) })
      let online = members.query(\.user.status.isOnline == true)
      try members.store.transaction { transaction in
        #expect(try transaction.fetch(online).map(\.id) == [0, 3, 6])
        try transaction.update(3, in: members) { $0.user.status.isOnline = false }
        try transaction.update(4, in: members) { $0.user.status.isOnline = true }
        try transaction.insert(Member(12), into: members)
        try transaction.delete(6, from: members)
        #expect(try transaction.fetch(online).map(\.id) == [0, 4, 12])
        #expect(try transaction.fetch(online.order(by: \.id, descending: true).limit(2)).map(\.id) == [12, 4])
        #expect(try transaction.first(online.order(by: \.id).offset(1))?.id == 4)
        #expect(try transaction.count(online) == 3 && transaction.count(online.offset(1)) == 2)
        #expect(try transaction.count(of: members) == 9 && transaction.count(members.query()) == 9)
        #expect(try online.count() == 3 && online.fetch().map(\.id) == [0, 3, 6], "others see the last commit")
        #expect(try transaction.update(online) { $0.user.age = 99 } == 3)
        #expect(try transaction.fetch(members.query(\.user.age == 99)).map(\.id).sorted() == [0, 4, 12])
        #expect(try transaction.delete(online.order(by: \.id).limit(2)) == 2)
        #expect(try transaction.fetch(online).map(\.id) == [12])
      }
      #expect(try online.fetch().map(\.id) == [12] && members.count() == 7)
      try members.store.transaction { transaction in
        #expect(try transaction.deleteAll(from: members) == 7)
        #expect(try transaction.count(of: members) == 0 && transaction.fetch(members.query()).isEmpty)
        try transaction.insert(Member(3), into: members)
        #expect(try transaction.fetch(online).map(\.id) == [3] && transaction.count(online) == 1)
      }
      #expect(try online.fetch().map(\.id) == [3] && members.count() == 1)
    }
  }

  @Test func `random queries in transactions give what they give after the commit`() throws {
    var random = SeededGenerator(for: "queries in transactions")
    let paths: [Where<Member>] = [
      \.user.status.isOnline == true, .contains(\.user.tags, "x"), \.user.name == "anna", \.user.age > 1,
      .hasPrefix(\.user.friendRelation?.remarkName, "a"), Where(.always),
    ]
    for _ in 0..<(30 * depth) {
      let members = try TestDocuments().store().collection("members", of: Member.self, indexes: Member.indexes)
      try members.insert(contentsOf: (0..<Int.random(in: 0..<20, using: &random)).map { Member($0, &random) })
      var expected: [(ids: [Int], count: Int)] = []
      try members.store.transaction { transaction in
        for _ in 0..<Int.random(in: 0..<15, using: &random) {
          let id = Int.random(in: 0..<25, using: &random)
          switch Int.random(in: 0..<8, using: &random) {
          case 0: try transaction.delete(id, from: members)
          case 1: if id < 3 { try transaction.deleteAll(from: members) }
          case 2: try transaction.delete(members.query(paths.randomElement(using: &random)!).limit(2))
          case 3:
            try transaction.update(members.query(paths.randomElement(using: &random)!)) { $0.user.age = id }
          case 4:
            try? transaction.attempt {
              try transaction.deleteAll(from: members)
              try transaction.upsert(Member(id, &random), into: members)
              throw Undo()
            }
          default: try transaction.upsert(Member(id, &random), into: members)
          }
        }
        expected = try paths.map { path in
          (try transaction.fetch(members.query(path)).map(\.id).sorted(), try transaction.count(members.query(path)))
        }
      }
      for (path, expected) in zip(paths, expected) {
        let ids = try members.query(path).fetch().map(\.id).sorted()
        #expect(ids == expected.ids && ids.count == expected.count)
      }
    }
  }
}
