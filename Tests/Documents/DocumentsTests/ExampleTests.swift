import DocumentFormat
import Documents
import Foundation
import LogStore
import StoreTestSupport
import Testing

/// The examples of the documentation, compiled and run.
@Suite struct ExampleTests {
  struct Member: Codable, Identifiable, Sendable {
    struct User: Codable, Sendable {
      struct Status: Codable, Sendable { var isOnline: Bool }
      struct Relation: Codable, Sendable { var remarkName: String? }
      var name: String
      var status: Status
      var friendRelation: Relation?
    }
    var id: Int
    var user: User
  }

  private func member(_ id: Int, _ name: String, remark: String? = nil) -> Member {
    Member(
      id: id,
      user: Member.User(
        name: name, status: Member.User.Status(isOnline: true),
        friendRelation: remark.map { Member.User.Relation(remarkName: $0) }))
  }

  @Test(.timeLimit(.minutes(10))) func `the examples of the documentation do what they say`() async throws {
    let folder = try TemporaryDirectory()
    let path = folder.path
    let (member, others) = (member(1, "Wang", remark: "bob"), [member(2, "Li"), member(3, "Ada", remark: "boss")])

    // Collections
    let store = try DocumentStore.open(StoreLocation.creating(path, name: "documents"))
    let members = try store.collection("members", of: Member.self)
    try members.insert(member)
    try members.upsert(member)
    try members.insert(contentsOf: others)  // one commit, written directly to the file
    let found = try members.get(1)
    try members.update(1) { $0.user.status.isOnline = false }
    try members.delete(2)
    #expect(try found?.user.name == "Wang" && members.count() == 2)

    // Nested queries
    let indexed = try store.collection(
      "members", of: Member.self,
      indexes: [
        Index(\.user.friendRelation?.remarkName, prefixes: true), Index(\.user.status.isOnline),
      ])
    var names: [String] = []
    let query = indexed.query(\.user.status.isOnline == true && .hasPrefix(\.user.friendRelation?.remarkName, "bo"))
      .order(by: \.user.name).order(by: \.id, descending: true).limit(20)
    for result in try query.results() { names.append(try result.get().user.name) }
    let plan = try query.explain()  // index on user.status.isOnline (1 key, by value)
    let count = try indexed.query(.like(\.user.name, "%a_", ignoringCase: true)).count()
    let remarks = try indexed.query(.hasPrefix(\.user.name, "A")).distinct(\.user.friendRelation?.remarkName)
    #expect(names == ["Ada"] && count == 0 && remarks == ["boss"])
    #expect(plan.description == "index on user.status.isOnline (1 key, by value)")

    // Ranges, orders and pages
    let ordered = try store.collection(
      "members", of: Member.self,
      indexes: [Index(\.user.name, .ordered), Index(\.user.status.isOnline, \.user.name, .ordered)])
    let early = try ordered.query(\.user.name >= "A" && \.user.name < "C").count()  // reads no document
    let byName = ordered.query(\.user.status.isOnline == true).order(by: \.user.name, descending: true).limit(20)
    let steps = try byName.explanation().steps
    // ordered index on user.status.isOnline, user.name (user.status.isOnline == ?) in its reverse order
    var page = try byName.page()
    while let cursor = page.next { page = try byName.page(after: cursor) }
    #expect(early == 1 && page.results.count == 1)
    #expect(
      steps[0]
        == "ordered index on user.status.isOnline, user.name (user.status.isOnline == ?) in its reverse order")
    _ = try store.collection(
      "members", of: Member.self,
      indexes: [
        Index(\.user.friendRelation?.remarkName, prefixes: true), Index(\.user.status.isOnline),
      ])

    // Transactions
    let former = try store.collection("former", of: Member.self)
    try store.transaction { transaction in
      guard let member = try transaction.get(3, from: members) else { return }
      try transaction.delete(3, from: members)
      try transaction.insert(member, into: former)
    }
    #expect(try members.count() == 1 && former.get(3)?.user.name == "Ada")

    // Snapshots
    let snapshot = try store.snapshot()
    try members.deleteAll()
    let before = try members.query().results(in: snapshot).count
    #expect(try before == 1 && members.count() == 0)

    // Versions
    try members.insert(member)
    let location = try StoreLocation.creating(path, name: "documents")
    let renamed = Migration(to: 2, "mark names") { transaction in
      for id in 1...3 { try transaction.update(id, in: members) { $0.user.name += "!" } }
    }
    let migrated = try DocumentStore.open(location, schemaVersion: 2, migrations: [renamed])
    #expect(try members.get(1)?.user.name == "Wang!" && migrated.snapshot().schemaVersion == 2)

    // Observing
    var received: [([Int], [Int])] = []
    var online: [Int] = []
    let writer = Task {
      for id in 10..<1000 {
        try members.insert(ExampleTests().member(id, "someone"))
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    for try await change in members.changes {
      if case .changed(let upserted, let deleted) = change { received.append((upserted, deleted)) }
      if received.count == 2 { break }
    }
    for try await results in members.query(\.user.status.isOnline == true).values {
      online.append(results.count)
      if online.count == 2 { break }
    }
    writer.cancel()
    _ = await writer.result
    #expect(received.count == 2 && received.allSatisfy { !$0.0.isEmpty && $0.1.isEmpty } && online[0] < online[1])

    // Tracing
    var options = DocumentStore.Options()
    options.trace = Tracer { trace in print(trace.operation, trace.collection, trace.documentsRead, trace.duration) }
    options.onReindex = { name, done, total in print("\(name): \(done) of \(total)") }
    _ = try DocumentStore.open(location, schemaVersion: 2, options: options).collection("members", of: Member.self)
  }

  @Test func `the examples of groups and of changes by condition do what they say`() throws {
    let store = try TestDocuments().store()
    let members = try store.collection("members", of: Member.self, indexes: [Index(\.user.status.isOnline)])
    try members.insert(contentsOf: [member(1, "Ana"), member(2, "Bo"), member(3, "Ana", remark: "boss")])
    var shown: [String] = []

    // Groups and aggregates
    for group in try members.query().grouped(by: \.user.status.isOnline).count() {
      shown.append("\(group.key): \(group.value)")
    }
    let names = members.query(\.id > 0).grouped(by: \.user.name, \.user.status.isOnline)
    let latest = try names.order(by: .value, descending: true).limit(10).maximum(\.id)
    let highest = try members.query().maximum(\.id)
    #expect(shown == ["true: 3"] && latest.map(\.key.0) == ["Ana", "Bo"] && latest[0].value == 3 && highest == 3)

    // Changes by condition
    let offline = try members.query(\.user.name == "Ana").update(set: [\.user.status.isOnline: false])
    let renamed = try members.query(\.id > 1).update { $0.user.name += "!" }
    let gone = try members.query(\.user.status.isOnline == false).delete()
    #expect(offline == 2 && renamed == 2 && gone == 2)

    // Queries in a transaction
    try store.transaction { transaction in
      try transaction.insert(member(4, "Cy"), into: members)
      let online = members.query(\.user.status.isOnline == true)
      if try transaction.count(online) > 1 { try transaction.delete(online.order(by: \.id).limit(1)) }
    }
    #expect(try members.query().fetch().map(\.id) == [4])
  }

  @Test func `each line of the documentation's examples is one that is compiled here`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    func lines(_ path: String) throws -> [Substring] {
      try String(contentsOf: root.appending(path: path), encoding: .utf8).split(separator: "\n")
    }
    func trimmed(_ line: Substring) -> String { line.trimmingCharacters(in: .whitespaces) }
    let compiled = Set(try lines("Tests/Documents/DocumentsTests/ExampleTests.swift").map(trimmed))
    let shown = try lines("Sources/Documents/Documents/Documents.docc/Documents.md").filter { $0.hasPrefix("    ") }
      .map(trimmed)
    #expect(shown.count > 50)
    #expect(shown.filter { !compiled.contains($0) } == [])
  }
}
