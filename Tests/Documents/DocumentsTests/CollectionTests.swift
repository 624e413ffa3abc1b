import Bytes
import DocumentFormat
import LogStore
import StoreTestSupport
import Testing
@testable import Documents

@Suite struct CollectionTests {
  private let device = SimulatedDevice()
  private let environment = FixedEnvironment().environment()
  private static let indexes: [Index<Member>] = [
    Index(\.user.friendRelation?.remarkName, prefixes: true), Index(\.user.status.isOnline), Index(\.user.tags),
  ]

  private func store(_ options: DocumentStore.Options = DocumentStore.Options()) throws -> DocumentStore {
    try DocumentStore.open(
      StoreLocation.test(device.directory, name: "documents", environment: environment), options: options)
  }

  @Test func `a document is found by its id until it is deleted`() throws {
    let members = try store().collection("members", of: Member.self)
    #expect(try members.get(1) == nil)
    try members.insert(Member(1))
    try members.insert(Member(2))
    #expect(try members.get(1) == Member(1))
    #expect(try members.count() == 2)
    #expect(throws: DocumentStoreError.self) { try members.insert(Member(2)) }
    let changed = try members.update(2) { $0.user.name = "new" }
    #expect(changed?.user.name == "new")
    #expect(try members.get(2) == changed)
    #expect(try members.update(3) { $0.user.name = "none" } == nil)
    #expect(try members.delete(2))
    #expect(try !members.delete(2))
    #expect(try members.get(2) == nil)
    try members.upsert(Member(5))
    try members.upsert(Member(5))
    #expect(try members.count() == 2)
    #expect(try members.deleteAll() == 2)
    #expect(try members.query().fetch().isEmpty)
  }

  @Test func `a closed store throws, but for what was taken from it before`() async throws {
    let store = try store()
    let members = try store.collection("members", of: Member.self)
    try members.insert(contentsOf: (0..<3).map { Member($0) })
    let (snapshot, results) = (try store.snapshot(), try members.query().results())
    var changes = members.changes.makeAsyncIterator()
    // What has begun is finished.
    try store.transaction { transaction in
      store.close()
      try transaction.insert(Member(3), into: members)
    }
    store.close()
    let calls: [(String, () throws -> Void)] = [
      ("snapshot", { _ = try store.snapshot() }), ("transaction", { try store.transaction { _ in } }),
      ("compact", { try store.compact() }), ("collection", { _ = try store.collection("m", of: Member.self) }),
      ("untyped", { _ = try store.untypedCollection("m") }), ("get", { _ = try members.get(1) }),
      ("count", { _ = try members.count() }), ("insert", { try members.insert(Member(9)) }),
      ("batch", { try members.insert(contentsOf: [Member(9)]) }), ("upsert", { try members.upsert(Member(9)) }),
      ("update", { try members.update(1) { _ in } }), ("delete", { try members.delete(1) }),
      ("deleteAll", { try members.deleteAll() }), ("query", { _ = try members.query().fetch() }),
      ("explain", { _ = try members.query().explain() }), ("query count", { _ = try members.query().count() }),
    ]
    for (name, call) in calls {
      do {
        try call()
        Issue.record("\(name) went through")
      } catch DocumentStoreError.closed(let path) { #expect(path == "/simulated/documents.log", "\(name)") }
    }
    #expect(try members.get(2, in: snapshot) == Member(2))
    #expect(try results.map { try $0.get() }.count == 3)
    // Observers get nothing more.
    #expect(try await changes.next() == nil)
    var later = members.changes.makeAsyncIterator()
    #expect(try await later.next() == nil)
    #expect(try self.store().collection("members", of: Member.self).count() == 4)
  }

  @Test func `nested values are queried through an index and without one, and both say the same`() throws {
    let all = (0..<1000).map { Member($0) }
    let indexed = try store().collection("indexed", indexes: Self.indexes)
    let plain = try store().collection("plain", of: Member.self)
    try indexed.insert(contentsOf: all)
    try plain.insert(contentsOf: all)
    let questions: [(Where<Member>, (Member) -> Bool)] = [
      (\.user.friendRelation?.remarkName == "remark 4", { $0.user.friendRelation?.remarkName == "remark 4" }),
      (\.user.friendRelation?.remarkName == nil, { $0.user.friendRelation == nil }),
      (
        \.user.status.isOnline == true && \.user.age > 40, { $0.user.status.isOnline && $0.user.age > 40 }
      ),
      (.contains(\.user.tags, "t1") && \.user.gender == Gender.other(3), { $0.id % 3 == 1 && $0.id % 4 == 3 }),
      (.hasPrefix(\.user.friendRelation?.remarkName, "remark 8"), { $0.user.friendRelation?.remarkName == "remark 8" }),
    ]
    for (filter, holds) in questions {
      let expected = all.filter(holds)
      #expect(!expected.isEmpty)
      #expect(try indexed.query(filter).order(by: \.id).fetch() == expected)
      #expect(try plain.query(filter).order(by: \.id).fetch() == expected)
      #expect(try indexed.query(filter).count() == expected.count)
    }
    #expect(try indexed.query(questions[0].0).explain() != .scan)
    #expect(try plain.query(questions[0].0).explain() == .scan)
  }
}
