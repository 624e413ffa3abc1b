import DocumentFormat
import LogStore
import StoreTestSupport
import Testing

@testable import Documents

@Suite struct UnknownFieldTests {
  private struct Older: Codable, Identifiable, Equatable, Sendable {
    struct Profile: Codable, Equatable, Sendable {
      var name: String
    }

    struct Device: Codable, Equatable, Sendable {
      var kind: String
    }

    var id: String
    var profile: Profile
    var devices: [Device]
    var note: String?
  }

  private struct Newer: Codable, Identifiable, Equatable, Sendable {
    struct Profile: Codable, Equatable, Sendable {
      var title: String
      var name: String
      var tags: [String]
    }

    struct Device: Codable, Equatable, Sendable {
      var kind: String
      var build: Int
    }

    var id: String
    var profile: Profile
    var devices: [Device]
    var note: String?
    var level: Int
  }

  private static func newer(_ id: String) -> Newer {
    Newer(
      id: id, profile: Newer.Profile(title: "Dr", name: "Ada", tags: ["x", "y"]),
      devices: [Newer.Device(kind: "phone", build: 1), Newer.Device(kind: "desk", build: 2)], note: "n", level: 3)
  }

  @Test func `what a newer writer knows more survives that an older one reads, changes and writes`() throws {
    let store = try TestDocuments().store()
    let newer = try store.collection("c", of: Newer.self, indexes: [Index(\.level), Index(\.profile.name)])
    let older = try store.collection("c", of: Older.self, indexes: [Index(\.profile.name)])
    for id in ["a", "b", "c", "d"] { try newer.insert(Self.newer(id)) }
    try older.update("a") {
      $0.profile.name = "Bo"
      $0.devices[1].kind = "watch"
      $0.note = nil
    }
    var expected = Self.newer("a")
    expected.profile.name = "Bo"
    expected.devices[1].kind = "watch"
    expected.note = nil
    #expect(try newer.get("a") == expected)
    #expect(try older.query(\.profile.name == "Bo").fetch().map(\.id) == ["a"])

    var replaced = try #require(try older.get("b"))
    replaced.profile.name = "Bo"
    try older.upsert(replaced)
    #expect(try newer.get("b")?.profile == Newer.Profile(title: "Dr", name: "Bo", tags: ["x", "y"]))
    #expect(try newer.get("b")?.level == 3)

    // An array of another length has elements of which nobody knows which is which.
    try store.transaction { transaction in
      try transaction.update("c", in: older) { $0.devices.removeFirst() }
    }
    #expect(throws: DocumentStoreError.self) { try newer.get("c") }
    #expect(try older.get("c")?.devices.map(\.kind) == ["desk"])
    // A document that was not changed is not written.
    let sequence = try store.snapshot().sequence
    try older.update("d") { _ in }
    #expect(try store.snapshot().sequence == sequence)
  }

  @Test func `a document that this program cannot decode is an error that names it, and is replaced whole`() throws {
    let store = try TestDocuments().store()
    let untyped = try store.untypedCollection("c")
    try untyped.put(DocumentValue(json: #"{"id":"a","profile":7}"#))
    let typed = try store.collection("c", of: Older.self)
    let error = #expect(throws: DocumentStoreError.self) { try typed.get("a") }
    #expect(error.map { "\($0)".contains("document a of c") } == true)
    #expect(throws: DocumentStoreError.self) { try typed.query().fetch() }
    #expect(throws: DocumentStoreError.self) { try typed.update("a") { $0.note = "x" } }
    #expect(try typed.query().count() == 1)
    let whole = Older(id: "a", profile: Older.Profile(name: "n"), devices: [])
    try typed.upsert(whole)
    #expect(try typed.get("a") == whole)
    for json in ["{}", #"{"id":null}"#, #"{"id":{}}"#, #"{"id":[1]}"#, "7", "[]", #"{"id":true}"#] {
      #expect(throws: DocumentStoreError.self) { try untyped.put(DocumentValue(json: json)) }
    }
  }
}
