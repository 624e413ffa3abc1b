import Bytes
import Foundation
import Testing

@testable import DocumentFormat

/// The order of the keys of ordered indexes, and the ranges of conditions.
@Suite struct OrderedKeyTests {
  private static let field = try! FieldPath(names: ["v"])

  private func document(_ value: DocumentValue?) -> [UInt8] {
    DocumentValue.object(value.map { [.init("v", $0)] } ?? []).documentBytes
  }

  private func keys(_ value: DocumentValue?) throws -> (keys: [[UInt8]], isSingle: Bool) {
    let bytes = document(value)
    var list: [UInt8] = []
    let isSingle = try DocumentView(bytes.rawSpan).appendOrderedKeys(at: [Self.field], to: &list)
    return (KeyList.distinct(list.rawSpan), isSingle)
  }

  private func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
  }

  /// Values of all kinds, and random ones near to each other.
  private func values(_ random: inout RandomDocuments) -> [DocumentValue] {
    var values = RandomDocuments.scalars
    for _ in 0..<150 {
      let exponent = random.int(0..<64)
      let near = Int64(truncatingIfNeeded: UInt64(1) << UInt64(exponent)) &+ Int64(random.int(-3..<4))
      switch random.int(0..<6) {
      case 0: values.append(.integer(near))
      case 1: values.append(.integer(0 &- near))
      case 2: values.append(.unsigned(UInt64.max - UInt64(random.int(0..<4096))))
      case 3: values.append(.double(Double(near) * (random.int(0..<2) == 0 ? 1 : -1)))
      case 4: values.append(.double(Double(bitPattern: UInt64.random(in: .min ... .max, using: &random.generator))))
      default:
        let count = random.int(0..<4)
        values.append(.bytes((0..<count).map { _ in UInt8(random.pick([0, 1, 254, 255])) }))
        values.append(.text(String((0..<count).map { _ in random.pick(["\0", "\u{1}", "a", "é", "王"]) }.joined())))
      }
    }
    return values
  }

  @Test func `keys are in the order of values, and of the sort of queries`() throws {
    var random = RandomDocuments(for: "OrderedKeyTests, order")
    let values = values(&random)
    let keys = try values.map { try #require(try self.keys($0).keys.first) }
    let ordering = Ordering([Ordering.Term(Self.field)])
    for (a, value) in values.enumerated() {
      let bytes = document(value)
      #expect(try ordering.sortKey(of: DocumentView(bytes.rawSpan)) == keys[a])
      #expect(SortKey.byteCount((keys[a] + [7]).rawSpan, at: 0) == keys[a].count)
      for (b, other) in values.enumerated() {
        guard let mine = Scalar(value), let others = Scalar(other), let expected = mine.order(others) else {
          if keys[a] == keys[b] { Issue.record("\(value) \(other)") }
          continue
        }
        if order(keys[a], keys[b]) != expected.signum() { Issue.record("\(value) \(other)") }
      }
    }
  }

  @Test func `numbers have one order, exact beyond two to the fifty-third`() throws {
    let numbers: [DocumentValue] = [
      .double(.nan), .double(-.infinity), .double(-0x1p64), .integer(.min), .integer(.min + 1),
      .integer(-(1 << 53) - 1), .integer(-(1 << 53)), .double(-1.5), .integer(-1),
      .double(-Double.leastNonzeroMagnitude), .integer(0),
      .double(Double.leastNonzeroMagnitude), .integer(1), .double(1.5), .integer(2), .integer(1 << 53),
      .integer(1 << 53 + 1),
      .double(0x1p53 + 2), .integer(.max), .unsigned(1 << 63), .unsigned(1 << 63 + 1), .unsigned(.max),
      .double(0x1p64), .double(.infinity),
    ]
    let keys = try numbers.map { try #require(try self.keys($0).keys.first) }
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
    #expect(try self.keys(.double(-0.0)).keys == self.keys(.integer(0)).keys)
    #expect(try self.keys(.double(2)).keys == [[4, 0xC0, 0, 0, 0, 0, 0, 0, 0]])
    #expect(try self.keys(.integer(1 << 53 + 1)).keys == [[4, 0xC3, 0x40, 0, 0, 0, 0, 0, 0, 0, 1]])
    #expect(try self.keys(.text("a\0b")).keys == [[6, 0x61, 0, 0xFF, 0x62, 0, 0]])
  }

  @Test func `an array has the keys of its elements, an object none, and a missing field that of null`() throws {
    #expect(try keys(nil) == ([[1]], true))
    #expect(try keys(.null) == ([[1]], true))
    #expect(try keys(.object([])) == ([], false))
    #expect(try keys(.array([])) == ([], false))
    #expect(try keys(.array([.bool(true)])) == ([[3]], false))
    #expect(try keys(.array([.bool(true), .array([.null, .bool(true)]), .object([])])) == ([[3], [1]], false))
    #expect(try keys(.text(String(repeating: "x", count: 252))).keys[0].count == 255)
    let long = try keys(.text(String(repeating: "x", count: 254))).keys[0]
    #expect(long.count == 255 && long.last == UInt8(ascii: "x"))
    #expect(try keys(.text(String(repeating: "x", count: 100_000))).keys == [long])
    #expect(try keys(.text(String(repeating: "x", count: 253))).keys == [long.dropLast() + [0]])
  }

  @Test func `a key of several fields is in the order of the first, then of the next`() throws {
    var random = RandomDocuments(for: "OrderedKeyTests, several")
    let paths = try ["a", "b"].map { try FieldPath(names: [$0]) }
    let ordering = Ordering(paths.map { Ordering.Term($0) })
    let values = values(&random)
    var pairs: [(key: [UInt8], sortKey: [UInt8])] = []
    for _ in 0..<150 {
      let bytes = DocumentValue.object([.init("a", random.pick(values)), .init("b", random.pick(values))]).documentBytes
      var list: [UInt8] = []
      #expect(try DocumentView(bytes.rawSpan).appendOrderedKeys(at: paths, to: &list))
      pairs.append((Array(list.dropFirst()), try ordering.sortKey(of: DocumentView(bytes.rawSpan))))
    }
    for a in pairs {
      #expect(a.key == OrderedKey.truncated(a.sortKey))
      for b in pairs where order(a.key, b.key) != order(a.sortKey, b.sortKey) { Issue.record("\(a) \(b)") }
      let descending = Ordering([Ordering.Term(paths[0]), Ordering.Term(paths[1], isDescending: true)])
      let parts = try #require(OrderedKey.parts(ofSortKey: a.sortKey + [9, 9], ordering))
      #expect(parts.parts.flatMap { $0 } == a.sortKey && parts.byteCount == a.sortKey.count)
      let inverted = parts.parts[0] + parts.parts[1].map { ~$0 }
      #expect(OrderedKey.parts(ofSortKey: inverted, descending)?.parts == parts.parts)
      #expect(OrderedKey.parts(ofSortKey: Array(a.sortKey.dropLast()), ordering) == nil)
    }
    var list: [UInt8] = [1, 7]
    let bytes = DocumentValue.object([.init("a", .integer(1)), .init("b", .array([.integer(1)]))]).documentBytes
    #expect(try !DocumentView(bytes.rawSpan).appendOrderedKeys(at: paths, to: &list) && list == [1, 7])
  }

  @Test func `a value is in the ranges of a condition if the condition holds for it`() throws {
    var random = RandomDocuments(for: "OrderedKeyTests, ranges")
    let values = values(&random)
    var withRanges = 0
    for _ in 0..<1500 {
      let condition: Condition
      switch random.int(0..<5) {
      case 0...1:
        condition = .compare(Self.field, random.pick(Condition.Comparison.allCases), random.pick(values))
      case 2: condition = .isIn(Self.field, (0..<random.int(0..<5)).map { _ in random.pick(values) })
      case 3: condition = .hasPrefix(Self.field, random.text(), ignoringCase: false)
      default: condition = .like(Self.field, random.pattern(), ignoringCase: false)
      }
      guard let ranges = ValueRanges(condition) else { continue }
      withRanges += 1
      for _ in 0..<20 {
        let value = random.pick(values)
        let bytes = document(value)
        let holds = try condition.matches(DocumentView(bytes.rawSpan))
        let key = value.sortKey
        let isInside = ranges.ranges.contains { range in
          !key.lexicographicallyPrecedes(range.lower)
            && (range.upper.map { key.lexicographicallyPrecedes($0) } ?? true)
        }
        if ranges.isExact ? isInside != holds : holds && !isInside { Issue.record("\(condition) \(value)") }
      }
    }
    #expect(withRanges > 1000)
  }
}
