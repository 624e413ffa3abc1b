/// The eight bytes at the head of every object: its checksum, its length and what it is.
///
///     0 crc of bytes 4… salted with the unit offset · 4 length in bits 0–23, kind in bits 24–31
public enum ObjectHeader {
  @inlinable @inline(__always)
  public static var byteCount: Int { 8 }
  /// The longest object: its length has 24 bits.
  @inlinable @inline(__always)
  public static var maximumLength: Int { 1 << 24 - 1 }

  /// Length and kind in the word at offset 4.
  @inlinable @inline(__always)
  public static func length(_ word: UInt32) -> Int { Int(word & 0xFF_FFFF) }

  @inlinable @inline(__always)
  public static func kind(_ word: UInt32) -> ObjectKind { ObjectKind(rawValue: UInt8(word >> 24)) }

  /// `length` rounded up to where the next object may begin.
  @inlinable @inline(__always)
  public static func padded(_ length: Int) -> Int { (length + 7) & ~7 }
}

/// What an object is: the number of a table for records, or one of the engine's own kinds.
public struct ObjectKind: RawRepresentable, Equatable, Sendable {
  public let rawValue: UInt8

  @inlinable @inline(__always)
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  @inlinable @inline(__always)
  public static var sharedString: ObjectKind { ObjectKind(rawValue: 240) }
  @inlinable @inline(__always)
  public static var postingList: ObjectKind { ObjectKind(rawValue: 241) }
  @inlinable @inline(__always)
  public static var tombstones: ObjectKind { ObjectKind(rawValue: 242) }
  /// Tables have smaller numbers.
  @inlinable @inline(__always)
  public static var tableLimit: Int { 240 }

  /// The table whose record this is, if it is one.
  @inlinable @inline(__always)
  public var table: Int? { rawValue < 240 ? Int(rawValue) : nil }
}
