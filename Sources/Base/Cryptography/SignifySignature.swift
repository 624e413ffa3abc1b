/// A signature in the format of signify, in a file of its own (*detached*) or before its message (*embedded*).
///
///     offset  size
///     0       2     "Ed"
///     2       8     number of the key
///     10      64    signature
///
/// `signify -V -x SIGNATURE -m MESSAGE` reads the first two lines of SIGNATURE only, so an embedded signature verifies
/// a copy of the message too.
package struct SignifySignature: Sendable, Equatable {
  /// The comment, which nothing verifies.
  package let comment: String
  /// The number of the key that made the signature, which nothing verifies either.
  package let number: SignifyKeyNumber
  /// The 64 bytes of the signature.
  package let bytes: [UInt8]

  init(comment: String, number: SignifyKeyNumber, bytes: [UInt8]) {
    self.comment = comment
    self.number = number
    self.bytes = bytes
  }

  private init(comment: String, decoded bytes: [UInt8]) {
    self.init(comment: comment, number: SignifyKeyNumber(bytes: bytes[2..<10]), bytes: Array(bytes[10...]))
  }

  /// Reads a detached signature from the bytes of a file.
  package init(_ file: [UInt8]) throws(SignifyError) {
    let (comment, bytes) = try SignifyFile.readWhole(.signature, from: file)
    self.init(comment: comment, decoded: bytes)
  }

  /// Reads an embedded signature and its message, of any size, which is not verified here.
  package static func embedded(in file: [UInt8]) throws(SignifyError) -> (signature: Self, message: [UInt8]) {
    let (comment, bytes, end) = try SignifyFile.read(.signature, from: file)
    return (Self(comment: comment, decoded: bytes), Array(file[end...]))
  }

  /// The contents of the file of a detached signature.
  package var text: String { SignifyFile.text(comment: comment, SignifyFile.algorithm + number.bytes + bytes) }

  /// The signature followed by its message, as `signify -S -e` writes them.
  package func embedding(_ message: [UInt8]) -> [UInt8] { Array(text.utf8) + message }

  /// Returns whether the owner of the key signed exactly this message.
  ///
  /// A signature that carries the number of another key is not valid.
  package func isValid(of message: [UInt8], key: SignifyPublicKey) throws(CryptographyError) -> Bool {
    guard number == key.number else { return false }
    return try key.key.isSignature(bytes, of: message)
  }
}
