/// A guess of the encoding of a text from its first bytes.
public struct EncodingGuess: Sendable, Equatable {
  /// Why an encoding was chosen.
  public enum Reason: String, Sendable {
    /// The text begins with a byte order mark.
    case mark = "byte order mark"
    /// The bytes are valid in this encoding, which is unlikely by chance.
    case valid = "valid bytes"
    /// Zero bytes are at every second byte.
    case zeros = "zero bytes"
    /// No better guess was found.
    case remaining = "no better guess"
  }

  /// The name of the encoding, as the C library knows it.
  public var name: String
  /// Why it was chosen.
  public var reason: Reason

  /// Guesses the encoding of a text.
  ///
  /// - Parameter sample: The first bytes of the text; a megabyte is enough.
  /// - Complexity: O(length of `sample`).
  public init(_ sample: [UInt8]) {
    (name, reason) = Self.guess(sample)
  }

  private static func guess(_ sample: [UInt8]) -> (String, Reason) {
    if sample.starts(with: [0xEF, 0xBB, 0xBF]) { return ("UTF-8", .mark) }
    if sample.starts(with: [0xFF, 0xFE, 0, 0]) { return ("UTF-32LE", .mark) }
    if sample.starts(with: [0, 0, 0xFE, 0xFF]) { return ("UTF-32BE", .mark) }
    if sample.starts(with: [0xFF, 0xFE]) { return ("UTF-16LE", .mark) }
    if sample.starts(with: [0xFE, 0xFF]) { return ("UTF-16BE", .mark) }
    if let name = wide(sample) { return (name, .zeros) }
    let (sequences, invalid) = countUTF8(sample)
    if sequences >= invalid * 8 { return ("UTF-8", .valid) }
    if isChinese(sample) { return ("GB18030", .valid) }
    return ("WINDOWS-1252", .remaining)
  }

  /// UTF-16 without a mark: separators, digits and line feeds have a zero byte on one side, always the same one.
  private static func wide(_ sample: [UInt8]) -> String? {
    var zeros = [0, 0]
    for (index, byte) in sample.enumerated() where byte == 0 { zeros[index & 1] += 1 }
    let pairs = sample.count / 2
    guard pairs >= 2, max(zeros[0], zeros[1]) * 5 >= pairs, min(zeros[0], zeros[1]) * 20 <= pairs else { return nil }
    return zeros[1] > zeros[0] ? "UTF-16LE" : "UTF-16BE"
  }

  /// The number of well-formed UTF-8 sequences of several bytes, and of bytes that are no UTF-8. A sequence that the
  /// sample cuts is neither.
  private static func countUTF8(_ sample: [UInt8]) -> (sequences: Int, invalid: Int) {
    var (sequences, invalid) = (0, 0)
    var index = 0
    while index < sample.count {
      let byte = sample[index]
      if byte < 0x80 {
        index += 1
        continue
      }
      let length = byte < 0xC2 ? 0 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : byte < 0xF5 ? 4 : 0
      let end = min(sample.count, index + length)
      let followers = sample[min(index + 1, sample.count)..<max(end, min(index + 1, sample.count))]
      if length > 0, followers.allSatisfy({ $0 & 0xC0 == 0x80 }) {
        if followers.count == length - 1 { sequences += 1 }
        index = end
      } else {
        invalid += 1
        index += 1
      }
    }
    return (sequences, invalid)
  }

  /// Whether the bytes are valid GB18030, and most characters beyond ASCII are in the area of the common Chinese ones.
  private static func isChinese(_ sample: [UInt8]) -> Bool {
    var (common, others) = (0, 0)
    var index = 0
    while index < sample.count {
      let lead = sample[index]
      if lead < 0x80 {
        index += 1
        continue
      }
      guard index + 1 < sample.count else { break }
      let trail = sample[index + 1]
      guard lead != 0x80, lead != 0xFF else { return false }
      if (0x30...0x39).contains(trail) {
        // A character of four bytes.
        guard index + 3 < sample.count else { break }
        guard (0x81...0xFE).contains(sample[index + 2]), (0x30...0x39).contains(sample[index + 3]) else { return false }
        others += 1
        index += 4
        continue
      }
      guard trail >= 0x40, trail != 0x7F, trail != 0xFF else { return false }
      // GB 2312: its characters and full-width punctuation. Two letters with accents inside a word are not Chinese.
      let isInWord =
        index > 0 && index + 2 < sample.count && isLetter(sample[index - 1]) && isLetter(sample[index + 2])
      let isCommon = (0xB0...0xF7).contains(lead) || (0xA1...0xA3).contains(lead)
      if isCommon, trail >= 0xA1, !isInWord { common += 1 } else { others += 1 }
      index += 2
    }
    return common > 0 && common >= others
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
