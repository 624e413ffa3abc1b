/// A place in the file, counted in units of eight bytes.
///
/// 32 bits reach 32 GiB, which is the largest a log can grow; an index entry spends four bytes on it.
public struct UnitOffset: Hashable, Comparable, Sendable {
  public let rawValue: UInt32

  /// Bytes in a unit.
  @inlinable @inline(__always)
  public static var byteCount: Int { 8 }
  /// One past the last byte that an offset reaches: 32 GiB.
  @inlinable @inline(__always)
  public static var fileLimit: Int { (Int(UInt32.max) + 1) * byteCount }

  @inlinable @inline(__always)
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// The unit at `byteOffset`, which has to be a multiple of eight below the file limit.
  @inlinable @inline(__always)
  public init(byteOffset: Int) {
    precondition(byteOffset & 7 == 0, "an object stands on an 8-byte boundary")
    rawValue = UInt32(byteOffset >> 3)
  }

  @inlinable @inline(__always)
  public var byteOffset: Int { Int(rawValue) << 3 }

  @inlinable
  public static func < (a: UnitOffset, b: UnitOffset) -> Bool { a.rawValue < b.rawValue }
}
