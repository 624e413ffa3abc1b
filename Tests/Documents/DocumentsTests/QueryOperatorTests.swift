import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Testing

@testable import Documents

/// Every operator against a filter that Swift does, over random members, with and without an index.
@Suite struct QueryOperatorTests {
  /// A question, and what it means.
  private typealias Question = (filter: Where<Member>, holds: (Member) -> Bool)

  private static let indexes: [Index<Member>] = [
    Index(\.user.name, prefixes: true), Index(\.user.age), Index(\.user.gender), Index(\.user.tags),
    Index(\.user.friendRelation?.remarkName, prefixes: true), Index(\.user.friendRelation?.isBlocked),
    Index(\.user.status.isOnline), Index(\.user.status.lastSeen), Index(\.user.role), Index(\.user.score),
    Index(\.user.joined),
  ]

  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static func isLess(_ a: String, _ b: String) -> Bool { bytes(a).lexicographicallyPrecedes(bytes(b)) }

  private static func contains(_ text: String, _ part: String) -> Bool {
    part.isEmpty || bytes(text).indices.contains { bytes(text)[$0...].starts(with: bytes(part)) }
  }

  /// Questions about one member's values, which thus have answers.
  private static func questions(_ some: Member) -> [Question] {
    let user = some.user
    let remark = user.friendRelation?.remarkName
    return [
      (\.user.name == user.name, { bytes($0.user.name) == bytes(user.name) }),
      (\.user.name != user.name, { bytes($0.user.name) != bytes(user.name) }),
      (\.user.name < user.name, { isLess($0.user.name, user.name) }),
      (\.user.name >= user.name, { !isLess($0.user.name, user.name) }),
      (\.user.age == user.age, { $0.user.age == user.age }), (\.user.age != user.age, { $0.user.age != user.age }),
      (\.user.age < user.age, { $0.user.age < user.age }), (\.user.age <= user.age, { $0.user.age <= user.age }),
      (\.user.age > user.age, { $0.user.age > user.age }), (\.user.age >= user.age, { $0.user.age >= user.age }),
      (\.user.score == user.score, { $0.user.score == user.score }),
      (\.user.score > user.score, { $0.user.score > user.score }),
      (\.user.score <= user.score, { $0.user.score <= user.score }),
      (\.user.gender == user.gender, { $0.user.gender == user.gender }),
      (\.user.gender != user.gender, { $0.user.gender != user.gender }),
      (.in(\.user.gender, [.male, .other(-7)]), { [.male, .other(-7)].contains($0.user.gender) }),
      (\.user.role == user.role, { $0.user.role == user.role }),
      (.in(\.user.role, [Member.Role.owner, user.role]), { [.owner, user.role].contains($0.user.role) }),
      (.in(\.user.role, [Member.Role]()), { _ in false }),
      (\.user.status.isOnline == user.status.isOnline, { $0.user.status.isOnline == user.status.isOnline }),
      (\.user.status.isOnline != true, { !$0.user.status.isOnline }),
      (\.user.status.lastSeen == user.status.lastSeen, { $0.user.status.lastSeen == user.status.lastSeen }),
      (\.user.status.lastSeen < user.status.lastSeen, { $0.user.status.lastSeen < user.status.lastSeen }),
      (\.user.status.lastSeen >= user.status.lastSeen, { $0.user.status.lastSeen >= user.status.lastSeen }),
      (\.user.joined == user.joined, { $0.user.joined == user.joined }),
      (\.user.joined == nil, { $0.user.joined == nil }), (\.user.joined != nil, { $0.user.joined != nil }),
      (\.user.joined > user.status.lastSeen, { $0.user.joined.map { $0 > user.status.lastSeen } ?? false }),
      (.isNull(\.user.joined), { $0.user.joined == nil }),
      (.in(\.user.age, [user.age, 1, 23]), { [user.age, 1, 23].contains($0.user.age) }),
      (.contains(\.user.tags, "x"), { $0.user.tags.contains("x") }),
      (.contains(\.user.tags, ""), { $0.user.tags.contains("") }),
      (.contains(\.user.name, "nn"), { contains($0.user.name, "nn") }),
      (.contains(\.user.name, "NN", ignoringCase: true), { contains($0.user.name.lowercased(), "nn") }),
      (.contains(\.user.name, ""), { _ in true }),
      (.hasPrefix(\.user.name, "an"), { bytes($0.user.name).starts(with: bytes("an")) }),
      (.hasPrefix(\.user.name, "anna"), { bytes($0.user.name).starts(with: bytes("anna")) }),
      (.hasPrefix(\.user.name, "long long"), { bytes($0.user.name).starts(with: bytes("long long")) }),
      (.hasPrefix(\.user.name, "王"), { bytes($0.user.name).starts(with: bytes("王")) }),
      (.hasPrefix(\.user.name, ""), { _ in true }),
      (.hasPrefix(\.user.name, "AN", ignoringCase: true), { $0.user.name.lowercased().hasPrefix("an") }),
      (.hasPrefix(\.user.name, user.name), { bytes($0.user.name).starts(with: bytes(user.name)) }),
      (.like(\.user.name, "an%"), { bytes($0.user.name).starts(with: bytes("an")) }),
      (.like(\.user.name, "%a"), { $0.user.name.utf8.last == UInt8(ascii: "a") }),
      (.like(\.user.name, "_"), { $0.user.name.unicodeScalars.count == 1 }),
      (.like(\.user.name, "bo\\%b"), { $0.user.name == "bo%b" }), (.like(\.user.name, "a"), { $0.user.name == "a" }),
      (.like(\.user.name, "A%", ignoringCase: true), { $0.user.name.lowercased().hasPrefix("a") }),
      (\.user.friendRelation?.remarkName == remark, { $0.user.friendRelation?.remarkName == remark }),
      (\.user.friendRelation?.remarkName != remark, { $0.user.friendRelation?.remarkName != remark }),
      (
        .hasPrefix(\.user.friendRelation?.remarkName, "ann"),
        { $0.user.friendRelation?.remarkName?.hasPrefix("ann") ?? false }
      ),
      (\.user.friendRelation?.isBlocked == true, { $0.user.friendRelation?.isBlocked == true }),
      (
        Where(.compare(try! FieldPath(names: ["user", "devices", "kind"]), .equal, .text("desk"))),
        { $0.user.devices.contains { $0.kind == "desk" } }
      ),
      (Where(.always), { _ in true }),
    ]
  }

  @Test func `each operator, alone and joined with others, finds what a filter finds, with an index and without`()
    throws
  {
    var random = SeededGenerator(for: "QueryOperatorTests")
    var asked = 0
    var found = 0
    var throughIndex = 0
    for round in 0..<depth {
      let all = (0..<60).map { Member($0, &random) }
      let documents = TestDocuments(seed: UInt64(round))
      let store = try documents.store()
      let plain = try store.collection("plain", of: Member.self)
      let indexed = try store.collection("indexed", of: Member.self, indexes: Self.indexes)
      // Some in one commit, some in the next ones, some changed and deleted: in base and tail, and dead.
      for collection in [plain, indexed] {
        try collection.insert(contentsOf: all[..<30].map { Member($0.id) })
        try store.transaction { for member in all[..<30] { try $0.upsert(member, into: collection) } }
        for member in all[30..<34] { try collection.insert(member) }
        try collection.insert(contentsOf: all[34...])
        for id in 54..<60 { #expect(try collection.delete(id)) }
      }
      let present = all[..<54]
      func ask(_ question: Question) throws {
        let expected = present.filter(question.holds).map(\.id)
        for collection in [plain, indexed] {
          let query = collection.query(question.filter)
          let ids = try query.order(by: \.id).fetch().map(\.id)
          let text = try question.filter.condition().description
          try #require(ids == expected, "\(text) in \(collection.name)")
          try #require(try query.count() == expected.count, "\(text)")
          try #require(Set(try query.fetch().map(\.id)) == Set(expected), "\(text)")
          let untyped = try store.untypedCollection(collection.name)
          var values: [DocumentValue] = []
          try untyped.query(Condition(parsing: text), ordering: Ordering(parsing: "-id")) { values.append($1) }
          try #require(values.map { $0["id"] } == expected.reversed().map { .integer(Int64($0)) }, "\(text)")
        }
        if try indexed.query(question.filter).explain() != .scan { throughIndex += 1 }
        #expect(try plain.query(question.filter).explain() == .scan || expected.isEmpty)
        asked += 1
        found += expected.count
      }
      let questions = Self.questions(present.randomElement(using: &random)!)
      for question in questions {
        try ask(question)
        let other = questions.randomElement(using: &random)!
        try ask((question.filter && other.filter, { question.holds($0) && other.holds($0) }))
        try ask((question.filter || other.filter, { question.holds($0) || other.holds($0) }))
        try ask((!question.filter, { !question.holds($0) }))
      }
    }
    print("QueryOperatorTests: \(asked) questions, \(throughIndex) through an index, \(found) members found")
    #expect(throughIndex > asked / 5 && found > asked)
  }
}
