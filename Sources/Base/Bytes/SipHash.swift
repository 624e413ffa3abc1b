/// SipHash-1-3: a hash that reveals nothing of a key to those who do not know the secret. Source: Aumasson and Bernstein,
/// "SipHash: a fast short-input PRF" (2012), with one round for each word and three at the end, as in Swift's `Hasher`.
public enum SipHash {
  /// The 16 secret bytes, as two little-endian words.
  public struct Key: Equatable, Sendable, BitwiseCopyable {
    @usableFromInline
    let first: UInt64
    @usableFromInline
    let second: UInt64

    /// Creates a key from its two words.
    public init(_ first: UInt64, _ second: UInt64) {
      self.first = first
      self.second = second
    }
  }

  /// Returns the hash of `bytes`.
  ///
  /// - Complexity: One round for each 8 bytes, and four more.
  @inline(never)
  public static func of(_ bytes: RawSpan, _ key: Key) -> UInt64 {
    var state = State(key)
    let count = bytes.byteCount
    var offset = 0
    while count &- offset >= 8 {
      // In bounds, as just compared.
      state.add(unsafe bytes.u64(unchecked: offset))
      offset &+= 8
    }
    var last = UInt64(truncatingIfNeeded: count) &<< 56
    let rest = count &- offset
    // Each load ends at or before `count`; bytes that are loaded twice are the same both times.
    if rest == 0 {
    } else if count >= 8 {
      last |= unsafe bytes.u64(unchecked: count &- 8) &>> UInt64(64 &- 8 &* rest)
    } else if rest >= 4 {
      last |= unsafe UInt64(bytes.u32(unchecked: 0))
      last |= unsafe UInt64(bytes.u32(unchecked: rest &- 4)) &<< UInt64(8 &* (rest &- 4))
    } else {
      last |= UInt64(bytes.u8(at: 0)) | UInt64(bytes.u8(at: rest / 2)) &<< UInt64(8 &* (rest / 2))
      last |= UInt64(bytes.u8(at: rest &- 1)) &<< UInt64(8 &* (rest &- 1))
    }
    state.add(last)
    return state.finish()
  }

  private struct State {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64

    init(_ key: Key) {
      v0 = key.first ^ 0x736f_6d65_7073_6575
      v1 = key.second ^ 0x646f_7261_6e64_6f6d
      v2 = key.first ^ 0x6c79_6765_6e65_7261
      v3 = key.second ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func add(_ word: UInt64) {
      v3 ^= word
      round()
      v0 ^= word
    }

    @inline(__always)
    mutating func finish() -> UInt64 {
      v2 ^= 0xff
      for _ in 0..<3 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func round() {
      v0 &+= v1
      v1 = rotated(v1, 13) ^ v0
      v0 = rotated(v0, 32)
      v2 &+= v3
      v3 = rotated(v3, 16) ^ v2
      v0 &+= v3
      v3 = rotated(v3, 21) ^ v0
      v2 &+= v1
      v1 = rotated(v1, 17) ^ v2
      v2 = rotated(v2, 32)
    }

    @inline(__always)
    private func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 { word &<< count | word &>> (64 &- count) }
  }
}
