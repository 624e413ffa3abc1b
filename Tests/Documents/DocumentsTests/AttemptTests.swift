import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

/// `DocumentTransaction.attempt`: what it takes back, and what it leaves.
@Suite struct AttemptTests {
  private struct Stop: Error {}

  @Test func `what throws is taken back, and what was there before stays`() throws {
    let documents = TestDocuments()
    let store = try documents.store()
    let members = try store.collection("members", indexes: Member.indexes)
    let others = try store.collection("others", of: Member.self)
    try members.insert(Member(1))
    try members.insert(Member(2))
    try store.transaction { transaction in
      try transaction.insert(Member(3), into: members)
      #expect(throws: Stop.self) {
        try transaction.attempt {
          try transaction.delete(1, from: members)
          try transaction.delete(3, from: members)
          try transaction.deleteAll(from: members)
          try transaction.insert(Member(4), into: members)
          try transaction.insert(Member(1), into: others)
          throw Stop()
        }
      }
      #expect(try transaction.get(1, from: members) != nil && transaction.get(3, from: members) != nil)
      #expect(try transaction.get(4, from: members) == nil && transaction.get(1, from: others) == nil)
      _ = try transaction.attempt { try transaction.delete(2, from: members) }
    }
    #expect(try members.query().order(by: \.id).fetch().map(\.id) == [1, 3])
    #expect(try store.snapshot().collectionNames == ["members"])
  }

  @Test func `any attempts leave what those leave that did not throw`() throws {
    var random = SeededGenerator(for: "AttemptTests")
    for _ in 0..<20 { try check(&random) }
  }

  private func check(_ random: inout SeededGenerator) throws {
    let documents = TestDocuments()
    let store = try documents.store()
    let collections = try ["a", "b", "c"].map { try store.collection($0, of: Member.self) }
    var model: [[Int: Int]] = [[:], [:], [:]]
    for _ in 0..<6 {
      var draft = model
      try store.transaction { transaction in
        func change(_ model: inout [[Int: Int]]) throws {
          let (table, id) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<12, using: &random))
          switch Int.random(in: 0..<8, using: &random) {
          case 0:
            try transaction.deleteAll(from: collections[table])
            model[table] = [:]
          case 1, 2:
            try transaction.delete(id, from: collections[table])
            model[table][id] = nil
          default:
            var member = Member(id)
            member.user.age = Int.random(in: 0..<100, using: &random)
            try transaction.upsert(member, into: collections[table])
            model[table][id] = member.user.age
          }
        }
        func attempt(depth: Int, _ model: inout [[Int: Int]]) {
          var own = model
          let result: Void? = try? transaction.attempt {
            for _ in 0..<Int.random(in: 0..<6, using: &random) {
              if depth < 3, Bool.random(using: &random) { attempt(depth: depth + 1, &own) } else { try change(&own) }
            }
            if Bool.random(using: &random) { throw Stop() }
          }
          if result != nil { model = own }
        }
        for _ in 0..<10 { attempt(depth: 0, &draft) }
      }
      model = draft
      let found = try collections.map { collection in
        try Dictionary(uniqueKeysWithValues: collection.query().fetch().map { ($0.id, $0.user.age) })
      }
      #expect(found == model)
    }
  }
}
