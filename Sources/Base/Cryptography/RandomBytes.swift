internal import CLibcrypto

/// Returns random bytes, good enough for keys.
package func randomBytes(_ count: Int) throws(CryptographyError) -> [UInt8] {
  try CryptographyError.loadSignatures()
  if count == 0 { return [] }
  var bytes = [UInt8](repeating: 0, count: count)
  let isWritten = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
    guard let start = buffer.baseAddress else { return false }
    return unsafe shelfmark_crypto_random(start, buffer.count)
  }
  if !isWritten { throw .failed }
  return bytes
}
