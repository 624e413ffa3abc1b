import DocumentFormat
import Foundation
import LogStore
import RandomTestSupport
import Testing

@testable import Documents

/// Changes of all documents that match a condition.
@Suite struct ConditionChangeTests {
  private struct Stop: Error {}

  private func members(_ count: Int) throws -> DocumentCollection<Member> {
    let members = try TestDocuments().store().collection("members", of: Member.self, indexes: Member.indexes)
    try members.insert(contentsOf: (0..<count).map { Member($0) })
    return members
  }

  @Test func `documents that match are deleted in one commit, and their number is returned`() throws {
    let members = try members(90)
    let sequence = try members.store.snapshot().sequence
    #expect(try members.query(\.user.status.isOnline == true).delete() == 30)
    #expect(try members.store.snapshot().sequence == sequence + 1)
    #expect(try members.count() == 60 && members.query(\.user.status.isOnline == true).count() == 0)
    #expect(try members.query(\.user.status.isOnline == true).delete() == 0)
    #expect(try members.query().order(by: \.id, descending: true).limit(10).delete() == 10)
    #expect(try members.query().maximum(\.id) == 74)
    #expect(try members.store.snapshot().sequence == sequence + 2, "what changes nothing is no commit")
    #expect(try members.query().delete() == 50 && members.count() == 0)
  }

  @Test func `a field is assigned in all documents that match, and the rest of them keeps its bytes`() throws {
    let members = try members(30)
    try members.insert(Member(99))
    let newer = try DocumentEdit(parsing: "new = 1, user.status.more = 2", createsObjects: true)
    try members.store.untypedCollection("members").update(newer, where: Condition(parsing: "id == 99"))
    let sequence = try members.store.snapshot().sequence
    #expect(
      try members.query(\.user.status.isOnline == true && \.id < 90).update(set: [
        \.user.status.isOnline: false, \.user.age: 7,
      ])
        == 10)
    #expect(try members.store.snapshot().sequence == sequence + 1)
    #expect(try members.get(3)?.user.age == 7 && members.get(4)?.user.age == 4)
    #expect(try members.query(\.user.status.isOnline == true).count() == 1, "the index follows")
    #expect(try members.query(\.user.age == 7).update(set: [\.user.age: 7]) == 0)
    // An optional on the way that is nil is left alone.
    #expect(try members.query(\.id < 2).update(set: [\.user.friendRelation?.remarkName: "new"]) == 1)
    #expect(try members.get(1)?.user.friendRelation == nil && members.get(0)?.user.friendRelation?.remarkName == "new")
    #expect(try members.query(\.id == 0).update(set: [\.user.friendRelation?.remarkName: nil]) == 1)
    #expect(try members.get(0)?.user.friendRelation?.remarkName == nil)
    #expect(try members.query(\.id == 99).update(set: [\.user.age: 3]) == 1)
    let changed = try #require(try members.store.untypedCollection("members").get(.integer(99)))
    #expect(changed["new"] == .integer(1) && changed["user"]?["status"]?["more"] == .integer(2))
  }

  @Test func `an assignment that no type takes changes nothing`() throws {
    let members = try members(5)
    let bytes = try members.query().fetch()
    #expect(throws: DocumentStoreError.self) { try members.query().update(set: [\.user.age: "old"]) }
    #expect(throws: DocumentStoreError.self) { try members.query().update(set: [\.user.age: nil]) }
    #expect(throws: DocumentStoreError.self) { try members.query(\.id == 1).update(set: [\.id: 7]) }
    #expect(throws: DocumentStoreError.self) { try members.query(\.id == 1).update { $0 = Member(7) } }
    var count = 0
    #expect(throws: Stop.self) {
      try members.query().update { member in
        member.user.age = 1000
        count += 1
        if count == 3 { throw Stop() }
      }
    }
    #expect(try members.query().fetch() == bytes)
  }

  @Test func `a closure changes the documents that match`() throws {
    let members = try members(30)
    #expect(try members.query(.hasPrefix(\.user.name, "name 1")).update { $0.user.tags.append("one") } == 11)
    #expect(try members.query(.contains(\.user.tags, "one")).count() == 11)
    #expect(try members.query().update { if $0.id == 4 { $0.user.age = -1 } } == 1, "only what differs is written")
  }

  @Test func `nothing is created for a collection that does not exist`() throws {
    let documents = TestDocuments()
    let members = try documents.store().collection("members", of: Member.self)
    #expect(try members.query().delete() == 0 && members.query().update { $0.user.age = 1 } == 0)
    #expect(documents.bytes.isEmpty)
  }

  @Test func `an edit changes the fields that it names and nothing else`() throws {
    func edited(_ json: String, _ edit: String, creates: Bool = true) throws -> String {
      let edit = try DocumentEdit(parsing: edit, createsObjects: creates)
      let bytes = try edit.applied(to: DocumentValue(json: json).documentBytes.rawSpan)
      return try DocumentValue(documentBytes: bytes.rawSpan).json
    }
    #expect(try edited(#"{"a":1,"b":{"c":2}}"#, "b.c = 'x', a = null") == #"{"a":null,"b":{"c":"x"}}"#)
    #expect(try edited(#"{"a":1}"#, "b.c.d = true") == #"{"a":1,"b":{"c":{"d":true}}}"#)
    #expect(try edited(#"{"a":1}"#, "b.c.d = true", creates: false) == #"{"a":1}"#)
    #expect(try edited(#"{"a":1}"#, "b = 2", creates: false) == #"{"a":1,"b":2}"#)
    #expect(try edited(#"{"a":null}"#, "a.b = 1") == #"{"a":{"b":1}}"#)
    #expect(try edited(#"{"a":[{"b":1},{"c":[]},null]}"#, "a.b = 3") == #"{"a":[{"b":3},{"c":[],"b":3},{"b":3}]}"#)
    #expect(try edited(#"{"a":[1,2]}"#, "a = 3") == #"{"a":3}"#)
    #expect(throws: DocumentEditError.notAnObject(try FieldPath(parsing: "a.b"))) { try edited(#"{"a":1}"#, "a.b = 3") }
    #expect(try edited(#"{"a":1}"#, "a.b = 3", creates: false) == #"{"a":1}"#)
    let wide = "{" + (0..<30).map { "\"f\($0)\":\($0)" }.joined(separator: ",") + "}"
    #expect(try edited(wide, "f29 = 0, g = 1").hasSuffix(#""f28":28,"f29":0,"g":1}"#))
    for text in ["", "a", "a =", "a = 1,", "a == 1", "a = b", "a = 1 b = 2", "= 1", "a.b. = 1"] {
      #expect(throws: QuerySyntaxError.self) { try DocumentEdit(parsing: text, createsObjects: true) }
    }
  }
}
