import Bytes
import DocumentFormat
import Foundation
import JSONFormat
import RandomTestSupport
import Testing

/// The bytes that `hex` writes.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.filter { $0 != " " }
  return stride(from: 0, to: digits.count, by: 2).map { offset in
    let start = digits.index(digits.startIndex, offsetBy: offset)
    return UInt8(digits[start...].prefix(2), radix: 16)!
  }
}

/// The document that `value` is, viewed.
func withView<T>(_ bytes: [UInt8], _ body: (borrowing DocumentView) throws -> T) rethrows -> T {
  try body(DocumentView(bytes.rawSpan))
}

@Suite struct DocumentValueTests {
  /// Examples of RFC 8949, appendix A, that are in the subset.
  static let examples: [(String, DocumentValue)] = [
    ("00", .integer(0)), ("01", .integer(1)), ("0a", .integer(10)), ("17", .integer(23)), ("1818", .integer(24)),
    ("1819", .integer(25)), ("1864", .integer(100)), ("1903e8", .integer(1000)), ("1a000f4240", .integer(1_000_000)),
    ("1b000000e8d4a51000", .integer(1_000_000_000_000)), ("1bffffffffffffffff", .unsigned(.max)), ("20", .integer(-1)),
    ("29", .integer(-10)), ("3863", .integer(-100)), ("3903e7", .integer(-1000)),
    ("f4", .bool(false)), ("f5", .bool(true)), ("f6", .null), ("fb3ff199999999999a", .double(1.1)),
    ("fb7e37e43c8800759c", .double(1e300)), ("fbc010666666666666", .double(-4.1)),
    ("c11a514b67b0", .date(Date(timeIntervalSince1970: 1_363_896_240))),
    ("c1fb41d452d9ec200000", .date(Date(timeIntervalSince1970: 1_363_896_240.5))),
    ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6161", .text("a")),
    ("6449455446", .text("IETF")), ("62225c", .text("\"\\")), ("62c3bc", .text("ü")), ("63e6b0b4", .text("水")),
    ("64f0908591", .text("\u{10151}")), ("80", .array([])),
    ("83010203", .array([.integer(1), .integer(2), .integer(3)])),
    (
      "8301820203820405",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819", .array((1...25).map { .integer($0) })
    ),
    ("a0", .object([])),
    ("a26161016162820203", .object([.init("a", .integer(1)), .init("b", .array([.integer(2), .integer(3)]))])),
    ("826161a161626163", .array([.text("a"), .object([.init("b", .text("c"))])])),
  ]

  /// Examples that are read and never written.
  static let foreign: [(String, DocumentValue)] = [
    ("f90000", .double(0)), ("f98000", .double(-0.0)), ("f93c00", .double(1)), ("f93e00", .double(1.5)),
    ("f97bff", .double(65504)), ("f90001", .double(5.960464477539063e-8)), ("f90400", .double(0.00006103515625)),
    ("f9c400", .double(-4)), ("f97c00", .double(.infinity)), ("f97e00", .double(.nan)), ("f9fc00", .double(-.infinity)),
    ("fa47c35000", .double(100_000)), ("fa7f7fffff", .double(3.4028234663852886e+38)),
    ("fa7f800000", .double(.infinity)),
    ("f7", .null), ("d9d9f7f5", .bool(true)),
    (
      "d82076687474703a2f2f7777772e6578616d706c652e636f6d", .text("http://www.example.com")
    ),
    ("9fff", .array([])),
    (
      "9f018202039f0405ffff",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    (
      "83018202039f0405ff",
      .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])
    ),
    ("bf61610161629f0203ffff", .object([.init("a", .integer(1)), .init("b", .array([.integer(2), .integer(3)]))])),
    ("bf6346756ef563416d7421ff", .object([.init("Fun", .bool(true)), .init("Amt", .integer(-2))])),
    ("c120", .date(Date(timeIntervalSince1970: -1))),
    // The first of two fields of one name.
    ("a2616101616102", .object([.init("a", .integer(1))])),
  ]

  @Test(arguments: examples) func `an example of RFC 8949 is read and written`(hex: String, value: DocumentValue) throws
  {
    #expect(try DocumentValue(documentBytes: bytes(hex).rawSpan) == value)
    #expect(value.documentBytes == bytes(hex))
    try withView(bytes(hex)) { view throws in
      try view.validate()
      #expect(try view.byteCount() == bytes(hex).count)
      #expect(try view.kind() == value.kind)
    }
  }

  /// Heads are read in another way if enough bytes follow them.
  @Test(arguments: examples + foreign)
  func `a value is the same with other bytes behind it`(hex: String, value: DocumentValue) throws {
    for count in [1, 7, 8, 9, 20] {
      let more = [UInt8](repeating: 0xFF, count: count)
      try withView(bytes(hex) + more) { view throws in
        #expect(try view.value() == value)
        #expect(try view.byteCount() == bytes(hex).count)
      }
    }
  }

  @Test(arguments: foreign) func `another form is read`(hex: String, value: DocumentValue) throws {
    #expect(try DocumentValue(documentBytes: bytes(hex).rawSpan) == value)
    try withView(bytes(hex)) { view throws in try view.validate() }
  }

  @Test(arguments: [
    ("", DocumentError.endsEarly(offset: 0)), ("18", .endsEarly(offset: 1)), ("1901", .endsEarly(offset: 2)),
    ("fb0000", .endsEarly(offset: 3)), ("1c", .reserved(byte: 0x1C, offset: 0)),
    ("1f", .reserved(byte: 0x1F, offset: 0)),
    ("ff", .reserved(byte: 0xFF, offset: 0)), ("f8ff", .reserved(byte: 0xF8, offset: 0)),
    ("f0", .reserved(byte: 0xF0, offset: 0)), ("81ff", .reserved(byte: 0xFF, offset: 1)),
    ("5f42010243030405ff", .chunked(offset: 0)), ("817f657374726561646d696e67ff", .chunked(offset: 1)),
    ("c249010000000000000000", .tag(2, offset: 0)), ("c0643230313", .tag(0, offset: 0)), ("c16161", .tag(1, offset: 0)),
    ("d82001", .tag(32, offset: 0)), ("3bffffffffffffffff", .integerRange(offset: 0)), ("6261", .tooLong(offset: 0)),
    ("5bffffffffffffffff", .tooLong(offset: 0)), ("9bffffffffffffffff00", .tooLong(offset: 0)),
    ("bb7fffffffffffffff00", .tooLong(offset: 0)), ("a1616", .tooLong(offset: 1)), ("a10102", .nameIsNoText(offset: 1)),
    ("61ff", .invalidUTF8(offset: 0)), ("a161ff01", .invalidUTF8(offset: 1)), ("8161c3", .invalidUTF8(offset: 1)),
    ("0000", .trailingBytes(offset: 1)), ("9f01", .endsEarly(offset: 2)),
    ("bf6161ff", .reserved(byte: 0xFF, offset: 3)),
  ])
  func `what is outside of the subset is refused with its offset`(hex: String, error: DocumentError) throws {
    // An odd digit at the end of an example is dropped.
    let input = bytes(String(hex.prefix(hex.count / 2 * 2)))
    let expected = hex == "a1616" ? DocumentError.tooLong(offset: 0) : error
    #expect(throws: expected) { try DocumentValue(documentBytes: input.rawSpan) }
    #expect(throws: expected) { try withView(input) { view throws in try view.validate() } }
  }

  @Test(arguments: [(0x81, [0xF6]), (0x9F, [0xFF])] as [(UInt8, [UInt8])])
  func `nesting is refused one level beyond the limit`(open: UInt8, close: [UInt8]) throws {
    for depth in [DocumentLimits.nestingDepth, DocumentLimits.nestingDepth + 1, 100_000] {
      var input = [UInt8](repeating: open, count: depth)
      input += open == 0x81 ? close : (0..<depth).flatMap { _ in close }
      if depth == DocumentLimits.nestingDepth {
        let value = try DocumentValue(documentBytes: input.rawSpan)
        #expect(value.documentBytes.count == depth + (open == 0x81 ? 1 : 0))
        try withView(input) { view throws in try view.validate() }
      } else {
        let expected = DocumentError.nestedTooDeeply(offset: DocumentLimits.nestingDepth)
        #expect(throws: expected) { try DocumentValue(documentBytes: input.rawSpan) }
        #expect(throws: expected) { try withView(input) { view throws in try view.validate() } }
      }
    }
  }

  @Test func `random values survive bytes, and JSON as far as it can hold them`() throws {
    var random = RandomDocuments(for: "values survive")
    for _ in 0..<(2000 * depth) {
      let value = random.value()
      #expect(try DocumentValue(documentBytes: value.documentBytes.rawSpan) == value)
      let json = try DocumentValue(json: value.json)
      #expect(json == asJSON(value), "\(value.json)")
      #expect(try DocumentValue(json: json.json) == json)
    }
  }

  /// What JSON makes of a value.
  private func asJSON(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .bytes(let bytes): .text(Data(bytes).base64EncodedString())
    case .date(let date): .text(DateText.text(date))
    case .double(let value) where value.isNaN: .text("NaN")
    case .double(let value) where value.isInfinite: .text(value > 0 ? "Infinity" : "-Infinity")
    case .array(let elements): .array(elements.map(asJSON))
    case .object(let fields): .object(fields.map { .init($0.name, asJSON($0.value)) })
    default: value
    }
  }

  @Test func `equality is by meaning`() {
    #expect(DocumentValue.integer(1) == .double(1))
    #expect(DocumentValue.integer(1) == .unsigned(1))
    #expect(DocumentValue.integer(1 << 53 + 1) != .double(0x1p53))
    #expect(DocumentValue.double(.nan) == .double(.nan))
    #expect(DocumentValue.double(-0.0) == .integer(0))
    #expect(DocumentValue.bool(true) != .integer(1))
    #expect(DocumentValue.text("é") != .text("e\u{301}"))
    let ab = DocumentValue.object([.init("a", .integer(1)), .init("b", .null)])
    #expect(ab == .object([.init("b", .null), .init("a", .double(1))]))
    #expect(ab != .object([.init("a", .integer(1))]))
    #expect(ab != .object([.init("a", .integer(1)), .init("c", .null)]))
  }

  @Test func `a number beyond the largest double is refused, one that is too small is zero`() throws {
    #expect(try DocumentValue(json: "1.7976931348623157e308") == .double(.greatestFiniteMagnitude))
    #expect(try DocumentValue(json: "[-1e-999]") == .array([.double(-0.0)]))
    let digits = String(repeating: "7", count: 1700)
    for (json, end) in [("1e309", 5), ("[-1e999999999999999999999, 1]", 25), ("{\"a\":\(digits)}", 1705)] {
      #expect(throws: JSONError.numberTooLarge(offset: end)) { try DocumentValue(json: json) }
    }
    // The largest that is rounded to one, and the next above.
    #expect(try DocumentValue(json: "1.7976931348623158e308") == .double(.greatestFiniteMagnitude))
    #expect(throws: JSONError.numberTooLarge(offset: 22)) { try DocumentValue(json: "1.7976931348623159e308") }
  }

  @Test(arguments: ["{\"a\":1,}", "[1", "", "{\"a\" 1}", "1 2", String(repeating: "[", count: 200)])
  func `JSON that is none is refused`(json: String) {
    #expect(throws: (any Error).self) { try DocumentValue(json: json) }
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (1_767_323_045, "2026-01-02T03:04:05Z"), (0.5, "1970-01-01T00:00:00.500Z"),
    (-1, "1969-12-31T23:59:59Z"), (-0.25, "1969-12-31T23:59:59.750Z"), (951_782_400, "2000-02-29T00:00:00Z"),
    (-62_135_596_800, "0001-01-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
    (253_402_300_800, "@253402300800.0"),
    (1e300, "@1e+300"), (1_700_000_000.000001, "2023-11-14T22:13:20.000001Z"),
  ])
  func `a date is written as text and read again`(seconds: Double, text: String) throws {
    #expect(DateText.text(Date(timeIntervalSince1970: seconds)) == text)
    #expect(DateText.date(text)?.timeIntervalSince1970 == Date(timeIntervalSince1970: seconds).timeIntervalSince1970)
  }

  @Test(
    arguments: [
      ("2026-01-02", 1_767_312_000.0), ("2026-01-02T03:04:05", 1_767_323_045),
      ("2026-01-02 03:04:05+02:00", 1_767_315_845),
      ("2026-01-02T03:04:05-00:30", 1_767_324_845), ("2026-01-02T03:04:05.25Z", 1_767_323_045.25),
      ("2026-02-29", nil), ("2026-13-01", nil), ("2026-01-02T24:00:00Z", nil), ("2026-1-2", nil), ("x", nil), ("", nil),
      ("2026-01-02T03:04:05X", nil), ("2026-01-02T03:04:05.", nil), ("@", nil), ("0000-01-01", nil),
    ] as [(String, Double?)])
  func `a date is read in the forms that people write`(text: String, seconds: Double?) {
    #expect(DateText.date(text)?.timeIntervalSince1970 == seconds)
  }

  @Test func `random dates survive their text`() {
    var random = RandomDocuments(for: "dates survive")
    for _ in 0..<(2000 * depth) {
      let scale = random.pick([1.0, 1e3, 1e6, 1e9, 1e11, 1e13])
      let date = Date(timeIntervalSince1970: Double.random(in: -scale...scale, using: &random.generator))
      #expect(DateText.date(DateText.text(date))?.timeIntervalSince1970 == date.timeIntervalSince1970)
    }
  }

  @Test func `two fields of one object with the same name are refused, with the byte of the second`() throws {
    for (json, key, offset) in [
      (#"{"a":1,"a":1}"#, "a", 7), (#"{"a":{"b":[]},"c":{"b":1, "b":2}}"#, "b", 26), (#"[{"":1,"":2}]"#, "", 7),
      (#"{"\u0061":1,"a":2}"#, "a", 12),
    ] {
      #expect(throws: JSONError.repeatedKey(key, offset: offset)) { try DocumentValue(json: json) }
    }
    #expect(try DocumentValue(json: #"{"a":{"a":1},"b":{"a":1},"é":1,"e\u0301":2}"#)["b"]?["a"] == .integer(1))
    let first = try DocumentValue(json: #"{"a":1,"b":2,"a":3}"#.utf8.span, repeatedKeys: .firstCounts)
    #expect(first.json == #"{"a":1,"b":2}"#)
  }
}
