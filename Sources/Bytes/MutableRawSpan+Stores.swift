/// Little-endian stores into bytes that stand there already: the counterpart of the loads of `RawSpan`.
extension MutableRawSpan {
  /// Stores a number at `offset`. Traps beyond the end, as every store here does.
  @inlinable @inline(__always)
  public mutating func put<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }

  /// Copies `bytes` over those from `offset` on.
  @inlinable @inline(__always)
  public mutating func put(_ bytes: RawSpan, at offset: Int) {
    let count = bytes.byteCount
    precondition(offset >= 0 && count <= byteCount &- offset, "the copy must fit")
    if count == 0 { return }
    unsafe withUnsafeMutableBytes { target in
      unsafe bytes.withUnsafeBytes { source in
        // The precondition has checked the extent, and bytes that are changed here alone overlap none that are lent.
        unsafe target.baseAddress.unsafelyUnwrapped.advanced(by: offset).copyMemory(
          from: source.baseAddress.unsafelyUnwrapped, byteCount: count)
      }
    }
  }
}

extension [UInt8] {
  /// Lends the `count` bytes from `offset` on to `body`, to be changed.
  @inlinable @inline(__always)
  public mutating func change(_ offset: Int, _ count: Int, _ body: (inout MutableRawSpan) -> Void) {
    var span = mutableSpan
    // A byte has no padding, and every pattern of eight bits is one.
    var bytes = unsafe span.mutableBytes
    var part = bytes._mutatingExtracting(offset..<(offset &+ count))
    body(&part)
  }
}
