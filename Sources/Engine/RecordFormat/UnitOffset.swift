/// An offset in the file, in units of eight bytes.
///
/// 32 bits address 32 GiB, the maximum size of a log, with only four bytes in an index entry.
public struct UnitOffset: Hashable, Comparable, Sendable {
  /// The number of units from the beginning of the file; 0 is the file header and therefore never an object.
  public let rawValue: UInt32

  /// The size of a unit in bytes.
  @inlinable @inline(__always)
  public static var byteCount: Int { 8 }
  /// The maximum size of a file: 32 GiB.
  @inlinable @inline(__always)
  public static var fileLimit: Int { (Int(UInt32.max) + 1) * byteCount }

  /// Creates an offset from a number of units, as the file stores it.
  @inlinable @inline(__always)
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Creates the offset of the unit at `byteOffset`, which must be a multiple of eight below the file limit.
  @inlinable @inline(__always)
  public init(byteOffset: Int) {
    precondition(byteOffset & 7 == 0, "an object must be aligned to 8 bytes")
    rawValue = UInt32(byteOffset >> 3)
  }

  /// The offset in bytes, always a multiple of eight.
  @inlinable @inline(__always)
  public var byteOffset: Int { Int(rawValue) << 3 }

  /// Whether `a` lies before `b` in the file.
  @inlinable
  public static func < (a: UnitOffset, b: UnitOffset) -> Bool { a.rawValue < b.rawValue }
}
