internal import CSealing

/// The keys of one log, derived from a data key (FORMAT.md, *Sealed logs*), in locked memory that is left out of core
/// dumps and wiped when the last reference is gone. Any number of threads may use them.
@safe
package final class LogCiphers: Sendable {
  // The memory belongs to this object alone, and is not changed after the initializer.
  private nonisolated(unsafe) let keys: OpaquePointer
  /// The prepared key of objects of the base. Unsafe because nothing keeps this object alive.
  @unsafe package nonisolated(unsafe) let base: OpaquePointer
  /// The prepared key of everything that stores its nonce. Unsafe for the same reason.
  @unsafe package nonisolated(unsafe) let other: OpaquePointer

  /// - Parameters:
  ///   - salt: What tells the log from all others that are sealed with the data key.
  /// - Throws: `SealingError.algorithm` if the algorithm cannot be computed here; `.noMemory`, `.noLibrary`.
  package init(
    _ algorithm: AuthenticatedCipher.Algorithm, _ dataKey: DataKey, salt: [UInt8]
  ) throws(SealingError) {
    try SealingError.loadLibrary()
    let made = unsafe withExtendedLifetime(dataKey) {
      unsafe shelfmark_log_keys_new(Int32(algorithm.rawValue), dataKey.secret.bytes, salt, salt.count)
    }
    guard let made = unsafe made else { throw SealingError.unprepared(algorithm, .best) }
    unsafe keys = made
    unsafe base = shelfmark_log_keys_base(made)
    unsafe other = shelfmark_log_keys_other(made)
  }

  deinit { unsafe shelfmark_log_keys_free(keys) }

  /// The key of the hash of keys, as two little-endian words.
  package var hashKey: (UInt64, UInt64) {
    let bytes = unsafe UnsafeRawPointer(shelfmark_log_keys_hash(keys))
    return unsafe (
      bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self).littleEndian,
      bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).littleEndian
    )
  }

  /// Seals bytes whose nonce is stored; see ``AuthenticatedCipher/sealed(_:nonce:data:)``.
  package func sealed(_ plain: [UInt8], nonce: [UInt8], data: [UInt8]) -> [UInt8] {
    withExtendedLifetime(self) {
      unsafe AuthenticatedCipher.sealed(with: other, plain, nonce: nonce, data: data)
    }
  }

  /// Opens bytes whose nonce is stored; `nil` if they are not genuine.
  package func opened(_ sealed: [UInt8], nonce: [UInt8], data: [UInt8]) -> [UInt8]? {
    withExtendedLifetime(self) {
      unsafe AuthenticatedCipher.opened(with: other, sealed, nonce: nonce, data: data)
    }
  }
}
