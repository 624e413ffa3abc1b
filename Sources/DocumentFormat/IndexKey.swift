import Foundation
import RecordFormat

/// What an index finds a document by: at most 33 bytes made from one value, as FORMAT.md gives them.
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

  private init(_ kind: UInt8, _ word: UInt64) {
    var bytes = [kind]
    bytes.reserveCapacity(9)
    bytes.appendBigEndian(word, 8)
    self.bytes = bytes
  }

  /// The key of `value`, or nil for an array or object.
  public init?(_ value: DocumentValue) {
    guard let scalar = Scalar(value) else { return nil }
    self.init(scalar)
  }

  init(_ scalar: Scalar) {
    switch scalar {
    case .null: self = .null
    case .bool(let value): self.init(value ? Kind.true : Kind.false)
    case .number(let value): self.init(value)
    case .date(let value): self.init(value)
    case .text(let value): self.init(Kind.text, value.rawSpan)
    case .bytes(let value): self.init(Kind.bytes, value.rawSpan)
    }
  }

  private init(_ number: Number) {
    switch number.canonical {
    // With the sign bit turned round the bytes sort as the integers do.
    case .integer(let value): self.init(Kind.integer, UInt64(bitPattern: value) ^ 1 << 63)
    case .unsigned(let value): self.init(Kind.unsigned, value)
    case .double(let value): self.init(Kind.double, value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    }
  }

  private init(_ date: Date) {
    let microseconds = (date.timeIntervalSince1970 * 1e6).rounded()
    let clamped: Int64 =
      microseconds.isNaN ? .min : microseconds >= 0x1p63 ? .max : microseconds < -0x1p63 ? .min : Int64(microseconds)
    self.init(Kind.date, UInt64(bitPattern: clamped) ^ 1 << 63)
  }

  /// The key of a text or byte string; the kind of a long one is the next.
  private init(_ kind: UInt8, _ string: RawSpan) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(1 + min(string.byteCount, Self.inlineByteCount))
    if string.byteCount <= Self.inlineByteCount {
      bytes.append(kind)
      bytes.append(copying: string)
    } else {
      bytes.append(kind + 1)
      bytes.append(copying: string.slice(0, Self.headByteCount))
      bytes.appendBigEndian(KeyHash.of(string, Self.seed), 8)
    }
    self.bytes = bytes
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
    guard let offset else {
      self = .null
      return
    }
    switch try bytes.item(at: offset) {
    case .null: self = .null
    case .bool(let value): self.init(value ? Kind.true : Kind.false)
    case .integer(let value): self.init(Number.integer(value))
    case .unsigned(let value): self.init(Number.unsigned(value))
    case .double(let value): self.init(Number.double(value))
    case .date(let value): self.init(value)
    case .text(let range): self.init(Kind.text, bytes.extracting(range))
    case .bytes(let range): self.init(Kind.bytes, bytes.extracting(range))
    case .array, .object: return nil
    }
  }
}

extension DocumentView {
  /// Shows `body` each different key under which an index over `path` finds the document.
  ///
  /// A missing field and `null` give ``IndexKey/null``, an array the keys of its elements, an empty one none, an object
  /// none.
  ///
  /// - Parameter withPrefixes: Whether texts give their prefix keys as well.
  /// - Complexity: O(heads before the value on each level), with an allocation for each key.
  public func forEachIndexKey(
    at path: FieldPath, withPrefixes: Bool = false, _ body: (IndexKey) throws -> Void
  ) throws {
    var visitor = KeyVisitor(withPrefixes: withPrefixes)
    _ = try bytes.walk(offset, path, flattensLast: true, &visitor)
    for key in visitor.keys { try body(key) }
  }
}

private struct KeyVisitor: PathVisitor {
  let withPrefixes: Bool
  var keys: [IndexKey] = []
  /// The same, once they are too many to look through.
  var known: Set<IndexKey> = []

  mutating func visit(_ bytes: RawSpan, _ offset: Int?) throws(DocumentError) -> Bool {
    guard let key = try IndexKey(bytes, offset) else { return false }
    append(key)
    if withPrefixes, let offset, case .text(let range) = try bytes.item(at: offset) {
      for length in IndexKey.prefixByteCounts where length <= range.count {
        append(IndexKey(prefix: bytes.slice(range.lowerBound, length)))
      }
    }
    return false
  }

  private mutating func append(_ key: IndexKey) {
    if keys.count < 16 {
      if !keys.contains(key) { keys.append(key) }
      return
    }
    if known.isEmpty { known = Set(keys) }
    if known.insert(key).inserted { keys.append(key) }
  }
}
