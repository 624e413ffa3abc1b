/// The keys that a record has in a key space of lists: any number of them, each at most 255 bytes, one behind the other.
///
///     1 length n · n bytes key, for each
///
/// Bytes that are no list give the keys before the place where they stop being one.
public struct KeyList: ~Escapable {
  /// Bytes of the longest key in a list: its length has eight bits.
  public static let maximumKeyLength = Int(UInt8.max)

  private let bytes: RawSpan
  private var offset = 0

  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { self.bytes = bytes }

  /// The next key; `nil` behind the last one.
  @_lifetime(copy self)
  public mutating func next() -> RawSpan? {
    guard offset < bytes.byteCount else { return nil }
    let length = Int(bytes.u8(at: offset))
    guard length < bytes.byteCount - offset else { return nil }
    let key = bytes.slice(offset + 1, length)
    offset += 1 + length
    return key
  }

  /// Whether `bytes` are a list from the first to the last one.
  public static func isValid(_ bytes: RawSpan) -> Bool { validByteCount(bytes) == bytes.byteCount }

  /// How many of `bytes` are a list: those up to the place where they stop being one.
  public static func validByteCount(_ bytes: RawSpan) -> Int {
    var list = KeyList(bytes)
    while list.next() != nil {}
    return list.offset
  }

  /// The keys of the list of `bytes`, each once.
  public static func distinct(_ bytes: RawSpan) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var seen: Set<[UInt8]> = []
    var list = KeyList(bytes)
    while let key = list.next() {
      let key = key.copied()
      if seen.insert(key).inserted { keys.append(key) }
    }
    return keys
  }

  /// Whether a key is in the list of `bytes` more than once.
  public static func hasRepeatedKeys(_ bytes: RawSpan) -> Bool {
    var count = 0
    var list = KeyList(bytes)
    while list.next() != nil { count += 1 }
    return distinct(bytes).count < count
  }

  /// Whether `key` is in the list of `bytes`.
  public static func contains(_ key: RawSpan, in bytes: RawSpan) -> Bool {
    var list = KeyList(bytes)
    while let next = list.next() {
      if next.hasSameBytes(as: key) { return true }
    }
    return false
  }
}
