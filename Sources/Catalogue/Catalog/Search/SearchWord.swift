import Bytes
import SearchText

/// How much has to be allowed for the words of a search to match. Earlier stages come first in the results.
enum SearchStage: Int, CaseIterable, Comparable {
  /// The whole search is the barcode, another code or the SKU.
  case code
  /// Each word is a word of the product; the last one may be the beginning of one.
  case words
  /// A word may be the singular or plural of one, have an umlaut in its other spelling, and `y` and `e` between words may
  /// be another *and*, or missing.
  case forms
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
  /// Whether it has only the letters a to z, which may be how a Chinese name is read.
  let isLatin: Bool
  let hasDigit: Bool
  let digitCount: Int
  /// Whether a number and letters meet in it, between which some write a blank: `dn50`.
  let hasBoundary: Bool
  /// Whether it ends with a digit, and a point or slash and another digit follow. A longer number is another one then:
  /// `3x1.5` is not 3x15, and `1/2` not 12.
  let isBeforePoint: Bool
  /// Whether it is *and* between two words of the search, in one of the languages of `Conjunctions`.
  let isConjunction: Bool
  private let other: OtherForms

  /// What else the word may be. It is one reference, as words are copied for each product.
  private final class OtherForms {
    let code: [UInt8]
    let joins: [Join]
    let expanded: [UInt8]?
    var nouns: [[UInt8]] = []

    init(code: [UInt8], joins: [Join], expanded: [UInt8]?) {
      self.code = code
      self.joins = joins
      self.expanded = expanded
    }
  }

  /// The word as a part of a barcode: with letters in upper case.
  var code: [UInt8] { other.code }
  /// Neighbouring words of the search without anything between them, this one among them, where numbers and letters
  /// meet: `500ml` of `500 ml`, and `m8x`, `x20` and `m8x20` of `m8 x 20`; where an `x` is left out: `m8x20` of `m8 20`;
  /// or where a single letter follows: `reeses` of `reese's`.
  var joins: [Join] { other.joins }
  /// The word with its umlauts as two letters, as in `muesli`, if it has an umlaut or two letters that may be one.
  var expanded: [UInt8]? { other.expanded }
  /// The singular and the plural of the word. Empty until they are made.
  var nouns: [[UInt8]] {
    get { other.nouns }
    nonmutating set { other.nouns = newValue }
  }

  /// Neighbouring words as one.
  struct Join {
    /// The words together.
    let bytes: [UInt8]
    /// Whether the last word of the search is the last of them, which may be incomplete.
    let isLast: Bool
    /// Whether all that meets in it are numbers and letters.
    let isNumber: Bool
  }

  init(
    _ bytes: [UInt8], _ kind: FoldedToken.Kind, isLast: Bool, joins: [Join] = [], expanded: [UInt8]? = nil,
    isConjunction: Bool = false, isBeforePoint: Bool = false
  ) {
    self.bytes = bytes
    other = OtherForms(code: bytes.map(CodeKey.upper), joins: joins, expanded: expanded)
    self.isConjunction = isConjunction
    self.isBeforePoint = isBeforePoint
    self.kind = kind
    self.isLast = isLast
    isLatin = bytes.allSatisfy { (0x61...0x7A).contains($0) } && bytes.count <= Pinyin.mostLetters
    digitCount = bytes.count { (0x30...0x39).contains($0) }
    hasDigit = digitCount > 0
    canBeStray = kind == .word && Self.characters(bytes.rawSpan).count == 1
    hasBoundary = zip(bytes, bytes.dropFirst()).contains { Self.isBoundary($0, $1) }
  }

  /// The fewest bytes of a part of a word or code that can be found inside it.
  static let shortestPart = 3
  /// The fewest bytes of a word with an umlaut that is looked for inside of words in its other spelling. Shorter ones, such
  /// as `ouf` for `oeuf`, are in too many.
  static let shortestSpelledPart = 4
  /// The fewest characters of a typed word that may have a typing mistake.
  static let shortestTypo = 2
  /// The fewest characters of the beginning of a barcode that counts as much as a word.
  static let longCode = 6
  /// The fewest characters of the beginning of a barcode that is found.
  static let shortestCode = 3
  /// The most bytes of a run of Chinese, Japanese or Korean whose pairs of characters are looked for one by one.
  static let longestRunInPairs = 192
  /// The most bytes of a word that may be several words of a text.
  static let longestSeparated = 32
  /// The fewest bytes of the beginning of a word that ends what may be several words.
  static let shortestBeginning = 2
  /// The most letters of a word after a number that is taken for a unit: l, ml, kg.
  static let longestUnit = 2
  /// The fewest characters of a part of a barcode that is found inside it.
  static let shortestCodePart = 4

  /// Whether a text may have it as several words, as `kitkat` in Kit-Kat.
  var canBeSeparated: Bool {
    kind == .word && bytes.count >= (hasDigit ? 2 : Self.shortestPart) && bytes.count <= Self.longestSeparated
  }

  /// Whether products need not have the word at all: *and* of several letters. A single letter may mean something else,
  /// as in `vitamin e capsules`.
  var isOptional: Bool { isConjunction && bytes.count > 1 }

  /// The other ways to write the umlauts of the word, as `muesli` and `musli`.
  var spellings: [[UInt8]] {
    guard let expanded else { return [] }
    return ([expanded] + Umlauts.contractions(of: expanded)).filter { $0 != bytes }
  }

  var canBePart: Bool { bytes.count >= Self.shortestPart }
  var canBeCode: Bool { kind == .word && hasDigit && bytes.count >= Self.shortestCode }
  var canBeCodePart: Bool { canBeCode && bytes.count >= Self.shortestCodePart }

  /// Whether a text may have it in parts: a run of Chinese, Japanese or Korean of at least three characters.
  var canBeDivided: Bool { kind == .cjk && bytes.count <= Self.longestRunInPairs && characters.count >= 3 }

  /// Whether it is a letter or digit that may not have been meant: without it the search has one typing mistake less. A
  /// search of such words alone means them.
  let canBeStray: Bool

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
    let utf8 = typed(text)
    folder.fold(utf8.rawSpan)
    let tokens = Array(folder.tokens.prefix(mostWords))
    let texts = tokens.map { folder.bytes(of: $0).copied() }
    let spelled = expanded(utf8, texts, tokenCount: folder.tokens.count)
    return tokens.indices.map { index in
      let isLast = index == folder.tokens.count - 1
      let next = isLast || index + 1 == tokens.count ? nil : tokens[index + 1]
      return SearchWord(
        texts[index], tokens[index].kind, isLast: isLast, joins: joins(of: index, tokens, texts),
        expanded: spelled[index],
        isConjunction: index > 0 && isConjunction(texts[index], tokens[index], isLast: isLast, next: next),
        isBeforePoint: next?.isAfterPoint == true && areDigits(texts[index].last ?? 0, texts[index + 1].first ?? 0))
    }
  }

  /// The text of a search as it is folded. Its characters are at the same places.
  static func typed(_ text: String) -> [UInt8] {
    // A name with × has its numbers as words, and joined by x. In a search, × is the letter that others type for it.
    Array(String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "×" ? "x" : $0 })).utf8)
  }

  /// Whether a word that is not the first of a search is *and*. A single letter stands alone then, and is not the last
  /// word, which may be the beginning of one.
  private static func isConjunction(
    _ text: [UInt8], _ token: FoldedToken, isLast: Bool, next: FoldedToken?
  ) -> Bool {
    guard Conjunctions.isWord(text.rawSpan) else { return false }
    return text.count > 1 || !isLast && !token.isJoined && next?.isJoined != true
  }

  /// Returns the words of a search with their umlauts as two letters; `nil` for those that have none.
  private static func expanded(_ typed: [UInt8], _ texts: [[UInt8]], tokenCount: Int) -> [[UInt8]?] {
    var spelled = texts
    if let expanded = Umlauts.expanded(typed.rawSpan) {
      var folder = TextFolder()
      folder.fold(expanded.rawSpan)
      // Letters are replaced by letters, so the words are the same ones.
      if folder.tokens.count == tokenCount {
        spelled = folder.tokens.prefix(mostWords).map { folder.bytes(of: $0).copied() }
      }
    }
    return zip(texts, spelled).map { text, spelled in
      (text != spelled || Umlauts.mayHave(text)) && spelled.count <= NounForms.longest ? spelled : nil
    }
  }

  /// The most words that are joined to a number with letters, as in `10 x 20 x 30 cm`, and to something else.
  private static let mostJoined = (number: 6, other: 3)

  /// Returns a word with its neighbours, where one ends with a digit and the other begins with none, or the other way
  /// round, or the second is a single letter. Digits that meet are two numbers. They are joined by the `x` that was
  /// left out where they belong to letters, as in `m8 20`.
  private static func joins(of index: Int, _ tokens: [FoldedToken], _ texts: [[UInt8]]) -> [Join] {
    var joins: [Join] = []
    for first in max(0, index - mostJoined.number + 1)...index {
      var bytes: [UInt8] = []
      var isNumber = true
      for last in first..<min(tokens.count, first + mostJoined.number) {
        if tokens[last].kind != .word { break }
        if last > first {
          let (before, after) = (texts[last - 1].last ?? 0, texts[last].first ?? 0)
          let isSize = !tokens[last].isJoined && areDigits(before, after) && bytes.contains { !isDigit($0) }
          if isSize {
            bytes.append(UInt8(ascii: "x"))
          } else if !isBoundary(before, after) {
            let areNumbers = areDigits(before, after) && (!tokens[last].isJoined || tokens[last].isAfterPoint)
            if areNumbers || texts[last].count > 1 { break }
            isNumber = false
          }
          if !isNumber, last - first >= mostJoined.other { break }
        }
        bytes += texts[last]
        if bytes.count > longestSeparated { break }
        if last > first, last >= index {
          joins.append(Join(bytes: bytes, isLast: last == tokens.count - 1, isNumber: isNumber))
        }
      }
    }
    return joins
  }

  /// Whether, of the last byte of a word and the first of the next one, one is a digit and the other is not: some write
  /// a blank there.
  static func isBoundary(_ before: UInt8, _ after: UInt8) -> Bool {
    isDigit(before) != isDigit(after)
  }

  /// Whether the last byte of a word and the first of the next one are digits.
  static func areDigits(_ before: UInt8, _ after: UInt8) -> Bool { isDigit(before) && isDigit(after) }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The number of words of a search that count.
  static let mostWords = 32
}
