internal import CLibcrypto

/// A SHA-256 (FIPS 180-4), or an HMAC-SHA256 (RFC 2104), of bytes that are added one after another; computed by the
/// system's libcrypto.
///
/// Unsafe: the hash of libcrypto belongs to this object alone and is freed with it. The object is not `Sendable`, so no
/// two threads use it at once.
@safe
package final class Hash {
  /// The number of bytes of a digest.
  package static let byteCount = 32

  private let handle: OpaquePointer

  private init(_ make: () -> OpaquePointer?) throws(CryptographyError) {
    // The reason is a constant text.
    if let reason = unsafe shelfmark_crypto_load() { throw .noLibrary(reason: unsafe String(cString: reason)) }
    guard let handle = unsafe make() else { throw .failed }
    unsafe self.handle = handle
  }

  /// A SHA-256 of no bytes.
  package static func sha256() throws(CryptographyError) -> Hash {
    unsafe try Hash { unsafe shelfmark_crypto_sha256() }
  }

  /// An HMAC-SHA256 of no bytes.
  ///
  /// - Parameter key: The key, of any length.
  package static func hmacSHA256(key: [UInt8]) throws(CryptographyError) -> Hash {
    unsafe try Hash {
      unsafe key.withUnsafeBufferPointer { unsafe shelfmark_crypto_hmac_sha256($0.baseAddress, $0.count) }
    }
  }

  deinit {
    unsafe shelfmark_crypto_free(handle)
  }

  /// Adds bytes.
  package func update(_ bytes: [UInt8]) throws(CryptographyError) {
    let isAdded = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe shelfmark_crypto_update(handle, buffer.baseAddress, buffer.count)
    }
    if !isAdded { throw .failed }
  }

  /// The digest of the bytes so far, to which more can be added.
  package func digest() throws(CryptographyError) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.byteCount)
    let isWritten = unsafe digest.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress else { return false }
      return unsafe shelfmark_crypto_digest(handle, start)
    }
    if !isWritten { throw .failed }
    return digest
  }
}

extension Hash {
  /// The SHA-512 (FIPS 180-4) of bytes: 64 bytes.
  package static func sha512(of bytes: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try CryptographyError.loadSignatures()
    var digest = [UInt8](repeating: 0, count: Int(shelfmark_crypto_sha512_size))
    let isWritten = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe digest.withUnsafeMutableBufferPointer { digest in
        guard let start = digest.baseAddress else { return false }
        return unsafe shelfmark_crypto_sha512(bytes.baseAddress, bytes.count, start)
      }
    }
    if !isWritten { throw .failed }
    return digest
  }
}
