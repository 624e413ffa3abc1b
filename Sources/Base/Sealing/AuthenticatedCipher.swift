internal import CSealing

/// Authenticated encryption with one key (RFC 5116): whoever has not the key can neither read what is sealed nor change
/// it unnoticed. Any number of threads may use it.
///
/// A key may seal only once with each nonce.
@safe
package final class AuthenticatedCipher: Sendable {
  /// The algorithm. The raw value is what files store.
  package enum Algorithm: UInt8, Sendable, CaseIterable {
    /// AES with 256 bits in Galois/counter mode (NIST SP 800-38D).
    case aes256GCM = 1
    /// ChaCha20 and Poly1305 (RFC 8439).
    case chaCha20Poly1305 = 2

    /// The faster one that this processor can compute without tables, which leak keys by their time.
    ///
    /// - Throws: `SealingError.noLibrary`.
    package static func preferred() throws(SealingError) -> Algorithm {
      try SealingError.loadLibrary()
      return shelfmark_has_aes() ? .aes256GCM : .chaCha20Poly1305
    }
  }

  /// The library that computes AES-256-GCM. All of them compute the same. ChaCha20 and Poly1305 are always computed by
  /// libsodium.
  package enum Library: Int32, Sendable, CaseIterable {
    /// The first of the others that works here.
    case best = 0
    /// Intel's libIPSec_MB, the fastest one, on processors with x86-64 only.
    case ipsecMB = 1
    /// libsodium, which needs a processor that has instructions for AES.
    case libsodium = 2
    /// OpenSSL's libcrypto, on any processor, for a log that was sealed on another one.
    case libcrypto = 3
  }

  /// The number of bytes of a key.
  package static let keyByteCount = 32
  /// The number of bytes of a nonce.
  package static let nonceByteCount = 12
  /// The number of bytes by which sealed bytes are longer than plain ones.
  package static let tagByteCount = 16

  /// The prepared key. Unsafe because nothing keeps this object alive.
  @unsafe package nonisolated(unsafe) let handle: OpaquePointer

  /// - Throws: `SealingError.algorithm` if the library cannot compute the algorithm here; `.noMemory`, `.noLibrary`.
  package init(_ algorithm: Algorithm, key: SecretBytes, library: Library = .best) throws(SealingError) {
    precondition(key.count == Self.keyByteCount, "a key has 32 bytes")
    try SealingError.loadLibrary()
    let made = unsafe withExtendedLifetime(key) {
      unsafe shelfmark_aead_new(Int32(algorithm.rawValue), library.rawValue, key.bytes)
    }
    guard let made = unsafe made else { throw SealingError.unprepared(algorithm, library) }
    unsafe handle = made
  }

  deinit { unsafe shelfmark_aead_free(handle) }

  /// Returns the sealed form of `plain`, which is ``tagByteCount`` bytes longer.
  ///
  /// - Parameters:
  ///   - nonce: A nonce with which this key has sealed nothing before.
  ///   - data: Bytes that are not secret and that must be the same when the result is opened.
  package func sealed(_ plain: [UInt8], nonce: [UInt8], data: [UInt8] = []) -> [UInt8] {
    withExtendedLifetime(self) { unsafe Self.sealed(with: handle, plain, nonce: nonce, data: data) }
  }

  /// The same with a prepared key. Unsafe because it must live until the call returns.
  @unsafe
  static func sealed(with handle: OpaquePointer, _ plain: [UInt8], nonce: [UInt8], data: [UInt8]) -> [UInt8] {
    precondition(nonce.count == Self.nonceByteCount, "a nonce has 12 bytes")
    var result = [UInt8](repeating: 0, count: plain.count + Self.tagByteCount)
    unsafe shelfmark_aead_seal(handle, nonce, data, data.count, plain, plain.count, &result)
    return result
  }

  /// Returns the plain form of sealed bytes; `nil` if they, the nonce or the data are not those that were sealed with
  /// this key.
  package func opened(_ sealed: [UInt8], nonce: [UInt8], data: [UInt8] = []) -> [UInt8]? {
    withExtendedLifetime(self) { unsafe Self.opened(with: handle, sealed, nonce: nonce, data: data) }
  }

  /// The same with a prepared key. Unsafe because it must live until the call returns.
  @unsafe
  static func opened(with handle: OpaquePointer, _ sealed: [UInt8], nonce: [UInt8], data: [UInt8]) -> [UInt8]? {
    precondition(nonce.count == Self.nonceByteCount, "a nonce has 12 bytes")
    guard sealed.count >= Self.tagByteCount else { return nil }
    var result = [UInt8](repeating: 0, count: sealed.count - Self.tagByteCount)
    // At least one byte, as an empty array may have no address.
    let isGenuine = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: max(1, result.count)) { plain in
      guard
        unsafe shelfmark_aead_open(handle, nonce, data, data.count, sealed, sealed.count, plain.baseAddress!)
      else { return false }
      for index in result.indices { unsafe result[index] = plain[index] }
      unsafe shelfmark_wipe(plain.baseAddress!, max(1, result.count))
      return true
    }
    return isGenuine ? result : nil
  }
}
