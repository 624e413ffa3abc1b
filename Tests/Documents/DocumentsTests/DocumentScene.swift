import DocumentFormat
import LogStore
import RandomTestSupport
import StoreTestSupport

@testable import Documents

/// One thing that is done to a store of documents, from opening it on: what crashes, faults and full disks are tried
/// on.
struct DocumentScene: Sendable {
  let name: String
  /// Does it.
  let act: @Sendable (TestDocuments) throws -> Void
  /// Does the same to what the store shows.
  let change: @Sendable (inout DocumentContents) throws -> Void

  private init(
    _ name: String, _ act: @escaping @Sendable (TestDocuments) throws -> Void,
    _ change: @escaping @Sendable (inout DocumentContents) throws -> Void
  ) {
    self.name = name
    self.act = act
    self.change = change
  }

  private static let few: [Index<Member>] = [Index(\.user.tags), Index(\.user.status.isOnline)]
  private static let more = few + [Index(\.user.friendRelation?.remarkName, prefixes: true)]

  private static let ordered: [Index<Member>] = [
    Index(\.user.name, .ordered), Index(\.user.tags, .ordered), Index(\.user.role, \.user.age, .ordered),
    Index(\.user.status.isOnline),
  ]

  private static func members(_ documents: TestDocuments, _ indexes: [Index<Member>]) throws
    -> DocumentCollection<
      Member
    >
  { try documents.store().collection("members", indexes: indexes) }

  private static func migrated(_ member: Member) -> Member {
    var member = member
    member.user.name = "migrated " + member.user.name
    return member
  }

  /// Every kind of change, one after another; each begins where the one before ended.
  static let all: [DocumentScene] = [
    DocumentScene("the first document") { documents in
      try members(documents, []).insert(Member(1))
    } _: {
      try $0.put(Member(1), "members")
    },
    DocumentScene("indexes over one document") { documents in
      _ = try members(documents, few)
    } _: {
      $0.indexes["members"] = ["user.status.isOnline", "user.tags"]
    },
    DocumentScene("a batch") { documents in
      try members(documents, few).insert(contentsOf: (2..<30).map { Member($0) })
    } _: { contents in
      for id in 2..<30 { try contents.put(Member(id), "members") }
    },
    DocumentScene("an update") { documents in
      try members(documents, few).update(3) { $0.user.tags = ["new"] }
    } _: { contents in
      var member = Member(3)
      member.user.tags = ["new"]
      try contents.put(member, "members")
    },
    DocumentScene("a transaction over two collections") { documents in
      let store = try documents.store()
      let members = try store.collection("members", indexes: few)
      let others = try store.collection("others", of: Member.self)
      try store.transaction { transaction in
        try transaction.delete(4, from: members)
        try transaction.insert(Member(4), into: others)
        try transaction.upsert(Member(40), into: members)
      }
    } _: { contents in
      try contents.delete(4, "members")
      try contents.put(Member(4), "others")
      try contents.put(Member(40), "members")
    },
    DocumentScene("a deletion") {
      try members($0, few).delete(5)
    } _: {
      try $0.delete(5, "members")
    },
    DocumentScene("one more index, back-filled") { documents in
      _ = try members(documents, more)
    } _: {
      $0.indexes["members"] = ["user.friendRelation.remarkName*", "user.status.isOnline", "user.tags"]
    },
    DocumentScene("a compaction") {
      try $0.store().compact()
    } _: { _ in
    },
    DocumentScene("a migration") { documents in
      let step = Migration(to: 1, "rename") { transaction in
        let table = try DocumentTable("members")
        for id in [1, 2, 3] {
          let key = try DocumentTable.key(id)
          guard let old = try transaction.document(table, key) else { continue }
          let new = migrated(try DocumentDecoder().decode(Member.self, from: old))
          transaction.put(table, key, try DocumentEncoder().encode(new))
        }
      }
      _ = try documents.store(version: 1, migrations: [step])
    } _: { contents in
      var third = Member(3)
      third.user.tags = ["new"]
      for member in [Member(1), Member(2), third] { try contents.put(migrated(member), "members") }
      contents.schemaVersion = 1
    },
    DocumentScene("an index less") { documents in
      _ = try documents.store(version: 1).collection("members", indexes: Array(more.dropFirst()))
    } _: {
      $0.indexes["members"] = ["user.friendRelation.remarkName*", "user.status.isOnline"]
    },
    DocumentScene("ordered indexes, filled from the documents") { documents in
      _ = try documents.store(version: 1).collection("members", indexes: ordered)
    } _: {
      $0.indexes["members"] = ["user.name<", "user.role, user.age<", "user.status.isOnline", "user.tags<"]
    },
    DocumentScene("a change with ordered indexes") { documents in
      let members = try documents.store(version: 1).collection("members", indexes: ordered)
      try documents.store(version: 1).transaction { transaction in
        try transaction.update(6, in: members) { $0.user.name = String(repeating: "long", count: 70) }
        try transaction.delete(7, from: members)
        for id in 50..<60 { try transaction.insert(Member(id), into: members) }
      }
    } _: { contents in
      var sixth = Member(6)
      sixth.user.name = String(repeating: "long", count: 70)
      try contents.put(sixth, "members")
      try contents.delete(7, "members")
      for id in 50..<60 { try contents.put(Member(id), "members") }
    },
    DocumentScene("documents without a type") { documents in
      let collection = try documents.inspect().untypedCollection("plain")
      let values = try (0..<5).map { try DocumentValue(json: #"{"id":"\#($0)","a":[{"b":\#($0)}]}"#) }
      try collection.put(contentsOf: values.map { try collection.encode($0) })
    } _: { contents in
      for number in 0..<5 {
        let value = try DocumentValue(json: #"{"id":"\#(number)","a":[{"b":\#(number)}]}"#)
        contents.documents["plain", default: [:]][DocumentValue.text("\(number)").documentBytes] = value.documentBytes
      }
    },
    DocumentScene("a collection emptied") { documents in
      try documents.store(version: 1).collection("others", of: Member.self).deleteAll()
    } _: {
      $0.deleteAll("others")
    },
    DocumentScene("a commit with the compaction that it makes due") { documents in
      var options = DocumentStore.Options()
      options.compaction = CompactionPolicy(share: 0, floor: 0)
      let store = try documents.store(options, version: 1)
      try store.collection("others", of: Member.self).insert(Member(7))
    } _: {
      try $0.put(Member(7), "others")
    },
  ]

  /// Goes on with what a crash or a fault left: verifies, commits, verifies again.
  static func goOn(_ recording: CrashRecording<DocumentContents>) throws {
    let documents = TestDocuments(recording.device, seed: 3)
    try checkFile(documents)
    try recording.step {
      let value = try DocumentValue(json: #"{"id":"after"}"#)
      try documents.inspect().untypedCollection("after").put(value)
      var next = recording.reported
      next.documents["after", default: [:]][DocumentValue.text("after").documentBytes] = value.documentBytes
      guard try documents.contents() == next else { throw Oddity("the next commit shows \(try documents.contents())") }
      return next
    }
    try checkFile(documents)
  }

  private static func checkFile(_ documents: TestDocuments) throws {
    let findings = try Verification.run(documents.location)?.findings ?? []
    guard findings.isEmpty else { throw Oddity("\(findings)") }
  }
}
