/// Little-endian stores into existing bytes: the counterpart of the loads of `RawSpan`.
extension MutableRawSpan {
  /// Stores an integer at `offset`. Traps past the end, as does every store here.
  @inlinable @inline(__always)
  public mutating func put<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }

  /// Copies `bytes` over the bytes from `offset` on.
  @inlinable @inline(__always)
  public mutating func put(_ bytes: RawSpan, at offset: Int) {
    let count = bytes.byteCount
    precondition(offset >= 0 && count <= byteCount &- offset, "the copy must fit")
    if count == 0 { return }
    unsafe withUnsafeMutableBytes { target in
      unsafe bytes.withUnsafeBytes { source in
        // The precondition has checked the bounds, and exclusive access means that the source does not overlap these
        // bytes.
        unsafe target.baseAddress.unsafelyUnwrapped.advanced(by: offset).copyMemory(
          from: source.baseAddress.unsafelyUnwrapped, byteCount: count)
      }
    }
  }
}

extension [UInt8] {
  /// Lends the `count` bytes from `offset` on to `body` for modification.
  @inlinable @inline(__always)
  public mutating func change(_ offset: Int, _ count: Int, _ body: (inout MutableRawSpan) -> Void) {
    var span = mutableSpan
    // A byte has no padding, and every bit pattern is a valid byte.
    var bytes = unsafe span.mutableBytes
    var part = bytes._mutatingExtracting(offset..<(offset &+ count))
    body(&part)
  }
}
