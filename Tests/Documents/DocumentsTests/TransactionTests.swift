import DocumentFormat
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

@Suite struct TransactionTests {
  private struct Stop: Error {}

  @Test func `a commit waits for one sync`() throws {
    let documents = TestDocuments()
    let members = try documents.store().collection("members", of: Member.self, indexes: Member.indexes)
    try members.insert(Member(1))
    documents.device.record()
    try members.insert(Member(2))
    #expect(documents.device.calls.filter { $0 == .sync || $0 == .syncDirectory }.count == 1)
    // The next commit makes the slot durable that vouches for the one before, so it syncs no more often.
    documents.device.record()
    try members.insert(Member(3))
    #expect(documents.device.calls.filter { $0 == .sync || $0 == .syncDirectory }.count == 1)
  }

  @Test func `a transaction is one commit over several collections, and what throws leaves nothing`() throws {
    let documents = TestDocuments()
    let store = try documents.store()
    let members = try store.collection("members", indexes: Member.indexes)
    let others = try store.collection("others", of: Member.self)
    try members.insert(Member(1))
    let sequence = try store.snapshot().sequence
    try store.transaction { transaction in
      try transaction.insert(Member(2), into: members)
      try transaction.insert(Member(1), into: others)
      try transaction.update(1, in: members) { $0.user.age = 77 }
    }
    #expect(try store.snapshot().sequence == sequence + 1)
    let (bytes, contents) = (documents.bytes, try documents.contents())
    #expect(throws: Stop.self) {
      try store.transaction { transaction in
        try transaction.insert(Member(3), into: members)
        try transaction.deleteAll(from: others)
        throw Stop()
      }
    }
    #expect(throws: Stop.self) { try members.update(1) { _ in throw Stop() } }
    #expect(throws: DocumentStoreError.self) {
      try store.transaction { transaction in
        try transaction.delete(2, from: members)
        try transaction.insert(Member(1), into: members)
      }
    }
    // Nothing to do is nothing done.
    try store.transaction { _ = try $0.get(1, from: members) }
    try members.update(1) { $0.user.age = 77 }
    #expect(try !members.delete(4) && members.update(4) { $0.user.age = 1 } == nil)
    try members.insert(contentsOf: [])
    #expect(documents.bytes == bytes)
    #expect(try documents.contents() == contents)
  }

  @Test func `a transaction sees its own changes, and nobody else does before it ends`() throws {
    let store = try TestDocuments().store()
    let members = try store.collection("members", of: Member.self)
    for id in 1...3 { try members.insert(Member(id)) }
    try store.transaction { transaction in
      #expect(try transaction.delete(1, from: members))
      #expect(try !transaction.delete(1, from: members))
      #expect(try transaction.get(1, from: members) == nil)
      try transaction.insert(Member(1), into: members)
      try transaction.update(1, in: members) { $0.user.name = "again" }
      #expect(try transaction.get(1, from: members)?.user.name == "again")
      try transaction.insert(Member(4), into: members)
      #expect(try members.count() == 3 && members.get(4) == nil && members.get(1) == Member(1))
      #expect(try transaction.deleteAll(from: members) == 4)
      #expect(try transaction.deleteAll(from: members) == 0)
      #expect(try transaction.get(2, from: members) == nil && transaction.update(2, in: members) { _ in } == nil)
      try transaction.insert(Member(2), into: members)
      #expect(throws: DocumentStoreError.self) { try transaction.insert(Member(2), into: members) }
      try transaction.upsert(Member(6), into: members)
      #expect(try transaction.deleteAll(from: members) == 2)
      for id in [9, 2, 7] { try transaction.insert(Member(id), into: members) }
    }
    // They stand in the order in which they came.
    #expect(try members.query().fetch().map(\.id) == [9, 2, 7])
  }

  @Test func `random changes in one transaction leave what a dictionary would hold`() throws {
    var random = SeededGenerator(for: "TransactionTests")
    for _ in 0..<(20 * depth) {
      let documents = TestDocuments()
      let store = try documents.store()
      let collections = try ["a", "b"].map { try store.collection($0, indexes: Member.indexes) }
      var model = try documents.contents()
      for _ in 0..<3 {
        try store.transaction { transaction in
          for _ in 0..<Int.random(in: 0...25, using: &random) {
            let collection = collections.randomElement(using: &random)!
            let id = Int.random(in: 0..<8, using: &random)
            let key = try DocumentTable.key(id)
            let isThere = model.documents[collection.name]?[key] != nil
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
              let count = model.documents[collection.name]?.count ?? 0
              #expect(try transaction.deleteAll(from: collection) == count)
              model.deleteAll(collection.name)
            case 1...3:
              #expect(try transaction.delete(id, from: collection) == isThere)
              try model.delete(id, collection.name)
            case 4...6:
              let changed = try transaction.update(id, in: collection) { $0.user.age &+= 1 }
              #expect((changed != nil) == isThere)
              if let changed { try model.put(changed, collection.name) }
            default:
              let member = Member(id, &random)
              try transaction.upsert(member, into: collection)
              try model.put(member, collection.name)
            }
            let expected = model.documents[collection.name]?[key]
            #expect(try transaction.document(collection.table, key) == expected)
          }
        }
        try #require(try documents.contents() == model)
      }
    }
  }

  @Test(arguments: [nil, 700])
  func `a batch is one commit, and is refused whole`(_ flushLimit: Int?) throws {
    let documents = TestDocuments(flushLimit: flushLimit)
    let store = try documents.store()
    let members = try store.collection("members", indexes: Member.indexes)
    let sequence = try store.snapshot().sequence
    try members.insert(contentsOf: (0..<300).lazy.map { Member($0) })
    #expect(try store.snapshot().sequence == sequence + 1)
    #expect(try members.query().fetch() == (0..<300).map { Member($0) })
    let contents = try documents.contents()
    for bad in [[Member(300), Member(301), Member(300)], [Member(302), Member(7)]] {
      let error = #expect(throws: DocumentStoreError.self) { try members.insert(contentsOf: bad) }
      guard case .exists("members", let id) = error else {
        Issue.record("\(error.map { "\($0)" } ?? "")")
        continue
      }
      #expect(id == "\(bad.last!.id)")
    }
    #expect(try documents.contents() == contents)
    try members.insert(Member(300))
    #expect(try members.count() == 301)
  }

  @Test func `what is too large for the format is refused, and the store goes on`() throws {
    let documents = TestDocuments()
    let store = try documents.store()
    let members = try store.collection("members", indexes: Member.indexes)
    try members.insert(Member(1))
    let contents = try documents.contents()
    var large = Member(2)
    large.user.name = String(repeating: "x", count: 17 << 20)
    var many = Member(3)
    many.user.tags = (0..<3000).map { "a tag that is longer than most are, \($0)" }
    for member in [large, many] {
      #expect(throws: StoreError.self) { try members.insert(member) }
      #expect(throws: StoreError.self) { try members.upsert(member) }
      #expect(throws: StoreError.self) { try members.insert(contentsOf: [Member(4), member]) }
    }
    #expect(try documents.contents() == contents)
    // Without an index over them they are only values.
    try store.collection("plain", of: Member.self).insert(many)
    #expect(throws: DocumentStoreError.self) {
      try members.update(1) { $0 = Member(8) }
    }
    try members.insert(Member(4))
    #expect(try members.count() == 2)
  }

  @Test func `collections are as many, and are called, as the format allows`() throws {
    let documents = TestDocuments()
    let store = try documents.store()
    for name in ["", String(repeating: "n", count: 201)] {
      #expect(throws: DocumentStoreError.self) { try store.collection(name, of: Member.self) }
      #expect(throws: DocumentStoreError.self) { try store.untypedCollection(name) }
    }
    let names = ["../../etc", "a/b", "\n\0", "documents/", "é", String(repeating: "n", count: 200)]
    for name in names { try store.collection(name, indexes: Member.indexes).insert(Member(1)) }
    #expect(try Set(store.snapshot().collectionNames) == Set(names))
    #expect(throws: StoreError.self) {
      try store.transaction { transaction in
        for number in 0..<300 {
          try transaction.insert(Member(number), into: store.collection("\(number)", of: Member.self))
        }
      }
    }
    #expect(try store.snapshot().collectionNames.count == names.count)
    #expect(try documents.contents().documents.count == names.count)
  }
}
