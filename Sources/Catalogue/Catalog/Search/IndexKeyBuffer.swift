import Bytes

/// The key of an ordered index under construction. Only as many bytes are kept as the index takes.
///
/// It is a buffer of fixed size, as keys are short, and many are made of every product.
struct IndexKeyBuffer {
  /// The maximum length of a key in bytes.
  private static let capacity = 255

  private var bytes = [UInt8](repeating: 0, count: Self.capacity)
  private var byteCount = 0

  var isEmpty: Bool { byteCount == 0 }

  /// The key.
  var rawSpan: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { bytes.rawSpan.slice(0, byteCount) }
  }

  @inline(__always)
  mutating func removeAll() { byteCount = 0 }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    if byteCount == Self.capacity { return }
    bytes[byteCount] = byte
    byteCount &+= 1
  }

  /// Appends the bytes of a number, the lowest first, up to the first one that is zero.
  @inline(__always)
  mutating func append(packed bytes: UInt64) {
    var rest = bytes
    while rest != 0 {
      append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  @inline(__always)
  mutating func append(_ part: RawSpan) {
    let count = min(part.byteCount, Self.capacity &- byteCount)
    bytes.put(part.slice(0, count), at: byteCount)
    byteCount &+= count
  }
}
