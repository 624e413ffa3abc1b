import DocumentFormat
import LogStore
import RecordFormat
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
      StoreLocation(device.directory, name: "documents", environment: environment), options: options)
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
