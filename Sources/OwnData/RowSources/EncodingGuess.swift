internal import CTextEncoding

/// A guess of the encoding of a text from its first bytes.
///
/// Marks, UTF-8, UTF-16, plain Chinese in GB18030 and Russian capitals are recognised here; other encodings by the
/// library uchardet, which compares the characters and their pairs with those of languages. Where it is not installed,
/// they are taken for GB18030 or Windows-1252.
package struct EncodingGuess: Sendable, Equatable {
  /// The reason for which an encoding was chosen.
  package enum Reason: String, Sendable {
    /// The text begins with a byte order mark.
    case mark = "byte order mark"
    /// The bytes are valid in this encoding, which is unlikely by chance.
    case valid = "valid bytes"
    /// Zero bytes are at every second byte.
    case zeros = "zero bytes"
    /// The characters are those of a language that is written in this encoding.
    case characters = "its characters"
    /// No better guess was found.
    case remaining = "no better guess"
  }

  /// The name of the encoding, as the C library knows it.
  package var name: String
  /// The reason for which it was chosen.
  package var reason: Reason

  /// Guesses the encoding of a text.
  ///
  /// - Parameter sample: The first bytes of the text; a megabyte is enough.
  /// - Complexity: O(length of `sample`).
  package init(_ sample: [UInt8]) {
    (name, reason) = Self.guess(sample)
  }

  /// The encoding that a text's byte order mark names; `nil` if it has none.
  ///
  /// - Parameter sample: The first bytes of the text, at least four or all of them.
  init?(mark sample: [UInt8]) {
    guard let mark = Self.marks.first(where: { sample.starts(with: $0.bytes) }) else { return nil }
    (name, reason) = (mark.name, .mark)
  }

  /// The longer of two that begin alike comes first.
  private static let marks: [(bytes: [UInt8], name: String)] = [
    ([0xEF, 0xBB, 0xBF], "UTF-8"), ([0xFF, 0xFE, 0, 0], "UTF-32LE"), ([0, 0, 0xFE, 0xFF], "UTF-32BE"),
    ([0xFF, 0xFE], "UTF-16LE"), ([0xFE, 0xFF], "UTF-16BE"),
  ]

  private static func guess(_ sample: [UInt8]) -> (String, Reason) {
    if let mark = EncodingGuess(mark: sample) { return (mark.name, .mark) }
    if let name = wide(sample) { return (name, .zeros) }
    let (sequences, invalid) = countUTF8(sample)
    // Text in other encodings has sequences of UTF-8 by chance, but few of them: a damaged file is told from one.
    if sequences >= invalid * 3 { return ("UTF-8", .valid) }
    let chinese = chinese(sample)
    if chinese?.isCertain == true { return ("GB18030", .valid) }
    if let name = detected(sample) { return (name, .characters) }
    if chinese?.isPlausible == true { return ("GB18030", .remaining) }
    return ("WINDOWS-1252", .remaining)
  }

  /// The encodings that are told apart reliably, by uchardet's names, and the larger sets that Windows writes under
  /// some of them. The western ones are not: few letters distinguish them, and Windows-1252 is what files have.
  private static let detectable = [
    "BIG5": "BIG5", "EUC-JP": "EUC-JP", "SHIFT_JIS": "CP932", "EUC-KR": "CP949", "UHC": "CP949", "GB18030": "GB18030",
    "WINDOWS-1251": "WINDOWS-1251", "KOI8-R": "KOI8-R", "ISO-8859-5": "ISO-8859-5", "IBM855": "IBM855",
    "IBM866": "IBM866", "WINDOWS-1253": "WINDOWS-1253", "ISO-8859-7": "ISO-8859-7", "WINDOWS-1255": "WINDOWS-1255",
    "ISO-8859-8": "ISO-8859-8", "WINDOWS-1256": "WINDOWS-1256", "ISO-8859-6": "ISO-8859-6", "TIS-620": "TIS-620",
    "WINDOWS-1250": "WINDOWS-1250", "ISO-8859-2": "ISO-8859-2", "ISO-8859-16": "ISO-8859-16",
    "ISO-8859-9": "WINDOWS-1254", "WINDOWS-1258": "WINDOWS-1258",
  ]

  /// The encoding that uchardet finds; `nil` if it is not installed, finds a western one or none, or if the text is the
  /// same in Windows-1252.
  private static func detected(_ sample: [UInt8]) -> String? {
    var name = [UInt8](repeating: 0, count: 64)
    // Both arrays live during the call.
    let isFound = unsafe sample.withUnsafeBufferPointer { bytes in
      unsafe name.withUnsafeMutableBytes { text in
        let characters = unsafe text.bindMemory(to: CChar.self)
        guard let start = bytes.baseAddress, let target = characters.baseAddress else { return false }
        return unsafe shelfmark_encoding_detect(start, bytes.count, target, text.count)
      }
    }
    let found = isFound ? detectable[String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)] : nil
    // It knows Russian in small letters.
    if found == nil || found == "KOI8-R", isCapitalCyrillic(sample) { return "WINDOWS-1251" }
    guard let found else { return nil }
    return isSame(sample, found, "WINDOWS-1252") ? nil : found
  }

  /// Whether a text is Russian in capitals in Windows-1251, whose bytes are small letters in KOI8-R: letters with the
  /// highest bit stand together, a third of them are the six most frequent ones, and KOI8-R would have fewer of these.
  private static func isCapitalCyrillic(_ sample: [UInt8]) -> Bool {
    let windows: [UInt8] = [0xCE, 0xC5, 0xC0, 0xC8, 0xCD, 0xD2]
    let koi: [UInt8] = [0xCF, 0xC5, 0xC1, 0xC9, 0xCE, 0xD4]
    var (letters, neighbours, inWindows, inKOI) = (0, 0, 0, 0)
    var previous: UInt8 = 0
    for byte in sample {
      if byte >= 0xC0 {
        letters += 1
        if previous >= 0xC0 { neighbours += 1 }
        if windows.contains(byte) { inWindows += 1 }
        if koi.contains(byte) { inKOI += 1 }
      }
      previous = byte
    }
    return neighbours * 2 > letters && inWindows * 3 > letters && inWindows > inKOI
  }

  /// Whether the beginning of a text means the same in two encodings.
  private static func isSame(_ sample: [UInt8], _ one: String, _ other: String) -> Bool {
    guard var one = try? TextDecoder(one), var other = try? TextDecoder(other) else { return false }
    var texts: (one: [UInt8], other: [UInt8]) = ([], [])
    guard (try? one.decode(sample, into: &texts.one)) != nil,
      (try? other.decode(sample, into: &texts.other)) != nil
    else { return false }
    return texts.one == texts.other
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

  /// The characters beyond ASCII of a text in GB18030.
  private struct ChineseCounts {
    /// Those of GB 2312, full-width punctuation and kana among them.
    var common = 0
    var others = 0
    var kana = 0
    /// The frequent characters whose pinyin begins with one of the last letters, which no Korean text has, and the rare
    /// ones.
    var (late, rare) = (0, 0)

    /// Whether most characters are common ones.
    var isPlausible: Bool { common > 0 && common >= others }
    /// Whether they are distributed as in Chinese, and as in no text of the encodings that share their bytes: Big5,
    /// EUC-JP, EUC-KR and those of single bytes.
    var isCertain: Bool {
      common > 0 && common >= others * 9 && kana * 10 < common && late * 10 >= common && rare * 3 <= common
    }
  }

  /// Counts the characters of a text in GB18030; `nil` if the bytes are not valid in that encoding.
  private static func chinese(_ sample: [UInt8]) -> ChineseCounts? {
    var counts = ChineseCounts()
    var index = 0
    while index < sample.count {
      let lead = sample[index]
      if lead < 0x80 {
        index += 1
        continue
      }
      guard index + 1 < sample.count else { break }
      let trail = sample[index + 1]
      guard lead != 0x80, lead != 0xFF else { return nil }
      if (0x30...0x39).contains(trail) {
        // A character of four bytes.
        guard index + 3 < sample.count else { break }
        guard (0x81...0xFE).contains(sample[index + 2]), (0x30...0x39).contains(sample[index + 3]) else { return nil }
        counts.others += 1
        index += 4
        continue
      }
      guard trail >= 0x40, trail != 0x7F, trail != 0xFF else { return nil }
      // GB 2312: its characters and full-width punctuation. Two letters with accents inside a word are not Chinese.
      let isInWord =
        index > 0 && index + 2 < sample.count && isLetter(sample[index - 1]) && isLetter(sample[index + 2])
      let isCommon = (0xB0...0xF7).contains(lead) || (0xA1...0xA5).contains(lead)
      if isCommon, trail >= 0xA1, !isInWord { counts.common += 1 } else { counts.others += 1 }
      switch lead {
      case 0xA4, 0xA5: counts.kana += 1
      case 0xC9...0xD7: counts.late += 1
      case 0xD8...0xF7: counts.rare += 1
      default: break
      }
      index += 2
    }
    return counts
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
