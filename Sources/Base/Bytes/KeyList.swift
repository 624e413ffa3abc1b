/// The keys that a record has in a key space of lists: any number of keys of at most 255 bytes, stored contiguously.
///
///     1 length n · n bytes key, for each
///
/// An invalid list yields the keys before the offset at which it becomes invalid.
package struct KeyList: ~Escapable {
  /// The maximum length of a key in a list in bytes. The length has eight bits.
  package static let maximumKeyLength = Int(UInt8.max)

  private let bytes: RawSpan
  private var offset = 0

  /// Creates an iterator over the keys in `bytes`, which may be invalid.
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan) { self.bytes = bytes }

  /// Returns the next key; `nil` after the last one.
  @_lifetime(copy self)
  package mutating func next() -> RawSpan? {
    guard offset < bytes.byteCount else { return nil }
    let length = Int(bytes.u8(at: offset))
    guard length < bytes.byteCount - offset else { return nil }
    let key = bytes.slice(offset + 1, length)
    offset += 1 + length
    return key
  }

  /// Returns whether `bytes` are completely a valid list.
  package static func isValid(_ bytes: RawSpan) -> Bool { validByteCount(bytes) == bytes.byteCount }

  /// Returns the number of leading bytes that are a valid list.
  package static func validByteCount(_ bytes: RawSpan) -> Int {
    var list = KeyList(bytes)
    while list.next() != nil {}
    return list.offset
  }

  /// Returns the distinct keys of the list in `bytes`.
  package static func distinct(_ bytes: RawSpan) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    var seen: Set<[UInt8]> = []
    var list = KeyList(bytes)
    while let key = list.next() {
      let key = key.copied()
      if seen.insert(key).inserted { keys.append(key) }
    }
    return keys
  }

  /// Returns whether the list in `bytes` contains a key more than once.
  package static func hasRepeatedKeys(_ bytes: RawSpan) -> Bool {
    var count = 0
    var list = KeyList(bytes)
    while list.next() != nil { count += 1 }
    return distinct(bytes).count < count
  }

  /// Returns whether the list in `bytes` contains `key`.
  package static func contains(_ key: RawSpan, in bytes: RawSpan) -> Bool {
    var list = KeyList(bytes)
    while let next = list.next() {
      if next.hasSameBytes(as: key) { return true }
    }
    return false
  }
}
