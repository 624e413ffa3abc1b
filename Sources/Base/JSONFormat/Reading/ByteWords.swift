// The unsafe operations of the JSON module: loads of eight bytes and block copies. Everything else is safe Swift.

extension Span where Element == UInt8 {
  /// The eight bytes at `offset`, the first one least significant; traps unless all of them are inside the span.
  @inlinable @inline(__always)
  package func word(at offset: Int) -> UInt64 {
    // `bytes` has no padding to expose, because its elements are bytes.
    let raw = unsafe bytes
    // The call checks the bounds, and every pattern of 64 bits is a UInt64.
    return UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

extension Array where Element == UInt8 {
  /// Copies `source` over the elements from `offset`; traps unless they all exist.
  @inlinable
  package mutating func overwrite(from offset: Int, with source: Span<UInt8>) {
    guard source.count > 0 else { return }
    precondition(offset >= 0 && source.count <= count - offset, "the copy must fit into the array")
    unsafe withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { source in
        // The precondition has checked the extent; an exclusively borrowed array overlaps no span.
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: source)
      }
    }
  }

  /// Appends all bytes of `source` in one copy.
  @inlinable
  package mutating func append(copying source: Span<UInt8>) {
    // The buffer is read before the call ends, while the span keeps it alive.
    unsafe source.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Stores the eight bytes of `word` from `offset`, the least significant first; traps unless those elements exist.
  @inlinable @inline(__always)
  package mutating func store(_ word: UInt64, at offset: Int) {
    precondition(offset >= 0 && offset <= count - 8, "the word must fit into the array")
    unsafe withUnsafeMutableBytes { bytes in
      // The precondition has checked the extent.
      unsafe bytes.storeBytes(of: word.littleEndian, toByteOffset: offset, as: UInt64.self)
    }
  }

  /// Moves the elements of `range` to the front; traps unless they all exist.
  @inlinable
  package mutating func moveToFront(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "the range must be inside the array")
    unsafe withUnsafeMutableBytes { bytes in
      // Source and target are inside the array, and memmove allows them to overlap.
      unsafe bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }
}

/// Eight bytes that are tested together.
///
/// The tests are from *Bit Twiddling Hacks* (Sean Anderson), "Determine if a word has a byte less than n". They may
/// also mark bytes above a true match, because the subtraction borrows; the lowest mark is always a true match.
@usableFromInline
enum ByteWord {
  @usableFromInline static let highBits: UInt64 = 0x8080_8080_8080_8080
  @usableFromInline static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Marks the bytes that need special handling in a string: quote, backslash, control, non-ASCII.
  @inlinable @inline(__always)
  static func stringStops(_ word: UInt64) -> UInt64 {
    let quotes = (word ^ (ones &* 0x22)) &- ones
    let backslashes = (word ^ (ones &* 0x5C)) &- ones
    let controls = word &- (ones &* 0x20)
    return (quotes | backslashes | controls | word) & highBits
  }
}
