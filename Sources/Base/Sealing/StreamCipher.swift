internal import CSealing

/// Encryption of a temporary file with a random key that nobody else has (XChaCha20): without the process that holds the
/// key, the file is noise. Changes are not noticed.
///
/// Each byte of the file must be encrypted once only.
@safe
package final class StreamCipher: Sendable {
  private let key: SecretBytes
  private let nonce: [UInt8]

  /// Makes a cipher with a random key.
  package init() throws(SealingError) {
    key = try SecretBytes.random(AuthenticatedCipher.keyByteCount)
    let random = try SecretBytes.random(Int(shelfmark_stream_nonce_size))
    nonce = unsafe random.withBytes { unsafe Array($0) }
  }

  /// Encrypts or decrypts the bytes at `offset` of the file.
  package func applied(to bytes: Span<UInt8>, at offset: Int) -> [UInt8] {
    // The stream consists of blocks of 64 bytes, and the first one may be entered in the middle.
    let block = Int(shelfmark_stream_block_size)
    let skipped = offset % block
    var result = [UInt8](repeating: 0, count: skipped + bytes.count)
    for index in bytes.indices { result[skipped + index] = bytes[index] }
    unsafe result.withUnsafeMutableBufferPointer { buffer in
      guard let first = buffer.baseAddress else { return }
      unsafe shelfmark_stream_xor(key.bytes, nonce, UInt64(offset / block), first, buffer.count, first)
    }
    result.removeFirst(skipped)
    return result
  }
}
