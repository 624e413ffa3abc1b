internal import Essentials
internal import TextFormat

/// The frame that signify gives its keys and signatures: a comment on one line, base64 on the next.
///
///     untrusted comment: TEXT
///     RWQ…
///
/// The bytes in base64 begin with `Ed`. Of what follows, see each kind.
enum SignifyFile {
  /// What a file holds.
  enum Kind: CaseIterable {
    case publicKey, secretKey, signature

    /// The number of bytes that the second line has in base64.
    var byteCount: Int {
      switch self {
      case .publicKey: 2 + SignifyKeyNumber.byteCount + VerifyingKey.byteCount
      case .secretKey: 2 + 2 + 4 + 16 + 8 + SignifyKeyNumber.byteCount + 2 * VerifyingKey.byteCount
      case .signature: 2 + SignifyKeyNumber.byteCount + VerifyingKey.signatureByteCount
      }
    }

    /// The kind, with its article, for people.
    var text: String {
      switch self {
      case .publicKey: "a public key"
      case .secretKey: "a secret key"
      case .signature: "a signature"
      }
    }
  }

  /// The maximum size of a file in bytes, without the message that may follow a signature.
  static let maximumByteCount = 4_096
  /// The maximum size of a comment in bytes, which is signify's.
  static let maximumCommentByteCount = 1_023
  /// The first two bytes of a key or signature: Ed25519.
  static let algorithm = Array("Ed".utf8)

  private static let prefix = "untrusted comment: "

  /// Reads the two lines at the beginning of a file.
  ///
  /// A line may end with CR LF, the last one with the file.
  ///
  /// - Returns: The comment; the decoded bytes, which have the size of the kind and begin with `Ed`; and the offset
  ///   after the second line.
  static func read(
    _ kind: Kind, from file: [UInt8]
  ) throws(SignifyError) -> (comment: String, bytes: [UInt8], end: Int) {
    let head = file.prefix(maximumByteCount)
    let (first, second) = line(of: head)
    guard first.starts(with: prefix.utf8) else { throw .noComment(expected: kind.text) }
    let comment = first.dropFirst(prefix.utf8.count)
    if comment.count > maximumCommentByteCount { throw .commentTooLong(byteCount: comment.count) }
    let (code, end) = line(of: head[second...])
    if end == head.endIndex, file.count > head.count { throw .tooLarge(expected: kind.text, limit: maximumByteCount) }
    guard let data = Data(base64Encoded: String(decoding: code, as: UTF8.self)), !data.isEmpty else {
      throw .notBase64(expected: kind.text)
    }
    let bytes = [UInt8](data)
    guard bytes.count == kind.byteCount else {
      let other = Kind.allCases.first { $0.byteCount == bytes.count && bytes.starts(with: algorithm) }
      throw .wrongKind(expected: kind.text, found: other?.text ?? "\(bytes.count) bytes")
    }
    guard bytes.starts(with: algorithm) else { throw .wrongAlgorithm(expected: kind.text) }
    return (String(decoding: comment, as: UTF8.self), bytes, end)
  }

  /// Reads a file that has nothing after the two lines.
  static func readWhole(_ kind: Kind, from file: [UInt8]) throws(SignifyError) -> (comment: String, bytes: [UInt8]) {
    if file.count > maximumByteCount { throw .tooLarge(expected: kind.text, limit: maximumByteCount) }
    let (comment, bytes, end) = try read(kind, from: file)
    if end < file.count { throw .trailingBytes(expected: kind.text) }
    return (comment, bytes)
  }

  /// The two lines.
  static func text(comment: String, _ bytes: [UInt8]) -> String {
    "\(prefix)\(comment)\n\(Data(bytes).base64EncodedString())\n"
  }

  /// Checks a comment that is to be written.
  static func check(comment: String) throws(SignifyError) {
    if comment.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D || $0 == 0 }) { throw .commentNotALine }
    if comment.utf8.count > maximumCommentByteCount { throw .commentTooLong(byteCount: comment.utf8.count) }
  }

  /// The first line of bytes, without its end, and the index after it.
  private static func line(of bytes: ArraySlice<UInt8>) -> (line: ArraySlice<UInt8>, end: Int) {
    guard let index = bytes.firstIndex(of: 0x0A) else { return (bytes, bytes.endIndex) }
    let line = bytes[..<index]
    return (line.last == 0x0D ? line.dropLast() : line, index + 1)
  }
}

/// The number by which signify finds the key of a signature. It is random and proves nothing.
package struct SignifyKeyNumber: Sendable, Hashable, CustomStringConvertible {
  static let byteCount = 8

  /// The 8 bytes of the number.
  package let bytes: [UInt8]

  /// - Parameter bytes: 8 bytes.
  init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    precondition(self.bytes.count == Self.byteCount, "the number of a key has 8 bytes")
  }

  /// 16 hexadecimal digits.
  package var description: String { Hexadecimal.text(bytes, .lowercase) }
}
