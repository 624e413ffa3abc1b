/// The eight bytes at the head of every object: its checksum, its length and what it is.
///
///     0 crc of bytes 4… salted with the unit offset · 4 length in bits 0–23, kind in bits 24–31
package enum ObjectHeader {
  package static let byteCount = 8
  /// The longest object: its length has 24 bits.
  package static let maximumLength = 1 << 24 - 1

  /// Length and kind in the word at offset 4.
  @inlinable @inline(__always)
  package static func length(_ word: UInt32) -> Int { Int(word & 0xFF_FFFF) }

  @inlinable @inline(__always)
  package static func kind(_ word: UInt32) -> ObjectKind { ObjectKind(rawValue: UInt8(word >> 24)) }

  /// `length` rounded up to where the next object may begin.
  @inlinable @inline(__always)
  package static func padded(_ length: Int) -> Int { (length + 7) & ~7 }
}

/// What an object is: the number of a table for records, or one of the engine's own kinds.
package struct ObjectKind: RawRepresentable, Equatable, Sendable {
  package let rawValue: UInt8

  @inlinable @inline(__always)
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let sharedString = ObjectKind(rawValue: 240)
  package static let postingList = ObjectKind(rawValue: 241)
  package static let tombstones = ObjectKind(rawValue: 242)
  /// Tables have smaller numbers.
  package static let tableLimit = 240

  /// The table whose record this is, if it is one.
  @inlinable @inline(__always)
  package var table: Int? { rawValue < 240 ? Int(rawValue) : nil }
}
