import Bytes
import DocumentFormat
import Foundation
import Testing

@Suite struct FieldPathTests {
  @Test(arguments: [
    ("a", ["a"]), ("user.status.isOnline", ["user", "status", "isOnline"]), (#"a\.b.c"#, ["a.b", "c"]),
    (#"a\\.b"#, [#"a\"#, "b"]), (#"\a b"#, ["a b"]), ("名.é", ["名", "é"]),
  ])
  func `a path is read and written`(text: String, names: [String]) throws {
    let path = try FieldPath(parsing: text)
    #expect(path.names == names)
    #expect(path.count == names.count)
    #expect(try FieldPath(parsing: path.description) == path)
    #expect(try FieldPath(names: names) == path)
  }

  @Test(arguments: ["", ".", "a.", ".a", "a..b", #"a\"#])
  func `a path without names, or with an empty one, is refused`(text: String) {
    #expect(throws: FieldPathError.self) { try FieldPath(parsing: text) }
  }

  @Test func `no names are no path`() {
    #expect(throws: FieldPathError.self) { try FieldPath(names: []) }
    #expect(throws: FieldPathError.self) { try FieldPath(names: ["a", ""]) }
  }

  enum Outer {
    struct Generic<T> {
      struct Nested {
        var user: User?
        var other = User()
        var `default` = 1
        var 名 = 1
        var value: T?
      }
      var direct = 1
    }
  }

  struct User {
    var status = Status()
    var relation: Relation?
    var tags: [String] = []
    var map: [String: Int] = [:]
    var pair = (1, 2)
    var computed: Int { 1 }
  }

  struct Status { var isOnline = false }
  struct Relation { var remarkName: String? }
  final class Final { var x = 1 }
  class Open { var x = 1 }

  static let stored: [(AnyKeyPath & Sendable, String)] = [
    (\User.status.isOnline, "status.isOnline"), (\User.relation?.remarkName, "relation.remarkName"),
    (\User.relation!.remarkName, "relation.remarkName"), (\User.relation, "relation"), (\User.tags, "tags"),
    (\Outer.Generic<Int>.Nested.user?.relation?.remarkName, "user.relation.remarkName"),
    (\Outer.Generic<[String: (Int, Status)]>.Nested.other.status.isOnline, "other.status.isOnline"),
    (\Outer.Generic<Int?>.direct, "direct"), (\Outer.Generic<Outer.Generic<Int>>.direct, "direct"),
    (\Outer.Generic<Int>.Nested.default, "default"), (\Outer.Generic<Int>.Nested.名, "名"),
    (\Outer.Generic<Double>.Nested.value, "value"), (\Final.x, "x"),
  ]

  @Test(arguments: stored) func `a key path of stored properties has a path`(
    keyPath: AnyKeyPath & Sendable, path: String
  ) throws {
    #expect(try FieldPath(keyPath).description == path, "\(keyPath.debugDescription)")
  }

  static let others: [AnyKeyPath & Sendable] = [
    \User.computed, \User.tags.count, \User.tags[0], \User.map["a"], \User.pair.0, \User.self, \Open.x,
    \User.relation?.remarkName?.count, \Int.description,
  ]

  @Test(arguments: others) func `any other key path is refused, and says how to help oneself`(
    keyPath: AnyKeyPath & Sendable
  ) {
    let error = #expect(throws: FieldPathError.self) { try FieldPath(keyPath) }
    #expect(error?.description.contains("as text") == true)
  }

  static let document: DocumentValue = try! DocumentValue(
    json: """
      {"x": 1, "user": {"name": "n", "relation": {"remark": null}}, "tags": ["a", ["b"], "a"], "empty": [],
       "items": [{"name": 1}, {}, 5, {"name": [2, 3]}]}
      """)

  @Test(arguments: [
    ("x", ["1"]), ("y", ["missing"]), ("x.y", ["missing"]), ("user.name", ["\"n\""]),
    ("user.relation.remark", ["null"]),
    ("user.relation.remark.more", ["missing"]), ("tags", ["\"a\"", "\"b\"", "\"a\""]), ("empty", []), ("empty.x", []),
    ("items.name", ["1", "missing", "missing", "2", "3"]), ("tags.x", ["missing", "missing", "missing"]),
  ])
  func `a view shows the values of a path`(path: String, expected: [String]) throws {
    var values: [String] = []
    try withView(Self.document.documentBytes) { view throws in
      try view.forEachValue(at: FieldPath(parsing: path)) { (value: borrowing DocumentView?) throws(DocumentError) in
        values.append(try describe(value))
        return true
      }
    }
    #expect(values == expected)
  }

  @Test func `a view stops when told, and may leave the last array whole`() throws {
    var values: [String] = []
    try withView(Self.document.documentBytes) { view throws in
      try view.forEachValue(at: FieldPath(parsing: "tags")) { (value: borrowing DocumentView?) throws(DocumentError) in
        values.append(try describe(value))
        return false
      }
      try view.forEachValue(at: FieldPath(parsing: "items.name"), flattensLast: false) {
        (value: borrowing DocumentView?) throws(DocumentError) in
        values.append(try describe(value))
        return true
      }
    }
    #expect(values == ["\"a\"", "1", "missing", "missing", "[2,3]"])
  }
}

/// The value as JSON.
private func describe(_ value: borrowing DocumentView?) throws(DocumentError) -> String {
  switch value {
  case .some(let view): try view.value().json
  case .none: "missing"
  }
}
