import Barcodes
import DocumentFormat
import LogStore
import RandomTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// The declarations of fields of one's own, and what single values of them are.
@Suite struct DeclaredFieldsTests {
  private static let example = #"""
    {"carton_ean": {"role": "code", "quantity": 12, "unit": "case"}, "color": {"search": true},
     "price": {"type": "decimal", "order": true}, "discontinued": {"type": "bool"}, "arrival": {"type": "date"}}
    """#

  @Test func `declarations are read from JSON and written as such`() throws {
    let fields = try DeclaredFields(json: Array(Self.example.utf8))
    #expect(fields.names == ["arrival", "carton_ean", "color", "discontinued", "price"])
    #expect(fields["price"] == FieldDeclaration(.decimal, isOrdered: true))
    #expect(fields["carton_ean"] == .code(quantity: ExactDecimal(12), unit: "case"))
    #expect(fields.codes == ["carton_ean"] && fields.searched == ["color"] && fields.ordered == ["price"])
    #expect(fields["none"] == nil)
    #expect(
      fields.value.json == #"{"arrival":{"type":"date"},"carton_ean":{"type":"text","role":"code","quantity":12,"#
        + #""unit":"case"},"color":{"type":"text","search":true},"discontinued":{"type":"bool"},"#
        + #""price":{"type":"decimal","order":true}}"#)
    #expect(try DeclaredFields(fields.value) == fields)
  }

  @Test(arguments: [
    ("[]", "the fields: write an object"),
    ("{", "the fields: this is no JSON"),
    (#"{"price": 1}"#, #"the field "price": write an object"#),
    (#"{"price": {"type": "number"}}"#, #"the field "price", type: write text, decimal, int, bool, date"#),
    (#"{"price": {"ordr": true}}"#, #"the field "price": "ordr" is unknown; is order meant?"#),
    (#"{"price": {"order": 1}}"#, #"the field "price", order: write true or false"#),
    (#"{"price": {"type": "decimal", "search": true}}"#, #"the field "price", search: only texts have words"#),
    (#"{"ean": {"type": "int", "role": "code"}}"#, #"the field "ean", role: a code is a text"#),
    (#"{"ean": {"role": "barcode"}}"#, #"the field "ean", role: the only role is "code""#),
    (#"{"ean": {"role": "code", "quantity": 0}}"#, #"the field "ean", quantity: a code stands for more than 0 pieces"#),
    (#"{"ean": {"role": "code", "quantity": "x"}}"#, #"the field "ean", quantity: write a number"#),
    (#"{"ean": {"quantity": 12}}"#, #"the field "ean", quantity: only codes have a quantity"#),
    (#"{"ean": {"unit": "case"}}"#, #"the field "ean", unit: only codes have a unit"#),
    (#"{"": {}}"#, #"the field "": a name has 1 to 100 bytes"#),
    ("{\"a\\nb\": {}}", "a name has no control characters"),
  ])
  func `what is no declaration says where and why`(json: String, message: String) {
    let error = #expect(throws: FieldError.self) { try DeclaredFields(json: Array(json.utf8)) }
    #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
  }

  @Test func `fields, codes and the names of a search are limited`() throws {
    var fields = DeclaredFields()
    for number in 0..<DeclaredFields.maximumCodeCount { try fields.set("code\(number)", .code()) }
    #expect(throws: FieldError.self) { try fields.set("one more", .code()) }
    #expect(fields.count == DeclaredFields.maximumCodeCount)
    try fields.set(String(repeating: "a", count: 100), FieldDeclaration(.text, isSearched: true))
    try fields.set(String(repeating: "b", count: 100), FieldDeclaration(.text, isSearched: true))
    #expect(throws: FieldError.self) {
      try fields.set(String(repeating: "c", count: 100), FieldDeclaration(.text, isSearched: true))
    }
    for number in fields.count..<DeclaredFields.maximumCount { try fields.set("x\(number)", FieldDeclaration()) }
    #expect(throws: FieldError.self) { try fields.set("too many", FieldDeclaration()) }
    let unset = [fields.unset("code0"), fields.unset("code0")]
    #expect(unset == [true, false])
  }

  @Test(arguments: ["price", "a,b%", "a.b", "格力", "%2C", "search+x", " "])
  func `the name of an index says what its keys are derived from`(name: String) {
    var indexes = FieldType.allCases.map { ProductIndex.extra(ExtraField(name, $0)) }
    indexes += [.code(ExtraField(name, .text)), .searchWith([name]), .searchWith(["a", name].sorted())]
    for index in indexes { #expect(ProductIndex(named: index.name) == index, "\(index.name)") }
    #expect(ProductIndex(named: "extra.number.\(name)") == nil && ProductIndex(named: "extra") == nil)
  }

  private static func item(_ json: String, _ type: FieldType?) throws -> DocumentValue {
    let extra = try ProductExtra(json: "{\"a\":[\"},\"],\"f\":\(json),\"z\":{\"f\":1}}")
    var scratch: [UInt8] = []
    return ExtraField("f", type).withItem(extra.bytes.rawSpan, &scratch) { bytes, item in
      switch item {
      case .null: .null
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(value)
      case .double(let value): .double(value)
      case .text(let range): .text(bytes.extracting(range).string)
      default: .array([])
      }
    }
  }

  @Test func `values have the type of their field, or are missing`() throws {
    let cases: [(String, FieldType?, DocumentValue)] = [
      ("\"x\"", .text, .text("x")), ("\"a\\\"b\\n\\u0001é\"", .text, .text("a\"b\n\u{1}é")),
      ("12.50", .text, .text("12.50")),
      ("true", .text, .null), ("[\"x\"]", .text, .null),
      ("12.50", .decimal, .double(12.5)), ("\" 12 \"", .decimal, .integer(12)), ("\"12,5\"", .decimal, .null),
      ("\"\"", .decimal, .null), ("true", .decimal, .null), ("1e3", .decimal, .double(1000)),
      ("7", .int, .integer(7)), ("\"7.0\"", .int, .integer(7)), ("7.5", .int, .null), ("\"x\"", .int, .null),
      ("true", .bool, .bool(true)), ("\"No\"", .bool, .bool(false)), ("1", .bool, .bool(true)), ("2", .bool, .null),
      ("\"2026-01-31\"", .date, .text("2026-01-31")), ("\"2026-01-31T10:00\"", .date, .text("2026-01-31T10:00")),
      ("\"2026-02-29\"", .date, .null), ("\"2024-02-29 1\"", .date, .text("2024-02-29 1")),
      ("\"31.01.2026\"", .date, .null), ("20260131", .date, .null), ("\"2026-01-31x\"", .date, .null),
      ("\"x\"", nil, .text("x")), ("1.5", nil, .double(1.5)), ("null", nil, .null), ("false", nil, .bool(false)),
      ("[1, \"}\"]", nil, .text("[1,\"}\"]")),
    ]
    for (json, type, value) in cases {
      #expect(try Self.item(json, type) == value, "\(json) as \(String(describing: type))")
    }
  }

  @Test func `a value that does not fit is told from one that is missing`() throws {
    func fit(_ json: String, _ type: FieldType?) throws -> ExtraField.Fit {
      var scratch: [UInt8] = []
      let extra = try ProductExtra(json: json)
      return ExtraField("f", type).fit(extra.bytes.rawSpan, &scratch)
    }
    for json in ["{}", #"{"g":1}"#, #"{"f":null}"#, #"{"f":" "}"#] { #expect(try fit(json, .decimal) == .missing) }
    for json in [#"{"f":"x"}"#, #"{"f":[1]}"#] { #expect(try fit(json, .decimal) == .misfit) }
    #expect(try fit(#"{"f":"1"}"#, .decimal) == .fitting)
    #expect(try fit(#"{"f":[1]}"#, nil) == .fitting)
  }

  @Test func `damaged objects are read without harm`() {
    var random = SeededGenerator(for: "damaged objects are read without harm")
    let good = Array(#"{"a\"b":["x\\",{"f":"1"}],"f":"a\u0001\n","g":12.5,"h":{}}"#.utf8)
    var scratch: [UInt8] = []
    for _ in 0..<20_000 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        case 1 where !bytes.isEmpty:
          bytes[Int.random(in: bytes.indices, using: &random)] = Array("\"\\{}[],:u1".utf8).randomElement(
            using: &random)!
        default:
          bytes.insert(UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
        }
      }
      for name in ["f", "g", "h", "a\"b", "none"] {
        for type in FieldType.allCases.map(Optional.some) + [nil] {
          let field = ExtraField(name, type)
          _ = field.fit(bytes.rawSpan, &scratch)
          _ = field.words(of: bytes.rawSpan, &scratch)
          var key: [UInt8] = []
          field.appendSortKey(of: bytes.rawSpan, to: &key, &scratch)
          #expect(!key.isEmpty)
        }
      }
    }
  }

  // MARK: Decimals

  @Test func `keys of decimals have the order of the numbers`() {
    var random = SeededGenerator(for: "keys of decimals have the order of the numbers")
    var numbers: [(key: [UInt8], value: Int, text: String)] = []
    for _ in 0..<600 {
      // Thousandths, so that an integer says the order.
      let digits = Int.random(in: 0...6, using: &random)
      let bound = (0..<digits).reduce(1) { bound, _ in bound * 10 }
      let value = Int.random(in: -bound...bound, using: &random)
      let magnitude = String(value.magnitude)
      let padded = String(repeating: "0", count: max(0, 4 - magnitude.count)) + magnitude
      var text = (value < 0 ? "-" : "") + padded.dropLast(3) + "." + padded.suffix(3)
      if Bool.random(using: &random) {
        let shift = Int.random(in: -3...3, using: &random)
        // The same number with another exponent: 1.250 is 1250e-3.
        text = (value < 0 ? "-" : "") + "\(magnitude)\(String(repeating: "0", count: shift + 3))e\(-3 - (shift + 3))"
      }
      var key: [UInt8] = []
      #expect(DecimalKey.append(Array(text.utf8).rawSpan, to: &key), "\(text)")
      numbers.append((key, value, text))
    }
    for a in numbers {
      for b in numbers {
        #expect(a.key.lexicographicallyPrecedes(b.key) == (a.value < b.value), "\(a.text) and \(b.text)")
        #expect((a.key == b.key) == (a.value == b.value), "\(a.text) and \(b.text)")
      }
    }
  }

  @Test func `decimals that no double tells apart have other keys`() {
    func key(_ text: String) -> [UInt8] {
      var key: [UInt8] = []
      DecimalKey.append(Array(text.utf8).rawSpan, to: &key)
      return key
    }
    let ascending = [
      "-9.99e299", "-100000000000000000000000000000002", "-100000000000000000000000000000001", "-0.1", "-1e-300", "0",
      "0.10000000000000000000000000001", "0.10000000000000000000000000002", "9007199254740993", "9007199254740994",
      "9.99e299",
    ]
    for (a, b) in zip(ascending, ascending.dropFirst()) {
      #expect(key(a).lexicographicallyPrecedes(key(b)), "\(a) \(b)")
    }
    #expect(key("-0.000") == key("0") && key("+1.50") == key("1.5"))
    let long = String(repeating: "9", count: 300)
    #expect(!key(long).isEmpty && !key("-0." + String(repeating: "0", count: 299) + long).isEmpty)
    for text in [
      "", "-", ".", "1.", ".5", "1e", "1e+", "0x1", "1,5", "1 2", "nan", "1e123456", "1e300", "-1e400", "1e-301",
      long + "9", "0.1" + long,
    ] {
      #expect(key(text).isEmpty, "\(text)")
    }
  }
}
