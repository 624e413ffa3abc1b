import Bytes
import Foundation

/// In which order documents come: by the values of fields, one after the other.
///
/// The order is total over all kinds: null (and missing), false, true, numbers by value with NaN first, dates, texts by
/// their bytes of UTF-8, byte strings, arrays and objects (which are all alike). On the way through an array its first
/// element counts.
public struct Ordering: Sendable, Equatable {
  /// A field to order by.
  public struct Term: Sendable, Equatable {
    public var path: FieldPath
    public var isDescending: Bool

    public init(_ path: FieldPath, isDescending: Bool = false) {
      self.path = path
      self.isDescending = isDescending
    }
  }

  public var terms: [Term]

  public init(_ terms: [Term]) { self.terms = terms }

  /// Orders by the field of a key path.
  ///
  /// - Throws: If it has no path in a document; see ``FieldPath/init(_:)``.
  public init(_ keyPath: AnyKeyPath, isDescending: Bool = false) throws(FieldPathError) {
    terms = [Term(try FieldPath(keyPath), isDescending: isDescending)]
  }

  /// This order, and where it does not decide that of another field.
  public func then(_ keyPath: AnyKeyPath, isDescending: Bool = false) throws(FieldPathError) -> Ordering {
    Ordering(terms + [Term(try FieldPath(keyPath), isDescending: isDescending)])
  }

  /// Bytes that stand in the documents' order when they are compared as bytes.
  ///
  /// Two keys are equal exactly if no term tells the documents apart, and no key is the beginning of another one.
  ///
  /// - Complexity: One walk a term; the key has at most 11 bytes a term, or the length of the text.
  public func sortKey(of document: borrowing DocumentView) throws(DocumentError) -> [UInt8] {
    var key: [UInt8] = []
    try appendSortKey(of: document, to: &key)
    return key
  }

  /// Appends the same bytes to `key`.
  public func appendSortKey(of document: borrowing DocumentView, to key: inout [UInt8]) throws(DocumentError) {
    for term in terms {
      let start = key.count
      var visitor = FirstVisitor()
      _ = try document.bytes.walk(document.offset, term.path, flattensLast: false, &visitor)
      try key.appendSortKey(document.bytes, visitor.offset)
      if term.isDescending {
        for index in start..<key.count { key[index] = ~key[index] }
      }
    }
  }
}

/// Takes the first value.
private struct FirstVisitor: PathVisitor {
  var offset: Int?

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    self.offset = offset
    return true
  }
}

extension Array where Element == UInt8 {
  /// The first byte of a value's sort key.
  private enum Rank {
    static let null: UInt8 = 1
    static let `false`: UInt8 = 2
    static let `true`: UInt8 = 3
    static let number: UInt8 = 4
    static let date: UInt8 = 5
    static let text: UInt8 = 6
    static let bytes: UInt8 = 7
    static let list: UInt8 = 8
  }

  /// Appends the sort key of the value at `offset`, of null without one.
  fileprivate mutating func appendSortKey(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) {
    guard let offset else {
      append(Rank.null)
      return
    }
    switch try bytes.item(at: offset) {
    case .null: append(Rank.null)
    case .bool(let value): append(value ? Rank.true : Rank.false)
    case .integer(let value): appendSortKey(integer: Int128(value))
    case .unsigned(let value): appendSortKey(integer: Int128(value))
    case .double(let value): appendSortKey(Rank.number, value, 0)
    case .date(let value): appendSortKey(Rank.date, value.timeIntervalSinceReferenceDate, 0)
    case .text(let range): appendSortKey(Rank.text, bytes.extracting(range))
    case .bytes(let range): appendSortKey(Rank.bytes, bytes.extracting(range))
    case .array, .object: append(Rank.list)
    }
  }

  /// An integer of at most 64 bits: the greatest double that is not above it, and how far it is above that, which is
  /// less than 2048.
  private mutating func appendSortKey(integer: Int128) {
    var floor = Double(integer)
    if Int128(floor) > integer { floor = floor.nextDown }
    appendSortKey(Rank.number, floor, UInt64(integer - Int128(floor)))
  }

  private mutating func appendSortKey(_ rank: UInt8, _ value: Double, _ rest: UInt64) {
    append(rank)
    let bits = (value == 0 ? 0 : value).bitPattern
    // With the sign bit turned round positive numbers stand behind negative ones, whose other bits are turned round as
    // well.
    let ordered: UInt64 = value.isNaN ? 0 : bits >> 63 == 0 ? bits ^ 1 << 63 : ~bits
    appendBigEndian(ordered, 8)
    appendBigEndian(rest, 2)
  }

  /// A string: its bytes, zero as 00 FF, and 00 00 behind them.
  private mutating func appendSortKey(_ rank: UInt8, _ string: RawSpan) {
    append(rank)
    for offset in 0..<string.byteCount {
      let byte = string.u8(at: offset)
      append(byte)
      if byte == 0 { append(0xFF) }
    }
    append(0)
    append(0)
  }
}
