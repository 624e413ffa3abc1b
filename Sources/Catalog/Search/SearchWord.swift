import Bytes
import SearchText

/// How much has to be allowed for the words of a search to match. Earlier stages come first in the results.
enum SearchStage: Int, CaseIterable, Comparable {
  /// The whole search is the barcode or SKU.
  case code
  /// Each word is a word of the product; the last one may be the beginning of one.
  case words
  /// Words may be parts of words, and how Chinese names are read.
  case parts
  /// Each word may have one typing mistake, and one of a single character may be left out. Only if nothing was found
  /// before.
  case typos

  static func < (a: SearchStage, b: SearchStage) -> Bool { a.rawValue < b.rawValue }
}

/// A word of a search.
struct SearchWord {
  /// The folded word as UTF-8.
  let bytes: [UInt8]
  let kind: FoldedToken.Kind
  /// Whether it is the last word, which may be incomplete.
  let isLast: Bool
  /// Whether it is a barcode as far as it goes: letters of a code in upper case.
  let code: [UInt8]
  /// Whether it has only the letters a to z, which may be how a Chinese name is read.
  let isLatin: Bool
  let hasDigit: Bool
  let digitCount: Int

  init(_ bytes: [UInt8], _ kind: FoldedToken.Kind, isLast: Bool) {
    self.bytes = bytes
    self.kind = kind
    self.isLast = isLast
    code = bytes.map(CodeKey.upper)
    isLatin = bytes.allSatisfy { (0x61...0x7A).contains($0) } && bytes.count <= Pinyin.mostLetters
    digitCount = bytes.count { (0x30...0x39).contains($0) }
    hasDigit = digitCount > 0
  }

  /// The fewest bytes of a part of a word or code that can be found inside it.
  static let shortestPart = 3
  /// The fewest characters of a typed word that may have a typing mistake.
  static let shortestTypo = 2
  /// The fewest characters of the beginning of a barcode that counts as much as a word.
  static let longCode = 6
  /// The fewest characters of the beginning of a barcode that is found.
  static let shortestCode = 3
  /// The most bytes of a run of Chinese, Japanese or Korean whose pairs of characters are looked for one by one.
  static let longestRunInPairs = 192
  /// The fewest characters of a part of a barcode that is found inside it.
  static let shortestCodePart = 4

  var canBePart: Bool { bytes.count >= Self.shortestPart }
  var canBeCode: Bool { kind == .word && hasDigit && bytes.count >= Self.shortestCode }
  var canBeCodePart: Bool { canBeCode && bytes.count >= Self.shortestCodePart }

  /// Whether a text may have it in parts: a run of Chinese, Japanese or Korean of at least three characters.
  var canBeDivided: Bool { kind == .cjk && bytes.count <= Self.longestRunInPairs && characters.count >= 3 }

  /// Whether it is a letter or digit that may not have been meant: without it the search has one typing mistake less. A
  /// search of such words alone means them.
  var canBeStray: Bool { kind == .word && characters.count == 1 }

  /// The bytes by which the word is looked up: the beginning of a word that the index has in parts.
  var text: ArraySlice<UInt8> { bytes.prefix(SearchTerm.longestWord / 2) }
  var isCut: Bool { bytes.count > SearchTerm.longestWord / 2 }

  /// The characters as ranges of bytes.
  var characters: [Range<Int>] { Self.characters(bytes.rawSpan) }

  static func characters(_ text: RawSpan) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var offset = 0
    while offset < text.byteCount {
      let count = UTF8Decoding.scalar(at: offset, in: text).byteCount
      ranges.append(offset..<offset + count)
      offset += count
    }
    return ranges
  }

  /// The words of a search.
  static func words(of text: String) -> [SearchWord] {
    var folder = TextFolder()
    // A name with × has its numbers as words, and joined by x. In a search, × is the letter that others type for it.
    let typed = String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "×" ? "x" : $0 }))
    folder.fold(Array(typed.utf8).rawSpan)
    var words: [SearchWord] = []
    for (number, token) in folder.tokens.prefix(mostWords).enumerated() {
      let isLast = number == folder.tokens.count - 1
      words.append(SearchWord(folder.bytes(of: token).copied(), token.kind, isLast: isLast))
    }
    return words
  }

  /// The number of words of a search that count.
  static let mostWords = 32
}
