import DocumentFormat
import LogStore
import StoreTestSupport
import Synchronization
import Testing

@testable import Documents

@Suite struct IndexTests {
  /// What the store tells while it gives keys to documents that are there.
  private final class Progress: Sendable {
    let reports = Mutex<[(done: Int, total: Int)]>([])

    var options: DocumentStore.Options {
      var options = DocumentStore.Options()
      options.onReindex = { _, done, total in self.reports.withLock { $0.append((done, total)) } }
      return options
    }
  }

  @Test func `an index is added later, removed and added again, and each time finds all`() throws {
    let documents = TestDocuments()
    let all = (0..<1200).map { Member($0) }
    try documents.store().collection("members", of: Member.self).insert(contentsOf: all)
    let filter: Where<Member> = \.user.status.isOnline == true && .contains(\.user.tags, "t0")
    let expected = all.filter { $0.user.status.isOnline && $0.user.tags.contains("t0") }.map(\.id)
    func ask(_ members: DocumentCollection<Member>, isIndexed: Bool) throws {
      #expect(try (members.query(filter).explain() != .scan) == isIndexed)
      #expect(try members.query(filter).order(by: \.id).fetch().map(\.id) == expected)
    }
    let progress = Progress()
    var members: DocumentCollection<Member> = try documents.store(progress.options).collection(
      "members", indexes: [Index(\.user.tags)])
    try ask(members, isIndexed: true)
    #expect(progress.reports.withLock { $0.map(\.done) } == [1000, 1200])
    #expect(progress.reports.withLock { $0.allSatisfy { $0.total == 1200 } })

    // To name it again changes nothing; to name none costs one small commit, and no document is written.
    var bytes = documents.bytes
    members = try documents.store(progress.options).collection("members", indexes: [Index(\.user.tags)])
    #expect(documents.bytes == bytes)
    members = try documents.store(progress.options).collection("members", of: Member.self)
    #expect(documents.bytes.count <= bytes.count + 3 * 4096)
    try ask(members, isIndexed: false)
    #expect(progress.reports.withLock { $0.count } == 2)

    // While it was away documents came and went without keys. Its number is not used again.
    try members.delete(0)
    try members.insert(Member(0))
    members = try documents.store(progress.options).collection("members", indexes: [Index(\.user.tags)])
    try ask(members, isIndexed: true)
    #expect(progress.reports.withLock { $0.count } == 4)
    let declared = try members.store.snapshot().indexes(of: members.table)
    #expect(declared.map(\.keyHead) == [[1, 0]] && declared.map(\.description.path.description) == ["user.tags"])

    // Another one beside it, in another order, and a prefix index in the place of one without.
    let two: [Index<Member>] = [Index(\.user.name, prefixes: true), Index(\.user.tags)]
    members = try documents.store().collection("members", indexes: two)
    bytes = documents.bytes
    members = try documents.store().collection("members", indexes: two.reversed())
    #expect(documents.bytes == bytes)
    #expect(try members.query(.hasPrefix(\.user.name, "name 9")).explain() != .scan)
    #expect(
      try members.query(.hasPrefix(\.user.name, "name 9")).order(by: \.id).fetch()
        == all.filter { $0.user.name.hasPrefix("name 9") })
    members = try documents.store().collection("members", indexes: [Index(\.user.name), Index(\.user.tags)])
    #expect(try members.query(.hasPrefix(\.user.name, "name 9")).explain() == .scan)
    #expect(try documents.contents().indexes == ["members": ["user.name", "user.tags"]])
  }

  @Test func `a document that another store writes has the keys of all indexes that are declared`() throws {
    let documents = TestDocuments()
    let first = try documents.store().collection("members", of: Member.self)
    try first.insert(Member(0))
    _ = try documents.store().collection("members", indexes: Member.indexes)
    // This one has never heard of the indexes.
    try first.insert(Member(2))
    try first.insert(contentsOf: [Member(4), Member(3)])
    try first.update(0) { $0.user.tags = ["new"] }
    #expect(try first.query(.contains(\.user.tags, "new")).explain() != .scan)
    #expect(try first.query(.contains(\.user.tags, "new")).fetch().map(\.id) == [0])
    #expect(try first.query(\.user.friendRelation?.remarkName == "remark 4").fetch().map(\.id) == [4])
    #expect(try documents.contents().documents["members"]?.count == 4)
  }

  /// A type whose coding keys are not the names of its properties.
  private struct Renamed: Codable, Identifiable, Sendable {
    enum CodingKeys: String, CodingKey { case id, name = "n" }
    var id: Int
    var name: String?
  }

  @Test func `an index that does not see its property is reported by the first document that has it`() throws {
    let store = try TestDocuments().store()
    let blind = try store.collection("a", indexes: [Index(\Renamed.name)])
    try blind.insert(Renamed(id: 1))
    let error = #expect(throws: DocumentStoreError.self) { try blind.insert(Renamed(id: 2, name: "x")) }
    guard case .pathMismatch("a", "name") = error else {
      Issue.record("\(error.map { "\($0)" } ?? "")")
      return
    }
    let seeing = try store.collection("b", indexes: [Index(\Renamed.name, path: "n")])
    try seeing.insert(Renamed(id: 2, name: "x"))
    let byPath = Where<Renamed>(.compare(try FieldPath(parsing: "n"), .equal, .text("x")))
    #expect(try seeing.query(byPath).explain() != .scan)
    #expect(try seeing.query(byPath).fetch().map(\.id) == [2])
    #expect(throws: DocumentStoreError.self) { try store.collection("c", indexes: [Index(\Member.user.name.count)]) }
    #expect(throws: DocumentStoreError.self) {
      try store.collection("c", indexes: [Index(\Renamed.name, path: "a..b")])
    }
  }
}
