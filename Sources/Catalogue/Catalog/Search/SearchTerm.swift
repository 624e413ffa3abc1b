import Bytes
import SearchText

/// The layout of the keys of the search index. Each begins with the byte of its kind.
///
///     word: kind · text · 0 · rank          others: kind · 0 · text · 0 · rank (rank not with pinyin)
enum SearchTerm {
  /// A word: letters and digits. Its text is what fragments are made of.
  static let word = UInt8(ascii: "w")
  /// Two neighbouring characters of a Chinese, Japanese or Korean text, or the last one of a run.
  static let pair = UInt8(ascii: "h")
  /// The letters of up to three neighbouring syllables of a Chinese text.
  static let pinyin = UInt8(ascii: "p")
  /// The initials of up to six neighbouring syllables of a Chinese text.
  static let initials = UInt8(ascii: "i")
  /// A barcode, in the index by barcode.
  static let code = UInt8(ascii: "c")

  /// The number of syllables in a key of kind ``pinyin``.
  static let syllableCount = 3
  /// The number of initials in a key of kind ``initials``.
  static let initialCount = 6
  /// The longest text of a word in bytes. A longer word is entered in parts of this length, each of which begins half a
  /// length after the one before it.
  static let longestWord = 120

  /// The ranks of a term: the lower, the better a product that is found by it. They are 1 to 12, never 0.
  enum Rank {
    static let count = 12
    /// The rank of the first token of a name, of another one, and of a token of brand or SKU.
    static let first = 1
    static let name = 5
    static let other = 9

    /// What the length of the name adds to a rank: 0 to 3.
    static func length(_ byteCount: Int) -> Int { byteCount <= 12 ? 0 : byteCount <= 20 ? 1 : byteCount <= 32 ? 2 : 3 }
  }
}

/// Writes the terms of one product after another.
struct SearchTermWriter {
  private var key = IndexKeyBuffer()
  private var length = 0
  /// Adjoining tokens, without what joins them.
  private var chain: [UInt8] = []
  private var characters: [CharacterReadings] = []

  /// The end of a character in its token, and how it is read.
  private struct CharacterReadings {
    let end: Int
    let readings: Pinyin.Readings
  }

  /// Begins a product whose name has so many bytes when it is folded.
  mutating func begin(nameByteCount: Int) { length = SearchTerm.Rank.length(nameByteCount) }

  /// Writes the terms of a folded name.
  mutating func addName(_ name: TextFolder, _ receive: (RawSpan) -> Void) {
    for (number, token) in name.tokens.enumerated() {
      // The first place of a token decides on its rank.
      if Self.hasToken(name, token, amongFirst: number, of: name) { continue }
      add(name, token, rank: (number == 0 ? SearchTerm.Rank.first : SearchTerm.Rank.name) + length, receive)
    }
    addChains(name, rank: SearchTerm.Rank.name + length, receive)
  }

  /// Writes the terms of another folded text, except those that the name has too.
  mutating func addOther(_ text: TextFolder, after name: TextFolder, _ receive: (RawSpan) -> Void) {
    for token in text.tokens where !Self.hasToken(text, token, amongFirst: name.tokens.count, of: name) {
      add(text, token, rank: SearchTerm.Rank.other + length, receive)
    }
    addChains(text, rank: SearchTerm.Rank.other + length, receive)
  }

  /// The number of tokens with which others are compared, so that a long text takes no quadratic time.
  private static let comparedCount = 32

  /// Whether one of the first `count` tokens of another text is the same. Only ``comparedCount`` of them are compared.
  private static func hasToken(
    _ text: TextFolder, _ token: FoldedToken, amongFirst count: Int, of other: TextFolder
  ) -> Bool {
    let candidates = other.tokens.span
    for index in 0..<min(count, comparedCount)
    where candidates[index].range.count == token.range.count && candidates[index].kind == token.kind
      && other.bytes(of: candidates[index]).hasSameBytes(as: text.bytes(of: token))
    { return true }
    return false
  }

  private mutating func add(_ text: TextFolder, _ token: FoldedToken, rank: Int, _ receive: (RawSpan) -> Void) {
    switch token.kind {
    case .word: addWord(text.bytes(of: token), rank: rank, receive)
    case .cjk: addRun(text.bytes(of: token), rank: rank, receive)
    }
  }

  private mutating func addWord(_ word: RawSpan, rank: Int, _ receive: (RawSpan) -> Void) {
    var start = 0
    while true {
      let count = min(word.byteCount - start, SearchTerm.longestWord)
      key.removeAll()
      key.append(SearchTerm.word)
      key.append(word.slice(start, count))
      key.append(0)
      key.append(UInt8(rank))
      receive(key.rawSpan)
      if start + count == word.byteCount { return }
      start += SearchTerm.longestWord / 2
    }
  }

  /// Writes each chain of joined words that has a digit as one word: `KFR-35GW/N1` as `kfr35gwn1`.
  private mutating func addChains(_ text: TextFolder, rank: Int, _ receive: (RawSpan) -> Void) {
    var first = 0
    let tokens = text.tokens
    while first < tokens.count {
      var last = first
      while last + 1 < tokens.count, tokens[last + 1].isJoined, tokens[last + 1].kind == .word { last += 1 }
      if last > first, tokens[first].kind == .word {
        chain.removeAll(keepingCapacity: true)
        for token in tokens[first...last] { chain.append(text.bytes(of: token)) }
        if chain.contains(where: { (0x30...0x39).contains($0) }), chain.count <= SearchTerm.longestWord {
          let word = chain
          addWord(word.rawSpan, rank: rank, receive)
        }
      }
      first = last + 1
    }
  }

  /// Writes the pairs of characters of a run, and how it is read.
  private mutating func addRun(_ run: RawSpan, rank: Int, _ receive: (RawSpan) -> Void) {
    characters.removeAll(keepingCapacity: true)
    var offset = 0
    var isRead = false
    while offset < run.byteCount {
      let (scalar, count) = UTF8Decoding.scalar(at: offset, in: run)
      offset += count
      let readings = Pinyin.readings(of: scalar)
      if !readings.isEmpty { isRead = true }
      characters.append(CharacterReadings(end: offset, readings: readings))
    }
    for index in characters.indices {
      let start = index == 0 ? 0 : characters[index - 1].end
      let end = characters[min(index + 1, characters.count - 1)].end
      key.removeAll()
      key.append(SearchTerm.pair)
      key.append(0)
      key.append(run.slice(start, end - start))
      key.append(0)
      key.append(UInt8(rank))
      receive(key.rawSpan)
    }
    if !isRead { return }
    for index in characters.indices {
      addReadings(from: index, SearchTerm.initialCount, SearchTerm.initials, receive)
      addReadings(from: index, SearchTerm.syllableCount, SearchTerm.pinyin, receive)
    }
  }

  /// Writes how the characters from one on are read: as they usually are, and with each other reading of one of them.
  private mutating func addReadings(
    from first: Int, _ limit: Int, _ kind: UInt8, _ receive: (RawSpan) -> Void
  ) {
    var end = first
    while end < characters.count, end - first < limit, !characters[end].readings.isEmpty { end += 1 }
    if end == first { return }
    writeReadings(first..<end, kind, other: nil, receive)
    for index in first..<end {
      for reading in 1..<max(1, characters[index].readings.count) {
        if kind == SearchTerm.initials,
          characters[index].readings[reading].initial == characters[index].readings[0].initial
        {
          continue
        }
        writeReadings(first..<end, kind, other: (index, reading), receive)
      }
    }
  }

  private mutating func writeReadings(
    _ range: Range<Int>, _ kind: UInt8, other: (index: Int, reading: Int)?, _ receive: (RawSpan) -> Void
  ) {
    key.removeAll()
    key.append(kind)
    key.append(0)
    for index in range {
      let syllable = characters[index].readings[other?.index == index ? other?.reading ?? 0 : 0]
      if kind == SearchTerm.initials {
        key.append(syllable.initial)
      } else {
        key.append(packed: syllable.packedLetters)
      }
    }
    receive(key.rawSpan)
  }
}
