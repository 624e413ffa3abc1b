import Bytes
import Essentials

/// The key of a value in an index: at most 33 bytes, as `Documentation/Format/Documents.md` specifies.
///
/// Equal values have equal keys. Different values may also have equal keys, so a lookup must compare the document
/// itself.
public struct IndexKey: Hashable, Sendable {
  /// The kind of the value in one byte, followed by its encoding, as the format document specifies.
  public let bytes: [UInt8]

  /// The type of a key: its first byte.
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

  /// The longest text or byte string that is stored in full in its key, in bytes.
  static let inlineByteCount = 32
  /// The number of leading bytes of a longer string that precede its hash.
  static let headByteCount = 24
  /// The seed of the hash. It is constant, so a key is the same in every store.
  static let seed = HashSeed(0, 0)
  /// The lengths in bytes of the prefix keys of texts.
  package static let prefixByteCounts = [1, 2, 4, 8, 16]

  /// The key of `null` and of a missing field.
  public static let null = IndexKey(Kind.null)

  private init(_ bytes: [UInt8]) { self.bytes = bytes }
  private init(_ kind: UInt8) { bytes = [kind] }

  /// Creates the key of a value; `nil` for an array or object.
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

  /// Whether every document with this key has exactly the same value. That is false for long strings, which are hashed,
  /// and for dates, which are rounded.
  public var isExact: Bool {
    switch bytes[0] {
    case Kind.date, Kind.longText, Kind.longBytes: false
    default: true
    }
  }

  /// The value of a stored key; `nil` if values that differ have this key, and for a prefix. A number has the first
  /// form that holds it.
  ///
  /// - Complexity: O(bytes).
  package static func value(ofKey key: RawSpan) -> DocumentValue? {
    guard let kind = key.byteCount == 0 ? nil : key.u8(at: 0) else { return nil }
    func word() -> UInt64? { key.byteCount == 9 ? key.u64(at: 1).byteSwapped : nil }
    switch kind {
    case Kind.null: return .null
    case Kind.false: return .bool(false)
    case Kind.true: return .bool(true)
    case Kind.integer: return word().map { .integer(Int64(bitPattern: $0 ^ 1 << 63)) }
    case Kind.unsigned: return word().map { .unsigned($0) }
    case Kind.double: return word().map { .double(Double(bitPattern: $0)) }
    case Kind.text: return key.string(1..<key.byteCount).map { .text($0) }
    case Kind.bytes: return .bytes(key.slice(1, key.byteCount - 1).copied())
    default: return nil
    }
  }

  /// Whether a stored key is that of a value, not of a text's prefix.
  package static func isOfValue(_ key: RawSpan) -> Bool { key.byteCount > 0 && key.u8(at: 0) != Kind.prefix }

  /// Creates the key of all texts that begin with the bytes of `prefix`, whose length must be in ``prefixByteCounts``.
  init(prefix: RawSpan) {
    var bytes = [Kind.prefix]
    bytes.append(copying: prefix)
    self.bytes = bytes
  }

  /// The key that finds all texts that begin with `prefix`, and possibly others: it contains the longest part of
  /// `prefix` whose length is in ``prefixByteCounts``. `nil` for an empty prefix.
  package static func ofTexts(beginningWith prefix: String) -> IndexKey? {
    let utf8 = Array(prefix.utf8)
    guard let length = prefixByteCounts.last(where: { $0 <= utf8.count }) else { return nil }
    return IndexKey(prefix: utf8.rawSpan.slice(0, length))
  }

  /// Creates the key of an item of `bytes`; `nil` for an array or object.
  init?(_ bytes: RawSpan, _ item: Item) {
    var key: [UInt8] = []
    guard key.appendKey(bytes, item) else { return nil }
    self.bytes = key
  }
}

/// Encoding of index keys.
extension Array where Element == UInt8 {
  /// Appends the key of the value at `offset` of `bytes`, or of a missing value if `offset` is `nil`. Returns `false`
  /// for an array or object, which has no key.
  fileprivate mutating func appendKey(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    appendKey(bytes, try bytes.itemOrNull(at: offset))
  }

  /// Appends the key of an item of `bytes`. Returns `false` for an array or object, which has no key.
  fileprivate mutating func appendKey(_ bytes: RawSpan, _ item: Item) -> Bool {
    switch item {
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
    // With the sign bit inverted, the bytes sort like the integers.
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

  /// Appends the key of a text or byte string. A long string has the next higher kind.
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
  /// Calls `body` with each distinct key of the document in an index on `path`.
  ///
  /// A missing field and `null` have the key ``IndexKey/null``. An array has the keys of its elements. An empty array
  /// and an object have no keys.
  ///
  /// - Parameters:
  ///   - path: The path, relative to this value.
  ///   - withPrefixes: Whether texts also have prefix keys.
  ///   - body: A closure that takes one key.
  /// - Complexity: O(heads before the value on each level), with an allocation for each key.
  public func forEachIndexKey(
    at path: FieldPath, withPrefixes: Bool = false, _ body: (IndexKey) throws -> Void
  ) throws {
    var list: [UInt8] = []
    try appendIndexKeys(at: path, withPrefixes: withPrefixes, to: &list)
    var keys = KeyList(list.rawSpan)
    while let key = keys.next() { try body(IndexKey(copying: key)) }
  }

  /// Appends the same keys to `list` in the format of a `KeyList`, each prefixed with the bytes of `head`.
  ///
  /// - Returns: The number of distinct values of the path that have a key: 1 unless it passes or ends with an array, or
  ///   ends with an object.
  /// - Complexity: The same as ``forEachIndexKey(at:withPrefixes:_:)``, without an allocation unless `list` grows or an
  ///   array has many elements.
  @discardableResult
  package func appendIndexKeys(
    at path: FieldPath, withPrefixes: Bool = false, behind head: [UInt8] = [], to list: inout [UInt8]
  ) throws(DocumentError) -> Int {
    var visitor = KeyVisitor(list, withPrefixes: withPrefixes, head: head)
    // The visitor holds the only reference while it appends, so the array is not copied.
    list = []
    defer { list = visitor.list }
    _ = try bytes.walk(offset, path, flattensLast: true, &visitor)
    return visitor.valueCount
  }
}

extension IndexKey {
  fileprivate init(copying key: RawSpan) { bytes = key.copied() }
}

private struct KeyVisitor: PathVisitor {
  let withPrefixes: Bool
  let head: [UInt8]
  var list: [UInt8]
  /// The offset in `list` of the first key of this visitor.
  private let start: Int
  private var count = 0
  /// The number of distinct keys of values, without those of prefixes.
  private(set) var valueCount = 0
  /// The set of keys, once they are too many for a linear search.
  private var known: Set<[UInt8]> = []
  /// The number of keys up to which a linear search is used.
  private static let fewCount = 16

  init(_ list: [UInt8], withPrefixes: Bool, head: [UInt8]) {
    self.list = list
    self.withPrefixes = withPrefixes
    self.head = head
    start = list.count
  }

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    let start = beginKey()
    guard try list.appendKey(bytes, offset) else {
      list.removeLast(list.count - start)
      return false
    }
    if finishKey(at: start) { valueCount += 1 }
    if withPrefixes, let offset, case .text(let range) = try bytes.item(at: offset) {
      for length in IndexKey.prefixByteCounts where length <= range.count {
        let start = beginKey()
        list.append(IndexKey.Kind.prefix)
        list.append(copying: bytes.slice(range.lowerBound, length))
        _ = finishKey(at: start)
      }
    }
    return false
  }

  /// Begins a key, and returns the offset of its length byte.
  private mutating func beginKey() -> Int {
    let offset = list.count
    list.append(0)
    list.append(contentsOf: head)
    return offset
  }

  /// Finishes the key that begins at `offset`, and removes it if it is a duplicate. Returns whether it is not.
  private mutating func finishKey(at offset: Int) -> Bool {
    list[offset] = UInt8(list.count - offset - 1)
    if isKnown(at: offset) {
      list.removeLast(list.count - offset)
      return false
    }
    count += 1
    return true
  }

  private mutating func isKnown(at offset: Int) -> Bool {
    if count == 0 { return false }
    let list = list
    let bytes = list.rawSpan
    let new = bytes.slice(offset + 1, list.count - offset - 1)
    if count < Self.fewCount { return KeyList.contains(new, in: bytes.slice(start, offset - start)) }
    if known.isEmpty {
      var keys = KeyList(bytes.slice(start, offset - start))
      while let key = keys.next() { known.insert(key.copied()) }
    }
    return !known.insert(new.copied()).inserted
  }
}
