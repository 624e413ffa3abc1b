/// What is wrong with a key or a signature in signify's format.
///
/// `expected` is what the file was to be, such as "a public key".
package enum SignifyError: Error, Sendable, Equatable {
  /// The file is larger than keys and signatures are.
  case tooLarge(expected: String, limit: Int)
  /// The first line is not a comment of signify.
  case noComment(expected: String)
  /// The comment is longer than signify reads.
  case commentTooLong(byteCount: Int)
  /// A comment that is to be written has a line end or a zero byte.
  case commentNotALine
  /// The second line is not base64.
  case notBase64(expected: String)
  /// The second line has the wrong number of bytes; `found` says what they are.
  case wrongKind(expected: String, found: String)
  /// The key or signature is not for Ed25519.
  case wrongAlgorithm(expected: String)
  /// More follows the second line.
  case trailingBytes(expected: String)
  /// The secret key is protected in another way than signify's (BK, bcrypt).
  case unknownProtection
  /// The secret key is protected by a passphrase.
  case passphrase
  /// The checksum of the secret key is wrong.
  case wrongChecksum
  /// The public half of a secret key does not belong to its seed.
  case wrongPublicKey
  /// libcrypto is missing or failed.
  case cryptography(CryptographyError)

  /// Returns the result of `body`, and throws its error as one of this type.
  static func mapping<Value>(_ body: () throws(CryptographyError) -> Value) throws(SignifyError) -> Value {
    do { return try body() } catch { throw .cryptography(error) }
  }
}

extension SignifyError: CustomStringConvertible {
  /// The error, the line, and the remedy, without the name of the file, for people.
  package var description: String {
    switch self {
    case .tooLarge(let expected, let limit): "it is larger than \(limit) bytes, so it is not \(expected) of signify"
    case .noComment(let expected):
      "line 1 does not begin with \"untrusted comment: \", so this is not \(expected) of signify"
    case .commentTooLong(let byteCount):
      "the comment has \(byteCount) bytes, and signify takes \(SignifyFile.maximumCommentByteCount); shorten it"
    case .commentNotALine: "a comment is one line of text"
    case .notBase64(let expected): "line 2 is not \(expected) in base64; get the file again"
    case .wrongKind(let expected, let found): "line 2 is \(found) instead of \(expected); name another file"
    case .wrongAlgorithm(let expected): "line 2 is not \(expected) of Ed25519, which begins with \"RW\""
    case .trailingBytes(let expected): "there is more after line 2; \(expected) has two lines"
    case .unknownProtection: "the secret key is not one of signify: line 2 has no \"BK\" after \"Ed\""
    case .passphrase:
      "the secret key has a passphrase, which only signify can ask for; make a key without one:"
        + " signify-openbsd -G -n -p KEY.pub -s KEY.sec"
    case .wrongChecksum: "the secret key is damaged: its checksum is wrong; take a copy of it"
    case .wrongPublicKey: "the secret key is damaged: its two halves do not belong together; take a copy of it"
    case .cryptography(let error): "\(error)"
    }
  }
}
