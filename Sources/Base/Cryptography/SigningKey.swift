internal import CLibcrypto

/// A secret key that makes Ed25519 signatures (RFC 8032). It is never printed.
package struct SigningKey: Sendable {
  /// The number of bytes of a seed.
  package static let seedByteCount = 32

  /// The 32 bytes from which the key is computed. They are the secret.
  package let seed: [UInt8]
  /// The public key.
  package let verifyingKey: VerifyingKey

  /// Creates a random key.
  package init() throws(CryptographyError) {
    try self.init(seed: randomBytes(Self.seedByteCount))
  }

  /// Creates the key of a seed.
  ///
  /// - Parameter seed: 32 random bytes.
  package init(seed: [UInt8]) throws(CryptographyError) {
    precondition(seed.count == Self.seedByteCount, "the seed of an Ed25519 key has 32 bytes")
    try CryptographyError.loadSignatures()
    var key = [UInt8](repeating: 0, count: VerifyingKey.byteCount)
    // Seed and key have the sizes that the function expects.
    let isWritten = unsafe seed.withUnsafeBufferPointer { seed in
      unsafe key.withUnsafeMutableBufferPointer { key in
        guard let seed = seed.baseAddress, let key = key.baseAddress else { return false }
        return unsafe shelfmark_crypto_ed25519_public_key(seed, key)
      }
    }
    guard isWritten, let verifyingKey = VerifyingKey(bytes: key) else { throw .failed }
    self.seed = seed
    self.verifyingKey = verifyingKey
  }

  /// Returns the signature of bytes: 64 bytes, the same for the same bytes.
  package func signature(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: VerifyingKey.signatureByteCount)
    // Seed and signature have the sizes that the function expects.
    let isWritten = unsafe seed.withUnsafeBufferPointer { seed in
      unsafe bytes.withUnsafeBufferPointer { bytes in
        unsafe signature.withUnsafeMutableBufferPointer { signature in
          guard let seed = seed.baseAddress, let signature = signature.baseAddress else { return false }
          return unsafe shelfmark_crypto_ed25519_sign(seed, bytes.baseAddress, bytes.count, signature)
        }
      }
    }
    if !isWritten { throw .failed }
    return signature
  }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
  /// A fixed text, so that the seed is never printed.
  package var description: String { "(secret key)" }
  /// A mirror without children, so that `dump(_:)` and debuggers do not print the seed.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
