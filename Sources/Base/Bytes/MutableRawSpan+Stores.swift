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

  /// Copies `count` bytes from `start` on to `target`, in whole words: up to 31 more bytes after the copy may change.
  /// Traps if these are not there. For few bytes this is faster than a call that copies memory, and it does not branch
  /// on their number as long as that is at most sixteen.
  @inlinable @inline(__always)
  public mutating func copyWords(_ count: Int, from start: Int, to target: Int) {
    precondition(
      start >= 0 && count >= 0 && start &+ count <= target && target <= byteCount &- 32 &- count, "the copy must fit")
    unsafe withUnsafeMutableBytes { bytes in
      var next = 0
      repeat {
        // In bounds, as just checked. Bytes that a later step reads may have changed only after the last one needed.
        for word in 0..<2 {
          let offset = next &+ 8 &* word
          let value = unsafe bytes.loadUnaligned(fromByteOffset: start &+ offset, as: UInt64.self)
          unsafe bytes.storeBytes(of: value, toByteOffset: target &+ offset, as: UInt64.self)
        }
        next &+= 16
      } while next < count
    }
  }

  /// Copies `count` bytes of `source` from `start` on to `target`, in whole words where `source` is long enough: up to
  /// 31 more bytes after the copy may change. Traps if these are not there.
  @inlinable @inline(__always)
  public mutating func putWords(_ source: RawSpan, _ start: Int, _ count: Int, at target: Int) {
    precondition(
      start >= 0 && count >= 0 && start <= source.byteCount &- count && target >= 0
        && target <= byteCount &- 32 &- count, "the copy must fit")
    if start &+ count &+ 32 > source.byteCount {
      put(source.slice(start, count), at: target)
      return
    }
    unsafe withUnsafeMutableBytes { bytes in
      var next = 0
      repeat {
        // In bounds of both, as just checked.
        for word in 0..<3 {
          let offset = next &+ 8 &* word
          let value = unsafe source.u64(unchecked: start &+ offset).littleEndian
          unsafe bytes.storeBytes(of: value, toByteOffset: target &+ offset, as: UInt64.self)
        }
        next &+= 24
      } while next < count
    }
  }
}

extension [UInt8] {
  /// Copies bytes as ``MutableRawSpan/putWords(_:_:_:at:)`` does.
  @inlinable @inline(__always)
  public mutating func putWords(_ source: RawSpan, _ start: Int, _ count: Int, at target: Int) {
    var span = mutableSpan
    // A byte has no padding, and every bit pattern is a valid byte.
    var bytes = unsafe span.mutableBytes
    bytes.putWords(source, start, count, at: target)
  }

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
