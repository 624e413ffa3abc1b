import Bytes
import Essentials

/// A sort order of documents by one or more fields.
///
/// The order is total over all kinds: null (and missing), false, true, numbers by value with NaN first, dates, texts by
/// their UTF-8 bytes, byte strings, then arrays and objects (which are all equal). If the path passes an array, its
/// first element is used.
public struct Ordering: Sendable, Equatable {
  /// A field to sort by.
  public struct Term: Sendable, Equatable {
    /// The path of the field. A missing field sorts as null.
    public var path: FieldPath
    /// Whether the largest value comes first.
    public var isDescending: Bool

    /// Creates a term that sorts by the field at `path`, ascending by default.
    public init(_ path: FieldPath, isDescending: Bool = false) {
      self.path = path
      self.isDescending = isDescending
    }
  }

  /// The fields to sort by. A later one orders documents that are equal in all earlier ones.
  public var terms: [Term]

  /// Creates an order by several fields, the most important one first.
  public init(_ terms: [Term]) { self.terms = terms }

  /// Creates an order by the field of a key path.
  ///
  /// - Throws: `FieldPathError` if the key path has no field path; see ``FieldPath/init(_:)``.
  public init(_ keyPath: AnyKeyPath, isDescending: Bool = false) throws(FieldPathError) {
    terms = [Term(try FieldPath(keyPath), isDescending: isDescending)]
  }

  /// This order, followed by another field that decides between documents that are equal in it.
  public func then(_ keyPath: AnyKeyPath, isDescending: Bool = false) throws(FieldPathError) -> Ordering {
    Ordering(terms + [Term(try FieldPath(keyPath), isDescending: isDescending)])
  }

  /// A sort key of the document: keys compare bytewise in the order of the documents.
  ///
  /// Two keys are equal exactly if the documents are equal in all terms, and no key is a prefix of another one.
  ///
  /// - Complexity: One walk for each term. The key has at most 11 bytes for each term, or the length of the text.
  public func sortKey(of document: borrowing DocumentView) throws(DocumentError) -> [UInt8] {
    var key: [UInt8] = []
    try appendSortKey(of: document, to: &key)
    return key
  }

  /// Appends the document's sort key to `key`.
  public func appendSortKey(of document: borrowing DocumentView, to key: inout [UInt8]) throws(DocumentError) {
    for term in terms {
      var visitor = FirstVisitor()
      _ = try document.bytes.walk(document.offset, term.path, flattensLast: false, &visitor)
      let item = try document.bytes.itemOrNull(at: visitor.offset)
      key.appendSortKey(document.bytes, item, isDescending: term.isDescending)
    }
  }
}

/// Finds the first value.
private struct FirstVisitor: PathVisitor {
  var offset: Int?

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    self.offset = offset
    return true
  }
}

/// The form of sort keys, as `Documentation/Format/Documents.md` specifies it for ordered indexes.
enum SortKey {
  /// The first byte of a value's sort key, which orders the kinds.
  enum Rank {
    static let null: UInt8 = 1
    static let `false`: UInt8 = 2
    static let `true`: UInt8 = 3
    static let number: UInt8 = 4
    static let date: UInt8 = 5
    static let text: UInt8 = 6
    static let bytes: UInt8 = 7
    static let list: UInt8 = 8
  }

  /// The least magnitude from which on not every integer is a double.
  static let leastInexact = 0x1p53

  /// The length of the value's key at `start`, which is one of an ascending order; `nil` if there is none.
  static func byteCount(_ bytes: RawSpan, at start: Int) -> Int? {
    guard start < bytes.byteCount else { return nil }
    let left = bytes.byteCount - start
    switch bytes.u8(at: start) {
    case Rank.null, Rank.false, Rank.true, Rank.list: return 1
    case Rank.date: return left >= 9 ? 9 : nil
    case Rank.number:
      guard left >= 9 else { return nil }
      let ordered = bytes.u64(at: start + 1).byteSwapped
      let value = Double(bitPattern: ordered >> 63 == 1 ? ordered ^ 1 << 63 : ~ordered)
      let count = Swift.abs(value) >= leastInexact ? 11 : 9
      return left >= count ? count : nil
    case Rank.text, Rank.bytes:
      var offset = start + 1
      while offset + 1 < bytes.byteCount {
        if bytes.u8(at: offset) != 0 {
          offset += 1
        } else if bytes.u8(at: offset + 1) == 0 {
          return offset + 2 - start
        } else {
          offset += 2
        }
      }
      return nil
    default: return nil
    }
  }
}

extension Array where Element == UInt8 {
  fileprivate typealias Rank = SortKey.Rank

  /// Appends the sort key of one term: keys compare bytewise in the order of the values, and none is a prefix of
  /// another one.
  ///
  /// - Parameters:
  ///   - bytes: The bytes that contain the value, if it is a text or a byte string.
  ///   - item: The value; its range, if it has one, is in bounds.
  ///   - isDescending: Whether the largest value has the smallest key.
  package mutating func appendSortKey(_ bytes: RawSpan, _ item: Item, isDescending: Bool = false) {
    let start = count
    appendSortKey(bytes, item)
    if isDescending {
      for index in start..<count { self[index] = ~self[index] }
    }
  }

  /// Appends the sort key of the value at `offset`, or of null if `offset` is `nil`.
  mutating func appendSortKey(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) {
    guard let offset else { return append(Rank.null) }
    appendSortKey(bytes, try bytes.item(at: offset))
  }

  private mutating func appendSortKey(_ bytes: RawSpan, _ item: Item) {
    switch item {
    case .null: append(Rank.null)
    case .bool(let value): append(value ? Rank.true : Rank.false)
    // Most integers are doubles.
    case .integer(let value) where value.magnitude < 1 << 53: appendSortKey(Rank.number, Double(value))
    case .integer(let value): appendSortKey(integer: Int128(value))
    case .unsigned(let value): appendSortKey(integer: Int128(value))
    case .double(let value): appendSortKey(number: value, 0)
    case .date(let value): appendSortKey(Rank.date, value.timeIntervalSinceReferenceDate)
    case .text(let range): appendSortKey(Rank.text, bytes.extracting(range))
    case .bytes(let range): appendSortKey(Rank.bytes, bytes.extracting(range))
    case .array, .object: append(Rank.list)
    }
  }

  /// Appends an integer of at most 64 bits: the greatest double that is not greater, then the difference, which is less
  /// than 2048.
  private mutating func appendSortKey(integer: Int128) {
    var floor = Double(integer)
    if Int128(floor) > integer { floor = floor.nextDown }
    appendSortKey(number: floor, UInt64(integer - Int128(floor)))
  }

  /// Appends a double and what an integer is greater. Only integers of at least 2⁵³ in magnitude lie between two
  /// doubles, so the first eight bytes say whether two more follow.
  private mutating func appendSortKey(number: Double, _ rest: UInt64) {
    appendSortKey(Rank.number, number)
    if Swift.abs(number) >= SortKey.leastInexact { appendBigEndian(rest, 2) }
  }

  private mutating func appendSortKey(_ rank: UInt8, _ value: Double) {
    append(rank)
    let bits = (value == 0 ? 0 : value).bitPattern
    // With the sign bit inverted, positive numbers sort after negative ones. The other bits of negative numbers are
    // inverted as well.
    let ordered: UInt64 = value.isNaN ? 0 : bits >> 63 == 0 ? bits ^ 1 << 63 : ~bits
    appendBigEndian(ordered, 8)
  }

  /// Appends a string: its bytes, with zero encoded as 00 FF, then the terminator 00 00.
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

extension DocumentValue {
  /// The sort key of the value; see ``Ordering/sortKey(of:)``.
  package var sortKey: [UInt8] {
    var key: [UInt8] = []
    // The bytes were just written, so they are valid.
    try? key.appendSortKey(documentBytes.rawSpan, 0)
    return key
  }
}
