/// The seed of a file's hash function: two random words in its header. With an unknown seed, an attacker who sends keys
/// cannot construct collisions.
public struct HashSeed: Equatable, Sendable {
  @usableFromInline
  let first: UInt64
  @usableFromInline
  let second: UInt64
  /// The key of the hash of keys in a sealed file; `nil` in a clear one.
  @usableFromInline
  let secret: SipHash.Key?

  /// Creates a seed from the two words of a file header, in the order in which the file stores them. In a sealed file,
  /// `secret` is the key of the hash of its keys, which is not stored in it.
  public init(_ first: UInt64, _ second: UInt64, secret: SipHash.Key? = nil) {
    self.first = first
    self.second = second
    self.secret = secret
  }

  /// The two words, in the order in which the file header stores them.
  public var words: (UInt64, UInt64) { (first, second) }
}

/// A 64-bit hash of keys: a multiply-and-fold hash of the wyhash and rapidhash family, as specified in FORMAT.md.
///
/// One multiplication would be enough for keys of up to 16 bytes; the second one spreads the seed over short keys.
public enum KeyHash {
  @usableFromInline
  static let c0: UInt64 = 0x9E37_79B9_7F4A_7C15
  @usableFromInline
  static let c1: UInt64 = 0xD6E8_FEB8_6659_FD93

  /// Returns the exclusive-or of the two halves of the 128-bit product.
  @inlinable @inline(__always)
  static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }

  /// Returns the hash of `key`.
  ///
  /// - Complexity: One multiplication per 16 bytes, and three more.
  @inlinable @inline(__always)
  public static func of(_ key: RawSpan, _ seed: HashSeed) -> UInt64 {
    if let secret = seed.secret { return SipHash.of(key, secret) }
    return ofClear(key, seed)
  }

  /// Returns the hash of `key` under a seed without a secret.
  @inlinable @inline(__always)
  public static func ofClear(_ key: RawSpan, _ seed: HashSeed) -> UInt64 {
    let count = key.byteCount
    let length = UInt64(truncatingIfNeeded: count)
    var h = seed.first ^ mix(seed.first ^ c0, length ^ seed.second)
    var offset = 0
    // Each load ends at or before `count`, as the comparison before it shows.
    while count &- offset > 16 {
      h = unsafe mix(key.u64(unchecked: offset) ^ c1 ^ seed.second, key.u64(unchecked: offset &+ 8) ^ h)
      offset &+= 16
    }
    let rest = count &- offset
    var a: UInt64 = 0
    var b: UInt64 = 0
    if rest >= 8 {
      a = unsafe key.u64(unchecked: offset)
      b = unsafe key.u64(unchecked: offset &+ rest &- 8)
    } else if rest >= 4 {
      a = unsafe UInt64(key.u32(unchecked: offset))
      b = unsafe UInt64(key.u32(unchecked: offset &+ rest &- 4))
    } else if rest > 0 {
      a =
        UInt64(key.u8(at: offset)) | UInt64(key.u8(at: offset &+ rest / 2)) << 8
        | UInt64(key.u8(at: offset &+ rest &- 1)) << 16
    }
    return mix(c0 ^ length, mix(a ^ c1 ^ seed.second, b ^ h))
  }

  /// Returns the hash of the four little-endian bytes of `word`.
  @inlinable @inline(__always)
  public static func of(_ word: UInt32, _ seed: HashSeed) -> UInt64 {
    let word = UInt64(word)
    let h = seed.first ^ mix(seed.first ^ c0, 4 ^ seed.second)
    return mix(c0 ^ 4, mix(word ^ c1 ^ seed.second, word ^ h))
  }
}
