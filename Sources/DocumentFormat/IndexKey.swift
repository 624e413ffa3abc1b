import Bytes
import Foundation

/// What an index finds a document by: at most 33 bytes made from one value, as
/// `Documentation/Format/Documents.md` gives them.
///
/// Equal values give equal keys. Different values may give equal keys, so who looks up a key must still look at the
/// document.
public struct IndexKey: Hashable, Sendable {
  public let bytes: [UInt8]

  /// The first byte of a key.
  enum Kind {
    static let null: UInt8 = 0
    static let `false`: UInt8 = 1
    static let `true`: UInt8 = 2
    static let integer: UInt8 = 3
    static let unsigned: UInt8 = 4
    static let double: UInt8 = 5
    static let date: UInt8 = 6
    static let text: UInt8 = 7
    static let longText: UInt8 = 8
    static let bytes: UInt8 = 9
    static let longBytes: UInt8 = 10
    static let prefix: UInt8 = 16
  }

  /// The longest text or byte string that is its own key.
  static let inlineByteCount = 32
  /// How much of a longer one stands before its hash.
  static let headByteCount = 24
  /// The hash has no secret: a key is the same in every store.
  static let seed = HashSeed(0, 0)
  /// The lengths in bytes for which texts give prefix keys.
  public static let prefixByteCounts = [1, 2, 4, 8, 16]

  /// The key of `null` and of a missing field.
  public static let null = IndexKey(Kind.null)

  private init(_ bytes: [UInt8]) { self.bytes = bytes }
  private init(_ kind: UInt8) { bytes = [kind] }

  /// The key of `value`, or nil for an array or object.
  public init?(_ value: DocumentValue) {
    guard let scalar = Scalar(value) else { return nil }
    self.init(scalar)
  }

  init(_ scalar: Scalar) {
    var bytes: [UInt8] = []
    switch scalar {
    case .null: bytes.append(Kind.null)
    case .bool(let value): bytes.append(value ? Kind.true : Kind.false)
    case .number(let value): bytes.appendKey(value)
    case .date(let value): bytes.appendKey(value)
    case .text(let value): bytes.appendKey(Kind.text, value.rawSpan)
    case .bytes(let value): bytes.appendKey(Kind.bytes, value.rawSpan)
    }
    self.bytes = bytes
  }

  /// Whether every document that has this key has the value that it was made from: a text is its own key up to some length,
  /// and dates are rounded.
  public var isExact: Bool {
    switch bytes[0] {
    case Kind.date, Kind.longText, Kind.longBytes: false
    default: true
    }
  }

  /// The key of all texts that begin with the bytes of `prefix`, whose length is one of ``prefixByteCounts``.
  init(prefix: RawSpan) {
    var bytes = [Kind.prefix]
    bytes.append(copying: prefix)
    self.bytes = bytes
  }

  /// The key that finds the texts that begin with `prefix`, and maybe others: that of the longest length that has keys.
  /// Nil for an empty prefix.
  public static func ofTexts(beginningWith prefix: String) -> IndexKey? {
    let utf8 = Array(prefix.utf8)
    guard let length = prefixByteCounts.last(where: { $0 <= utf8.count }) else { return nil }
    return IndexKey(prefix: utf8.rawSpan.slice(0, length))
  }

  /// The key of the value at `offset`, of a missing one without it; nil for an array or object.
  init?(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) {
    var key: [UInt8] = []
    guard try key.appendKey(bytes, offset) else { return nil }
    self.bytes = key
  }
}

/// The bytes of index keys.
extension Array where Element == UInt8 {
  /// Appends the key of the value at `offset` of `bytes`, of a missing one without it. False for an array or object, which
  /// has none.
  fileprivate mutating func appendKey(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    guard let offset else {
      append(IndexKey.Kind.null)
      return true
    }
    switch try bytes.item(at: offset) {
    case .null: append(IndexKey.Kind.null)
    case .bool(let value): append(value ? IndexKey.Kind.true : IndexKey.Kind.false)
    case .integer(let value): appendKey(Number.integer(value))
    case .unsigned(let value): appendKey(Number.unsigned(value))
    case .double(let value): appendKey(Number.double(value))
    case .date(let value): appendKey(value)
    case .text(let range): appendKey(IndexKey.Kind.text, bytes.extracting(range))
    case .bytes(let range): appendKey(IndexKey.Kind.bytes, bytes.extracting(range))
    case .array, .object: return false
    }
    return true
  }

  fileprivate mutating func appendKey(_ number: Number) {
    switch number.canonical {
    // With the sign bit turned round the bytes sort as the integers do.
    case .integer(let value): appendKey(IndexKey.Kind.integer, UInt64(bitPattern: value) ^ 1 << 63)
    case .unsigned(let value): appendKey(IndexKey.Kind.unsigned, value)
    case .double(let value):
      appendKey(IndexKey.Kind.double, value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    }
  }

  fileprivate mutating func appendKey(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
    let clamped: Int64 =
      microseconds.isNaN ? .min : microseconds >= 0x1p63 ? .max : microseconds < -0x1p63 ? .min : Int64(microseconds)
    appendKey(IndexKey.Kind.date, UInt64(bitPattern: clamped) ^ 1 << 63)
  }

  private mutating func appendKey(_ kind: UInt8, _ word: UInt64) {
    append(kind)
    appendBigEndian(word, 8)
  }

  /// Appends the key of a text or byte string; the kind of a long one is the next.
  fileprivate mutating func appendKey(_ kind: UInt8, _ string: RawSpan) {
    if string.byteCount <= IndexKey.inlineByteCount {
      append(kind)
      append(copying: string)
    } else {
      append(kind + 1)
      append(copying: string.slice(0, IndexKey.headByteCount))
      appendBigEndian(KeyHash.of(string, IndexKey.seed), 8)
    }
  }
}

extension DocumentView {
  /// Shows `body` each different key under which an index over `path` finds the document.
  ///
  /// A missing field and `null` give ``IndexKey/null``, an array the keys of its elements, an empty one none, an object
  /// none.
  ///
  /// - Parameters:
  ///   - path: From this value on.
  ///   - withPrefixes: Whether texts give their prefix keys as well.
  ///   - body: Takes one key after the other.
  /// - Complexity: O(heads before the value on each level), with an allocation for each key.
  public func forEachIndexKey(
    at path: FieldPath, withPrefixes: Bool = false, _ body: (IndexKey) throws -> Void
  ) throws {
    var list: [UInt8] = []
    try appendIndexKeys(at: path, withPrefixes: withPrefixes, to: &list)
    var keys = KeyList(list.rawSpan)
    while let key = keys.next() { try body(IndexKey(copying: key)) }
  }

  /// Appends the same keys to `list` in the form of a `KeyList`, each with the bytes of `head` before it.
  ///
  /// - Complexity: as ``forEachIndexKey(at:withPrefixes:_:)``, without an allocation unless `list` grows or an array has
  ///   many elements.
  public func appendIndexKeys(
    at path: FieldPath, withPrefixes: Bool = false, behind head: [UInt8] = [], to list: inout [UInt8]
  ) throws(DocumentError) {
    var visitor = KeyVisitor(list, withPrefixes: withPrefixes, head: head)
    // The visitor has the only reference while it works.
    list = []
    defer { list = visitor.list }
    _ = try bytes.walk(offset, path, flattensLast: true, &visitor)
  }
}

extension IndexKey {
  fileprivate init(copying key: RawSpan) { bytes = key.copied() }
}

private struct KeyVisitor: PathVisitor {
  let withPrefixes: Bool
  let head: [UInt8]
  var list: [UInt8]
  /// Where the keys of this visitor begin.
  private let start: Int
  private var count = 0
  /// The keys, once they are too many to look through.
  private var known: Set<[UInt8]> = []
  /// How many are looked through.
  private static let fewCount = 16

  init(_ list: [UInt8], withPrefixes: Bool, head: [UInt8]) {
    self.list = list
    self.withPrefixes = withPrefixes
    self.head = head
    start = list.count
  }

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    let place = begin()
    guard try list.appendKey(bytes, offset) else {
      list.removeLast(list.count - place)
      return false
    }
    finish(place)
    if withPrefixes, let offset, case .text(let range) = try bytes.item(at: offset) {
      for length in IndexKey.prefixByteCounts where length <= range.count {
        let place = begin()
        list.append(IndexKey.Kind.prefix)
        list.append(copying: bytes.slice(range.lowerBound, length))
        finish(place)
      }
    }
    return false
  }

  /// Begins a key, and tells where its length stands.
  private mutating func begin() -> Int {
    let place = list.count
    list.append(0)
    list.append(contentsOf: head)
    return place
  }

  /// Ends the key that begins at `place`, and takes it back if it is there already.
  private mutating func finish(_ place: Int) {
    list[place] = UInt8(list.count - place - 1)
    if isKnown(place) { list.removeLast(list.count - place) } else { count += 1 }
  }

  private mutating func isKnown(_ place: Int) -> Bool {
    if count == 0 { return false }
    let list = list
    let bytes = list.rawSpan
    let new = bytes.slice(place + 1, list.count - place - 1)
    if count < Self.fewCount { return KeyList.contains(new, in: bytes.slice(start, place - start)) }
    if known.isEmpty {
      var keys = KeyList(bytes.slice(start, place - start))
      while let key = keys.next() { known.insert(key.copied()) }
    }
    return !known.insert(new.copied()).inserted
  }
}
