/// Little-endian stores into a buffer under construction.
extension [UInt8] {
  /// Stores an integer over four existing bytes.
  @inlinable @inline(__always)
  public mutating func store(_ number: UInt32, at offset: Int) {
    self[offset] = UInt8(truncatingIfNeeded: number)
    self[offset + 1] = UInt8(truncatingIfNeeded: number >> 8)
    self[offset + 2] = UInt8(truncatingIfNeeded: number >> 16)
    self[offset + 3] = UInt8(truncatingIfNeeded: number >> 24)
  }

  /// Appends an integer as four bytes, little-endian.
  @inlinable
  public mutating func put(_ number: UInt32) {
    for byte in 0..<4 { append(UInt8(truncatingIfNeeded: number >> UInt32(8 * byte))) }
  }

  /// Appends an integer as eight bytes, little-endian.
  @inlinable
  public mutating func put(_ number: UInt64) {
    for byte in 0..<8 { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * byte))) }
  }

  /// Appends the bytes of a span.
  @inlinable
  public mutating func append(_ span: RawSpan) {
    // The buffer pointer is used only inside the closure.
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
