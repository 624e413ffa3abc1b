/// The key with which the stores of one user are sealed: 32 random bytes, from which the keys of each generation are
/// derived. It is stored only in wrapped form.
package final class DataKey: Sendable {
  /// The bytes of the key.
  package let secret: SecretBytes
  /// The name of the key, which is not secret: 16 bytes that are derived from it. The header of a sealed log has it, so
  /// that another key is told from damage.
  package let id: [UInt8]

  /// The number of bytes of ``id``.
  package static let idByteCount = 16

  /// - Parameter secret: 32 bytes.
  package init(_ secret: SecretBytes) throws(SealingError) {
    precondition(secret.count == AuthenticatedCipher.keyByteCount, "a data key has 32 bytes")
    self.secret = secret
    let id = try secret.derived(salt: [], info: Array("shelfmark key id".utf8), count: Self.idByteCount)
    self.id = unsafe id.withBytes { unsafe Array($0) }
  }

  /// Makes a new key.
  package static func random() throws(SealingError) -> DataKey {
    try DataKey(SecretBytes.random(AuthenticatedCipher.keyByteCount))
  }
}
