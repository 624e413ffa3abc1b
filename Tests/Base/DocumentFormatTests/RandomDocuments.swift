import DocumentFormat
import Foundation
import RandomTestSupport

/// Small random documents and conditions that meet each other often: few names, and constants from a small pool.
struct RandomDocuments {
  var generator: SeededGenerator

  static let names = ["a", "b", "c", "user", "d.e", "é", "and", "a b", "2x", "long name with 'quotes' and \\"]

  static let scalars: [DocumentValue] = [
    .null, .bool(false), .bool(true), .integer(0), .integer(1), .integer(-1), .integer(3), .integer(23), .integer(24),
    .integer(.max), .integer(.min), .integer(1 << 53), .integer(1 << 53 + 1), .unsigned(1 << 63), .unsigned(.max),
    .double(0), .double(-0.0), .double(1), .double(0.1), .double(-1.5), .double(3), .double(0x1p53), .double(0x1p63),
    .double(0x1p64), .double(1e300), .double(.infinity), .double(-.infinity), .double(.nan),
    .text(""), .text("a"), .text("A"), .text("ab"), .text("abc"), .text("ABC"), .text("xabcx"), .text("é"), .text("É"),
    .text("e\u{301}"), .text("straße"), .text("100%"), .text("a_c"), .text("it's \\ \"q\"\n\u{1}"), .text("王小明"),
    .text(String(repeating: "long ", count: 10)), .text(String(repeating: "long ", count: 10) + "x"),
    .bytes([]), .bytes([0]), .bytes([0, 255]), .bytes(Array(repeating: 7, count: 40)),
    .date(Date(timeIntervalSince1970: 0)), .date(Date(timeIntervalSince1970: 1)),
    .date(Date(timeIntervalSince1970: 1_700_000_000.25)), .date(Date(timeIntervalSince1970: -5.5)),
    .date(Date(timeIntervalSince1970: 1e300)),
  ]

  init(for name: String) { generator = SeededGenerator(for: name) }

  mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
  mutating func pick<T>(_ values: [T]) -> T { values[int(0..<values.count)] }

  mutating func value(depth: Int = 0) -> DocumentValue {
    switch int(0..<(depth >= 4 ? 6 : 10)) {
    case 0..<6: pick(Self.scalars)
    case 6, 7: .array((0..<int(0..<4)).map { _ in value(depth: depth + 1) })
    default: object(depth: depth + 1)
    }
  }

  mutating func object(depth: Int = 0) -> DocumentValue {
    let names = Self.names.shuffled(using: &generator).prefix(int(0..<6))
    return .object(names.map { .init($0, value(depth: depth)) })
  }

  mutating func path() -> FieldPath {
    let names = (0..<int(1..<4)).map { _ in pick(Array(Self.names.prefix(6))) }
    return try! FieldPath(names: int(0..<10) == 0 ? [pick(Self.names)] : names)
  }

  mutating func text() -> String {
    let texts = Self.scalars.compactMap { if case .text(let text) = $0 { text } else { nil } }
    return pick(texts)
  }

  mutating func pattern() -> String {
    (0..<int(0..<5)).map { _ in pick(["%", "_", "a", "b", "C", "é", "É", "\\%", "\\_", "abc", "明", "x", "\\"]) }
      .joined()
  }

  mutating func condition(depth: Int = 0) -> Condition {
    let isIgnoringCase = int(0..<2) == 0
    switch int(0..<(depth >= 3 ? 8 : 11)) {
    case 0, 1, 2: return .compare(path(), pick(Condition.Comparison.allCases), pick(Self.scalars))
    case 3:
      let count = pick([0, 1, 3, 12])
      return .isIn(path(), (0..<count).map { _ in pick(Self.scalars) })
    case 4: return .contains(path(), pick(Self.scalars), ignoringCase: isIgnoringCase)
    case 5: return .like(path(), pattern(), ignoringCase: isIgnoringCase)
    case 6: return .hasPrefix(path(), text(), ignoringCase: isIgnoringCase)
    case 7: return .isNull(path())
    case 8: return .and((0..<pick([0, 2, 3])).map { _ in condition(depth: depth + 1) })
    case 9: return .or((0..<pick([0, 2, 3])).map { _ in condition(depth: depth + 1) })
    default: return .not(condition(depth: depth + 1))
    }
  }
}
