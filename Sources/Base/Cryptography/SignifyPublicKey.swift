/// A public key in the format of signify.
///
///     offset  size
///     0       2     "Ed"
///     2       8     number of the key
///     10      32    key
package struct SignifyPublicKey: Sendable, Equatable {
  /// The comment, which nothing verifies.
  package let comment: String
  /// The number of the key.
  package let number: SignifyKeyNumber
  /// The key.
  package let key: VerifyingKey

  init(comment: String, number: SignifyKeyNumber, key: VerifyingKey) {
    self.comment = comment
    self.number = number
    self.key = key
  }

  /// Reads a key from the bytes of a file.
  package init(_ file: [UInt8]) throws(SignifyError) {
    let (comment, bytes) = try SignifyFile.readWhole(.publicKey, from: file)
    self.comment = comment
    number = SignifyKeyNumber(bytes: bytes[2..<10])
    guard let key = VerifyingKey(bytes: Array(bytes[10...])) else {
      preconditionFailure("the size was checked")
    }
    self.key = key
  }

  /// The contents of its file.
  package var text: String { SignifyFile.text(comment: comment, SignifyFile.algorithm + number.bytes + key.bytes) }
}
