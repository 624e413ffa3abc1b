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
    // The bytes are copied within the closure.
    unsafe Swift.withUnsafeBytes(of: number.littleEndian) { unsafe append(contentsOf: $0) }
  }

  /// Copies `bytes` over the bytes from `offset` on; traps if they do not fit. For few bytes this is faster than a call
  /// that copies memory.
  @inlinable @inline(__always)
  public mutating func put(_ bytes: RawSpan, at offset: Int) {
    let count = bytes.byteCount
    precondition(offset >= 0 && count <= self.count &- offset, "the copy must fit")
    // The precondition has checked the bounds. Words that overlap cover any number of bytes from their size on.
    unsafe withUnsafeMutableBytes { target in
      if count >= 8 {
        var next = 0
        while next < count &- 8 {
          let word = unsafe bytes.u64(unchecked: next).littleEndian
          unsafe target.storeBytes(of: word, toByteOffset: offset &+ next, as: UInt64.self)
          next &+= 8
        }
        let word = unsafe bytes.u64(unchecked: count &- 8).littleEndian
        unsafe target.storeBytes(of: word, toByteOffset: offset &+ count &- 8, as: UInt64.self)
      } else if count >= 4 {
        let (first, last) = unsafe (bytes.u32(unchecked: 0), bytes.u32(unchecked: count &- 4))
        unsafe target.storeBytes(of: first.littleEndian, toByteOffset: offset, as: UInt32.self)
        unsafe target.storeBytes(of: last.littleEndian, toByteOffset: offset &+ count &- 4, as: UInt32.self)
      } else {
        for next in 0..<count { unsafe target[offset &+ next] = bytes.u8(unchecked: next) }
      }
    }
  }

  /// Appends the bytes of a span.
  @inlinable
  public mutating func append(_ span: RawSpan) {
    // The buffer pointer is used only inside the closure.
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }
}
