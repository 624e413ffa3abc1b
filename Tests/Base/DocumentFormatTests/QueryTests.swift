import Bytes
import DocumentFormat
import Foundation
import Testing

@Suite struct QueryTests {
  enum Gender: Int, Codable { case unknown, male, female }

  /// Known values, and whatever a later program may store.
  enum Role: RawRepresentable, Codable, Equatable {
    case owner, member
    case other(Int)

    init(rawValue: Int) { self = rawValue == 0 ? .owner : rawValue == 1 ? .member : .other(rawValue) }

    var rawValue: Int {
      switch self {
      case .owner: 0
      case .member: 1
      case .other(let value): value
      }
    }
  }

  enum Level: String, Codable, QueryValue { case low, high }

  struct Status: Codable {
    var isOnline = true
    var since = Date(timeIntervalSince1970: 1_700_000_000.5)
  }

  struct Relation: Codable { var remarkName: String? }

  struct User: Codable {
    var id = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")!
    var name = "Alice"
    var gender = Gender.female
    var status = Status()
    var friendRelation: Relation? = Relation(remarkName: "Ally")
    var home: URL? = URL(string: "https://example.org/a")
  }

  struct Member: Codable {
    var age = 30
    var score: Double? = nil
    var ratio: Float = 0.1
    var role = Role.other(7)
    var level: Level? = .high
    var tags = ["a", "b"]
    var numbers: [Int]? = [1, 2]
    var token = Data([1, 2])
    var price = Decimal(string: "12.34")!
    var big = UInt64.max
    var user = User()
    var nick: String?
  }

  /// What a query takes.
  private func filter(_ condition: Where<Member>) throws -> Bool {
    let condition = try condition.condition()
    return try withView(DocumentEncoder().encode(Member())) { view throws in try condition.matches(view) }
  }

  @Test func `conditions over key paths`() throws {
    #expect(try filter(\.user.name == "Alice"))
    #expect(try !filter(\.user.name == "alice"))
    #expect(try filter(\.user.name != "Bob"))
    #expect(try filter(\.age == 30 && \.age < 31 && \.age <= 30 && \.age > 29 && \.age >= 30))
    #expect(try filter(\.age == 1 || .in(\.age, [29, 30])))
    #expect(try filter(!(\.age == 1)))
    #expect(try filter(\.user.status.isOnline == true))
    #expect(try filter(\.user.friendRelation?.remarkName == "Ally"))
    #expect(try filter(\.user.friendRelation?.remarkName != nil))
    #expect(try filter(\.nick == nil && .isNull(\.nick) && \.nick != "x"))
    #expect(try filter(\.user.gender == .female && \.user.gender != .male && .in(\.user.gender, [.female, .unknown])))
    #expect(try filter(\.role == .other(7) && \.role != .owner))
    #expect(try filter(\.level == .high && \.level != .low && .in(\.level, [.high])))
    #expect(try filter(.contains(\.tags, "a") && !(.contains(\.tags, "c")) && .contains(\.numbers, 2)))
    #expect(try filter(.contains(\.user.name, "lic") && .contains(\.user.name, "ALI", ignoringCase: true)))
    #expect(try filter(.hasPrefix(\.user.name, "Al") && .like(\.user.name, "A%e") && !(.like(\.user.name, "a%"))))
    #expect(try filter(.hasPrefix(\.user.friendRelation?.remarkName, "aL", ignoringCase: true)))
    #expect(try filter(\.ratio == 0.1 && \.ratio < 0.2))
    #expect(try filter(\.score == nil && !(\.score > 1) && !(\.score <= 1)))
    #expect(try filter(\.token == Data([1, 2]) && \.big == .max))
    #expect(try filter(\.price == Decimal(string: "12.34")! && \.price > 12))
    #expect(try filter(\.user.id == UUID(uuidString: "00000000-0000-0000-0000-00000000000A")!))
    #expect(try filter(\.user.home == URL(string: "https://example.org/a")!))
    #expect(try filter(\.user.status.since == Date(timeIntervalSince1970: 1_700_000_000.5)))
    #expect(try filter(\.user.status.since < Date(timeIntervalSince1970: 1_700_000_001)))
    #expect(try filter(Where(Condition(parsing: "user.name like 'a%' nocase"))))
  }

  @Test func `a key path without a field fails when the condition is used`() throws {
    let condition: Where<Member> = \.user.name.count == 1 && \.age == 1
    #expect(throws: FieldPathError.self) { try condition.condition() }
    #expect(throws: FieldPathError.self) { try (!(\Member.tags[0] == "a") || \Member.age == 1).condition() }
  }

  @Test func `key paths are still compared with each other`() {
    #expect(\Member.age == \Member.age)
    #expect((\Member.user.name as AnyKeyPath) != \Member.nick)
  }

  static let parsed: [(String, String)] = [
    (
      "user.status.isOnline == true && (name like 'A%' || age >= 3) && !(tag in ['a','b'])",
      "user.status.isOnline == true && (name like 'A%' || age >= 3) && !(tag in ['a', 'b'])"
    ),
    ("a=1 AND NOT b<>2 Or c is Not NULL", "a == 1 && !(b != 2) || !(c is null)"),
    (#"a == "x\"y\u{e9}\\""#, #"a == 'x"yé\\'"#), ("((a < -1.5e3))", "a < -1500.0"),
    ("when >= date(\"2026-01-02T03:04:05Z\")", "when >= date('2026-01-02T03:04:05Z')"),
    ("a contains 'x' NOCASE and b hasPrefix 'y'", "a contains 'x' nocase && b hasprefix 'y'"),
    ("a == bytes('AQI=')", "a == bytes('AQI=')"), ("a in [1, null, nan, -inf]", "a in [1, null, nan, -inf]"),
    (#"\and == 1"#, #"\and == 1"#), (#"a\.b.c\ d == 1"#, #"a\.b.c\ d == 1"#), ("true or false", "true || false"),
    ("in in [18446744073709551615]", "in in [18446744073709551615]"), ("a-b != 2", "a-b != 2"),
    ("名 == '王'", "名 == '王'"), ("isOnline", "isOnline == true"),
    ("!user.isNew && isOnline or (a)", "!(user.isNew == true) && isOnline == true || a == true"),
    ("NOT a AND b", "!(a == true) && b == true"), ("nocase and like", "nocase == true && like == true"),
    (#"\and"#, #"\and == true"#), ("a || true", "a == true || true"),
  ]

  @Test(arguments: parsed) func `the text form is read`(text: String, canonical: String) throws {
    #expect(try Condition(parsing: text).description == canonical)
  }

  @Test(arguments: [
    ("", 1, "a field"), ("a b", 3, "a comparison"), ("a 1", 3, "'&&' or '||'"), ("a 'x'", 3, "a comparison"),
    ("a !b", 3, "a comparison"), ("a,", 2, "a comparison"), ("a &&", 5, "a field"), ("!", 2, "a field"),
    ("(a", 3, "')'"), ("a)", 2, "or the end"), ("a nocase", 3, "a comparison"), ("a ==", 5, "a value"),
    ("a == 1 b", 8, "'&&', '||' or the end"), ("a == 'x' NOCASE", 10, "nocase goes with contains, like and hasprefix"),
    ("(a == 1", 8, "')'"), ("a == 'x", 8, "to end the text"), ("a in 1", 6, "'['"), ("a in [1", 8, "',' or ']'"),
    ("a like 1", 8, "a text in quotes"), ("a == date('x')", 11, "a date"), ("a == 1.2.3", 6, "a number"),
    ("a..b == 1", 1, "names"),
    (#"a == '\q'"#, 7, "in the text"), ("and == 1", 1, "a field"), ("a # 1", 3, "an operator"), ("a is 1", 6, "null"),
    ("a == bytes('*')", 12, "base64"), (#"a\"#, 3, "backslash"), ("a == -x", 7, "a number"),
    ("a == 1e999", 6, "a number up to about 1.8e308 expected, found '1e999'"), ("a in [1, -1e309]", 10, "'-1e309'"),
    ("a == \(String(repeating: "9", count: 309)).0", 6, "up to"),
  ])
  func `an error names the column and what was expected`(text: String, column: Int, expected: String) {
    let error = #expect(throws: QuerySyntaxError.self) { try Condition(parsing: text) }
    #expect(error?.column == column)
    #expect(error?.description.contains(expected) == true, "\(String(describing: error))")
  }

  @Test func `a field alone holds if it is true`() throws {
    #expect(try filter(Where(Condition(parsing: "user.status.isOnline && !nick"))))
    #expect(try !filter(Where(Condition(parsing: "age"))))
    #expect(try !filter(Where(Condition(parsing: "!user.status.isOnline || user.name"))))
    let index = [IndexDescription(try FieldPath(parsing: "a"))]
    #expect(try Condition(parsing: "a && b").plan(index).description == "index on a (1 key, by value)")
  }

  @Test func `NaN equals itself and is less than all other numbers`() throws {
    let values: [(name: String, value: DocumentValue)] = [
      ("missing", .null), ("nan", .double(.nan)), ("least", .double(-.infinity)), ("minus", .integer(-1)),
      ("half", .double(0.5)), ("most", .double(.infinity)), ("text", .text("nan")),
    ]
    let documents = values.map { DocumentValue.object([.init("a", $0.value)]).documentBytes }
    for (text, names) in [
      ("a == nan", ["nan"]), ("a in [nan]", ["nan"]), ("a > nan", ["least", "minus", "half", "most"]), ("a < nan", []),
      ("a >= nan", ["nan", "least", "minus", "half", "most"]), ("a <= nan", ["nan"]),
      ("a != nan", ["missing", "least", "minus", "half", "most", "text"]), ("a < 0", ["nan", "least", "minus"]),
      ("a > 0", ["half", "most"]), ("a == inf", ["most"]), ("a <= -inf", ["nan", "least"]),
      ("a < inf && a > -1", ["half"]),
    ] {
      let condition = try Condition(parsing: text)
      let found = try zip(values, documents).filter {
        try withView($0.1) { view throws in try condition.matches(view) }
      }
      #expect(found.map(\.0.name) == names, "\(text)")
    }
    let order = try Ordering(parsing: "a")
    let keys = try documents.map { try withView($0) { view throws in try order.sortKey(of: view) } }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    #expect(try Condition(parsing: "a in [nan, -inf]").description == "a in [nan, -inf]")
  }

  @Test func `comparisons know their columns`() throws {
    let text = "a == 1 && !(b || c.d in ['x',  2]) or e is not null and f like 'x' && true && g hasprefix\n'y' nocase"
    let (condition, columns) = try Condition.parse(text)
    #expect(try condition == Condition(parsing: text))
    let expected = [
      (1, [6]), (13, []), (18, [26, 32]), (39, []), (57, [64]), (79, [91]),
    ].map { ComparisonColumns(field: $0.0, constants: $0.1) }
    #expect(columns == expected)
    #expect(try Ordering.parse("a, - b.c,  d desc").columns == [1, 6, 12])
  }

  @Test func `an order is read and written`() throws {
    let ordering = try Ordering(parsing: "user.name, -age, x desc, y ASC")
    #expect(ordering.description == "user.name, -age, -x, y")
    #expect(try Ordering(parsing: ordering.description) == ordering)
    #expect(try Ordering(\Member.user.name).then(\Member.age, isDescending: true).description == "user.name, -age")
    for text in ["", "a,", "-", "a b", "a desc asc"] {
      #expect(throws: QuerySyntaxError.self) { try Ordering(parsing: text) }
    }
  }

  static let indexes = [
    IndexDescription(try! FieldPath(parsing: "user.name"), hasPrefixes: true),
    IndexDescription(try! FieldPath(parsing: "age")),
  ]

  @Test(arguments: [
    ("age == 1", "index on age (1 key, by value)"), ("age in [1, 2, 1.0]", "index on age (2 keys, by value)"),
    ("age is null", "index on age (1 key, by value)"), ("age > 1", "scan all documents"),
    ("!(age == 1)", "scan all documents"),
    ("age != 1", "scan all documents"), ("age hasprefix 'x'", "scan all documents"),
    ("role == 1", "scan all documents"),
    ("user.name hasprefix 'Al'", "index on user.name (1 key, by prefix)"),
    ("user.name hasprefix 'Al' nocase", "scan all documents"),
    ("user.name hasprefix ''", "scan all documents"),
    ("user.name like 'Al%e'", "index on user.name (1 key, by prefix)"),
    ("user.name like 'Alice'", "index on user.name (1 key, by value)"), ("user.name like '%e'", "scan all documents"),
    ("role == 1 && user.name like 'A%' && age in [1, 2]", "index on age (2 keys, by value)"),
    ("age == 1 || user.name == 'x'", "index on age (1 key, by value) and index on user.name (1 key, by value)"),
    ("age == 1 || role == 1", "scan all documents"), ("age in []", "nothing: no document can match"),
    ("user.name contains 'x'", "scan all documents"), ("true", "scan all documents"),
    ("false", "nothing: no document can match"),
  ])
  func `a plan tells which index covers a condition`(text: String, plan: String) throws {
    #expect(try Condition(parsing: text).plan(Self.indexes).description == plan)
  }

  @Test func `a prefix is looked up by the longest length that has keys`() throws {
    let name = try FieldPath(parsing: "user.name")
    for (prefix, length) in [("A", 1), ("Ali", 2), ("Alice", 4), ("é", 2), (String(repeating: "x", count: 40), 16)] {
      let plan = Condition.hasPrefix(name, prefix, ignoringCase: false).plan(Self.indexes)
      #expect(plan.keyCount == 1)
      guard case .lookups(let lookups) = plan else { return }
      #expect(lookups[0].keys[0].bytes == [16] + Array(prefix.utf8.prefix(length)))
    }
  }

  @Test(arguments: [
    ("{\"a\": \"abc\"}", true, ["0761 6263", "1061", "106162"]),
    ("{\"a\": [1, 1.0, null, 2.5]}", false, ["03 8000000000000001", "00", "05 4004000000000000"]),
    ("{\"a\": []}", false, []), ("{}", false, ["00"]), ("{\"a\": {}}", false, []),
    ("{\"a\": -1}", false, ["03 7fffffffffffffff"]),
    ("{\"a\": [true, false]}", false, ["02", "01"]), ("{\"a\": 18446744073709551615}", false, ["04 ffffffffffffffff"]),
    (
      "{\"a\": \"0123456789012345678901234567890123456789\"}", false,
      ["08 303132333435363738393031323334353637383930313233 82b77fd94f17759e"]
    ),
  ])
  func `the keys of a field are those of FORMAT`(json: String, withPrefixes: Bool, expected: [String]) throws {
    var keys: [[UInt8]] = []
    try withView(DocumentValue(json: json).documentBytes) { view throws in
      try view.forEachIndexKey(at: FieldPath(parsing: "a"), withPrefixes: withPrefixes) { keys.append($0.bytes) }
    }
    #expect(keys == expected.map { DocumentFormatTests.bytes($0) })
  }

  @Test func `dates have the key of their microsecond`() throws {
    let date = Date(timeIntervalSince1970: 1.000001)
    #expect(IndexKey(.date(date))?.bytes == DocumentFormatTests.bytes("06 80000000000f4241"))
    #expect(
      IndexKey(.date(Date(timeIntervalSince1970: .nan)))?.bytes == DocumentFormatTests.bytes("06 0000000000000000"))
    #expect(IndexKey(.array([])) == nil)
  }

  @Test func `an array of many values gives each key once`() throws {
    let values = (0..<100).map { DocumentValue.integer($0 % 40) }
    var keys: [IndexKey] = []
    try withView(DocumentValue.object([.init("a", .array(values))]).documentBytes) { view throws in
      try view.forEachIndexKey(at: FieldPath(parsing: "a")) { keys.append($0) }
    }
    #expect(keys == (0..<40).map { IndexKey(.integer($0))! })
  }
}
