/// A secret key without passphrase in the format of signify. It is never printed, except as ``text``.
///
///     offset  size
///     0       2     "Ed"
///     2       2     "BK": bcrypt derives what protects the key
///     4       4     rounds of bcrypt, big-endian; 0 without a passphrase
///     8       16    salt of bcrypt
///     24      8     first bytes of the SHA-512 of the last field
///     32      8     number of the key
///     40      64    the seed, the public key
package struct SignifySecretKey: Sendable {
  private static let derivation = Array("BK".utf8)
  private static let noRounds: [UInt8] = [0, 0, 0, 0]
  private static let salt = 8..<24
  private static let checksum = 24..<32
  private static let number = 32..<40
  private static let seed = 40..<72
  private static let publicHalf = 72..<104

  /// What signify adds to the comments of the two keys of a pair.
  private static let secretSuffix = " secret key"
  private static let publicSuffix = " public key"

  /// The comment, which nothing verifies.
  package let comment: String
  /// The number of the key, which its signatures carry.
  package let number: SignifyKeyNumber
  /// The key.
  package let key: SigningKey
  private let salt: [UInt8]
  private let checksum: [UInt8]

  /// Makes a new key.
  ///
  /// - Parameter comment: What the key is for: one line. " secret key" is added to it, as signify does.
  /// - Throws: `SignifyError.commentNotALine`, `.commentTooLong`, `.cryptography`.
  package static func new(_ comment: String) throws(SignifyError) -> SignifySecretKey {
    try SignifyFile.check(comment: comment + secretSuffix)
    return try SignifyError.mapping { () throws(CryptographyError) in
      let key = try SigningKey()
      return SignifySecretKey(
        comment: comment + secretSuffix, number: SignifyKeyNumber(bytes: try randomBytes(Self.number.count)), key: key,
        salt: try randomBytes(Self.salt.count), checksum: try checksum(of: key))
    }
  }

  private init(comment: String, number: SignifyKeyNumber, key: SigningKey, salt: [UInt8], checksum: [UInt8]) {
    self.comment = comment
    self.number = number
    self.key = key
    self.salt = salt
    self.checksum = checksum
  }

  /// Reads a key from the bytes of a file.
  ///
  /// - Throws: `SignifyError`; `.passphrase` for a key that has one.
  package init(_ file: [UInt8]) throws(SignifyError) {
    let (comment, bytes) = try SignifyFile.readWhole(.secretKey, from: file)
    guard bytes[2..<4].elementsEqual(Self.derivation) else { throw .unknownProtection }
    guard bytes[4..<8].elementsEqual(Self.noRounds) else { throw .passphrase }
    let digest = try SignifyError.mapping { () throws(CryptographyError) in
      try Hash.sha512(of: Array(bytes[Self.seed.lowerBound..<Self.publicHalf.upperBound]))
    }
    guard bytes[Self.checksum].elementsEqual(digest.prefix(Self.checksum.count)) else { throw .wrongChecksum }
    let key = try SignifyError.mapping { () throws(CryptographyError) in
      try SigningKey(seed: Array(bytes[Self.seed]))
    }
    guard bytes[Self.publicHalf].elementsEqual(key.verifyingKey.bytes) else { throw .wrongPublicKey }
    self.init(
      comment: comment, number: SignifyKeyNumber(bytes: bytes[Self.number]), key: key, salt: Array(bytes[Self.salt]),
      checksum: Array(bytes[Self.checksum]))
  }

  private static func checksum(of key: SigningKey) throws(CryptographyError) -> [UInt8] {
    Array(try Hash.sha512(of: key.seed + key.verifyingKey.bytes).prefix(checksum.count))
  }

  /// The public key of the pair. Its comment is that of the secret key, with "public" instead of "secret" at its end.
  package var publicKey: SignifyPublicKey {
    let isPaired = comment.hasSuffix(Self.secretSuffix)
    let publicComment = isPaired ? comment.dropLast(Self.secretSuffix.count) + Self.publicSuffix : comment
    return SignifyPublicKey(comment: publicComment, number: number, key: key.verifyingKey)
  }

  /// The contents of its file, which nobody else may read.
  package var text: String {
    SignifyFile.text(
      comment: comment,
      SignifyFile.algorithm + Self.derivation + Self.noRounds + salt + checksum + number.bytes + key.seed
        + key.verifyingKey.bytes)
  }

  /// Signs a message.
  package func sign(_ message: [UInt8]) throws(CryptographyError) -> SignifySignature {
    SignifySignature(
      comment: "signature of key \(number)", number: number, bytes: try key.signature(of: message))
  }
}

extension SignifySecretKey: CustomStringConvertible, CustomReflectable {
  /// A fixed text, so that the key is never printed.
  package var description: String { "(secret key \(number))" }
  /// A mirror without children, so that `dump(_:)` and debuggers do not print the key.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
