internal import CLibcrypto

/// Why something cannot be hashed or signed.
package enum CryptographyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The system has no libcrypto, or one that is too old.
  case noLibrary(reason: String)
  /// libcrypto refused, which it only does without memory, or without random bytes.
  case failed

  package var description: String {
    switch self {
    case .noLibrary(let reason): reason
    case .failed: "libcrypto could not compute a hash or a signature; is there enough memory?"
    }
  }

  /// Loads what signatures, SHA-512 and random bytes need.
  static func loadSignatures() throws(CryptographyError) {
    // The reason is a constant text.
    if let reason = unsafe shelfmark_crypto_load_signatures() {
      throw .noLibrary(reason: unsafe String(cString: reason))
    }
  }
}
