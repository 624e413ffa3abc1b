/// Little-endian loads at any byte offset: the only code that converts bytes to integers.
extension RawSpan {
  /// Returns the byte at `offset`. Traps past the end, as does every load here. Callers check lengths first.
  @inlinable @inline(__always)
  public func u8(at offset: Int) -> UInt8 {
    // Every bit pattern is a valid integer, and the span checks the bounds.
    unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
  }

  /// Returns the two bytes at `offset` as a little-endian integer. Traps past the end.
  @inlinable @inline(__always)
  public func u16(at offset: Int) -> UInt16 {
    // As above.
    UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  /// Returns the four bytes at `offset` as a little-endian integer. Traps past the end.
  @inlinable @inline(__always)
  public func u32(at offset: Int) -> UInt32 {
    // As above.
    UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// Returns the eight bytes at `offset` as a little-endian integer. Traps past the end.
  @inlinable @inline(__always)
  public func u64(at offset: Int) -> UInt64 {
    // As above.
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  // The same loads without a check, for hot paths. Each caller states who checked the bounds.

  /// Returns the byte at `offset` without a bounds check. The caller has checked that the span contains it.
  @unsafe @inlinable @inline(__always)
  public func u8(unchecked offset: Int) -> UInt8 {
    // Every bit pattern is a valid integer, and the caller checked the bounds.
    unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Returns two bytes as a little-endian integer, without a bounds check. The caller has checked that the span
  /// contains them.
  @unsafe @inlinable @inline(__always)
  public func u16(unchecked offset: Int) -> UInt16 {
    // As above.
    UInt16(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
  }

  /// Returns four bytes as a little-endian integer, without a bounds check. The caller has checked that the span
  /// contains them.
  @unsafe @inlinable @inline(__always)
  public func u32(unchecked offset: Int) -> UInt32 {
    // As above.
    UInt32(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
  }

  /// Returns eight bytes as a little-endian integer, without a bounds check. The caller has checked that the span
  /// contains them.
  @unsafe @inlinable @inline(__always)
  public func u64(unchecked offset: Int) -> UInt64 {
    // As above.
    UInt64(littleEndian: unsafe unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }

  /// Returns the `count` bytes from `offset` on.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public func slice(_ offset: Int, _ count: Int) -> RawSpan {
    extracting(offset..<(offset &+ count))
  }

  /// Returns whether every byte from `start` to the end is zero.
  package func isZero(from start: Int) -> Bool {
    var offset = start
    while offset + 8 <= byteCount {
      if u64(at: offset) != 0 { return false }
      offset += 8
    }
    while offset < byteCount {
      if u8(at: offset) != 0 { return false }
      offset += 1
    }
    return true
  }

  /// Whether all bytes are ASCII: no byte has its high bit set.
  @inlinable
  public var isASCII: Bool {
    let count = byteCount
    var offset = 0
    while offset &+ 8 <= count {
      // The next eight bytes are in bounds, as the condition shows.
      if unsafe u64(unchecked: offset) & 0x8080_8080_8080_8080 != 0 { return false }
      offset &+= 8
    }
    while offset < count {
      if u8(at: offset) >= 0x80 { return false }
      offset &+= 1
    }
    return true
  }

  /// Returns whether both spans contain the same bytes.
  @inlinable @inline(__always)
  public func hasSameBytes(as other: RawSpan) -> Bool {
    let count = byteCount
    if count != other.byteCount { return false }
    if count < 8 { return hasSameFewBytes(as: other) }
    // Both have the same number of bytes, at least eight. The last eight, which may overlap bytes compared later, are
    // compared first: most different keys differ in their ends.
    if unsafe u64(unchecked: count &- 8) != other.u64(unchecked: count &- 8) { return false }
    var offset = 0
    while offset < count &- 8 {
      if unsafe u64(unchecked: offset) != other.u64(unchecked: offset) { return false }
      offset &+= 8
    }
    return true
  }

  /// Returns the same for spans of equal length below eight.
  @inlinable @inline(__always)
  func hasSameFewBytes(as other: RawSpan) -> Bool {
    let count = byteCount
    // Two words that overlap contain four to seven bytes; the first, the middle and the last of up to three are all.
    if count >= 4 {
      return unsafe u32(unchecked: 0) == other.u32(unchecked: 0)
        && u32(unchecked: count &- 4) == other.u32(unchecked: count &- 4)
    }
    if count == 0 { return true }
    return unsafe u8(unchecked: 0) == other.u8(unchecked: 0)
      && u8(unchecked: count &>> 1) == other.u8(unchecked: count &>> 1)
      && u8(unchecked: count &- 1) == other.u8(unchecked: count &- 1)
  }

  /// Compares the bytes in order, as unsigned numbers: negative if these precede `other`, 0 if they are equal. A span
  /// precedes longer ones that begin with it.
  @inlinable @inline(__always)
  public func compare(to other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    var offset = 0
    while offset &+ 8 <= common {
      // The next eight bytes of both are in bounds, as the condition shows.
      let (a, b) = unsafe (u64(unchecked: offset), other.u64(unchecked: offset))
      if a != b { return a.byteSwapped < b.byteSwapped ? -1 : 1 }
      offset &+= 8
    }
    while offset < common {
      let (a, b) = (u8(at: offset), other.u8(at: offset))
      if a != b { return a < b ? -1 : 1 }
      offset &+= 1
    }
    return byteCount == other.byteCount ? 0 : byteCount < other.byteCount ? -1 : 1
  }

  /// Returns the eight bytes from `offset` on as a big-endian number, padded with zeros after the end. Spans for which
  /// this number differs are in the order of these numbers.
  ///
  /// - Precondition: `offset` is not negative. It may be past the end.
  @inlinable @inline(__always)
  public func bigEndianHead(at offset: Int) -> UInt64 {
    if byteCount &- offset >= 8 { return u64(at: offset).byteSwapped }
    var head: UInt64 = 0
    var shift: UInt64 = 56
    var next = offset
    while next < byteCount {
      head |= UInt64(u8(at: next)) << shift
      shift &-= 8
      next &+= 1
    }
    return head
  }

  /// Returns the number of bytes with which both spans begin.
  @inlinable
  public func commonPrefixByteCount(with other: RawSpan) -> Int {
    let common = min(byteCount, other.byteCount)
    var offset = 0
    while offset &+ 8 <= common {
      // The next eight bytes of both are in bounds, as the condition shows.
      let difference = unsafe u64(unchecked: offset) ^ other.u64(unchecked: offset)
      if difference != 0 { return offset &+ difference.trailingZeroBitCount / 8 }
      offset &+= 8
    }
    while offset < common, u8(at: offset) == other.u8(at: offset) { offset &+= 1 }
    return offset
  }

  /// Returns whether the bytes begin with those of `prefix`.
  @inlinable
  public func begins(with prefix: RawSpan) -> Bool {
    byteCount >= prefix.byteCount && slice(0, prefix.byteCount).hasSameBytes(as: prefix)
  }

  /// Returns a copy of the bytes.
  package func copied() -> [UInt8] {
    let count = byteCount
    // All empty arrays share one object, whose reference count the initializer would write to.
    if count == 0 { return [] }
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      // The buffer has a capacity of `count` bytes, and `self` contains that many.
      unsafe withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(buffer).copyMemory(from: source)
      }
      initialized = count
    }
  }
}

extension Array where Element == UInt8 {
  /// The bytes of the array as a raw span.
  @inlinable
  public var rawSpan: RawSpan {
    @_lifetime(borrow self)
    get { unsafe span.bytes }
  }
}

extension Span where Element == UInt8 {
  /// The bytes of the span as a raw span.
  @inlinable
  public var rawSpan: RawSpan {
    // A byte has no padding whose contents could leak.
    @_lifetime(copy self)
    get { unsafe bytes }
  }
}
