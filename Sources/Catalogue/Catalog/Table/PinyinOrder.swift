import Bytes
import SearchText

/// The order of words in a Chinese dictionary: by pinyin.
///
/// It compares folded texts. Digits come first, then Han characters by their most usual reading, then Latin letters and
/// other scripts, as in the Unicode collation for Chinese (CLDR, `zh`). Characters with the same reading are compared by
/// their code points, since the tables have no tones.
enum PinyinOrder {
  /// Comes before the letters of a reading: after all digits and before all Latin letters.
  private static let han = UInt8(ascii: ":")
  /// Comes after the letters of a reading, so that `an` comes before `ang`.
  private static let end: UInt8 = 1

  /// Appends the key of a folded text: texts are in the order of the bytes of their keys.
  static func appendKey(of folder: borrowing TextFolder, to key: inout [UInt8]) {
    for (index, token) in folder.tokens.enumerated() {
      if index > 0 { key.append(0x20) }
      appendKey(of: folder.bytes(of: token), to: &key)
    }
  }

  private static func appendKey(of token: RawSpan, to key: inout [UInt8]) {
    var offset = 0
    while offset < token.byteCount {
      let (scalar, byteCount) = UTF8Decoding.scalar(at: offset, in: token)
      if let reading = Pinyin.readings(of: scalar).first {
        key.append(han)
        var letters = reading.packedLetters
        while letters != 0 {
          key.append(UInt8(truncatingIfNeeded: letters))
          letters >>= 8
        }
        key.append(end)
      }
      key.append(token.extracting(offset..<offset + byteCount))
      offset += byteCount
    }
  }
}

extension TextFolder {
  /// Appends the tokens of the text, with blanks between them.
  func appendTokens(to text: inout [UInt8]) {
    for (index, token) in tokens.enumerated() {
      if index > 0 { text.append(0x20) }
      text.append(bytes(of: token))
    }
  }
}
