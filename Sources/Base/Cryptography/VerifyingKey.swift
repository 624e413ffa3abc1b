internal import CLibcrypto

/// A public key that verifies Ed25519 signatures (RFC 8032).
package struct VerifyingKey: Sendable, Hashable {
  /// The number of bytes of a key.
  package static let byteCount = 32
  /// The number of bytes of a signature.
  package static let signatureByteCount = 64

  /// The 32 bytes of the key.
  package let bytes: [UInt8]

  /// Creates a key from its bytes; `nil` if they are not 32.
  ///
  /// Not all bytes are a point of the curve. A key that is none verifies no signature.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  /// Returns whether the owner of the key made a signature of exactly these bytes.
  ///
  /// - Parameter signature: What may be a signature, of any length.
  /// - Throws: `CryptographyError` if libcrypto is missing or has no memory, never for a wrong signature.
  package func isSignature(_ signature: [UInt8], of bytes: [UInt8]) throws(CryptographyError) -> Bool {
    guard signature.count == Self.signatureByteCount else { return false }
    try CryptographyError.loadSignatures()
    // Key and signature have the sizes that the function expects.
    let result = unsafe self.bytes.withUnsafeBufferPointer { key in
      unsafe signature.withUnsafeBufferPointer { signature in
        unsafe bytes.withUnsafeBufferPointer { bytes -> Int32 in
          guard let key = key.baseAddress, let signature = signature.baseAddress else { return -1 }
          return unsafe shelfmark_crypto_ed25519_verify(key, signature, bytes.baseAddress, bytes.count)
        }
      }
    }
    if result < 0 { throw .failed }
    return result == 1
  }
}
