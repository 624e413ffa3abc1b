/// The first eight bytes of every object: its checksum, its length and its kind.
///
///     0 crc of bytes 4… salted with the unit offset · 4 length in bits 0–23, kind in bits 24–31
public enum ObjectHeader {
  /// The size of the header in bytes, which the length of an object includes.
  @inlinable @inline(__always)
  public static var byteCount: Int { 8 }
  /// The maximum length of an object. The length has 24 bits.
  @inlinable @inline(__always)
  public static var maximumLength: Int { 1 << 24 - 1 }

  /// Returns the length in the word at offset 4.
  @inlinable @inline(__always)
  public static func length(_ word: UInt32) -> Int { Int(word & 0xFF_FFFF) }

  /// Returns the kind in the word at offset 4, which may be one that no writer uses.
  @inlinable @inline(__always)
  public static func kind(_ word: UInt32) -> ObjectKind { ObjectKind(rawValue: UInt8(word >> 24)) }

  /// Returns `length` rounded up to the alignment of objects.
  @inlinable @inline(__always)
  public static func padded(_ length: Int) -> Int { (length + 7) & ~7 }
}

/// The kind of an object: the index of a table for records, or one of the engine's own kinds.
public struct ObjectKind: RawRepresentable, Equatable, Sendable {
  /// The byte in the file: a table's index below 240, or one of the engine's kinds.
  public let rawValue: UInt8

  /// Creates a kind from the byte in the file. Every value is accepted, including unknown ones.
  @inlinable @inline(__always)
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A text that is stored once and named by any number of records.
  @inlinable @inline(__always)
  public static var sharedString: ObjectKind { ObjectKind(rawValue: 240) }
  /// The list of rows that share one key.
  @inlinable @inline(__always)
  public static var postingList: ObjectKind { ObjectKind(rawValue: 241) }
  /// The list of rows that a commit declares dead.
  @inlinable @inline(__always)
  public static var tombstones: ObjectKind { ObjectKind(rawValue: 242) }
  /// The number of possible tables. The kinds of records are less than this.
  @inlinable @inline(__always)
  public static var tableLimit: Int { 240 }

  /// The index of the record's table; `nil` if the object is not a record.
  @inlinable @inline(__always)
  public var table: Int? { rawValue < 240 ? Int(rawValue) : nil }
}
