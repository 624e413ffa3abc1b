/// A sequential reader of little-endian fields. It never reads past the end: if the input is too short, the result is
/// `nil`, not a trap.
package struct ByteReader: ~Escapable {
  private let span: RawSpan
  package private(set) var offset = 0

  @_lifetime(copy span)
  package init(_ span: RawSpan) { self.span = span }

  /// The number of bytes that are not yet read.
  package var remaining: Int { span.byteCount - offset }

  /// The bytes that are not yet read.
  package var rest: RawSpan {
    @_lifetime(copy self)
    get { span.slice(offset, remaining) }
  }

  /// Passes over bytes that are left; traps if there are fewer.
  package mutating func skip(_ count: Int) {
    precondition(count >= 0 && count <= remaining, "only bytes that are left can be passed over")
    offset += count
  }

  package mutating func u8() -> UInt8? {
    guard remaining >= 1 else { return nil }
    defer { offset += 1 }
    return span.u8(at: offset)
  }

  package mutating func u16() -> UInt16? {
    guard remaining >= 2 else { return nil }
    defer { offset += 2 }
    return span.u16(at: offset)
  }

  package mutating func u32() -> UInt32? {
    guard remaining >= 4 else { return nil }
    defer { offset += 4 }
    return span.u32(at: offset)
  }

  package mutating func u64() -> UInt64? {
    guard remaining >= 8 else { return nil }
    defer { offset += 8 }
    return span.u64(at: offset)
  }

  package mutating func bytes(_ count: Int) -> [UInt8]? {
    guard count >= 0, remaining >= count else { return nil }
    defer { offset += count }
    return span.slice(offset, count).copied()
  }

  /// Reads a text of `count` bytes; returns `nil` if they are not UTF-8.
  package mutating func text(_ count: Int) -> String? {
    guard let bytes = bytes(count) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
