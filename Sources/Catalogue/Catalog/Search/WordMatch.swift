import Bytes
import SearchText

/// A text of a product, folded, in which words of a search are looked for.
struct FoldedField {
  var folder = TextFolder()
  /// The same text with its umlauts as two letters, if it has any and was folded for that. Its tokens have the same
  /// numbers.
  private var expanded = TextFolder()
  private var hasUmlauts = false
  /// The characters of the runs of Chinese, Japanese and Korean, and how they are read; by token.
  private var readings: [Int: [Pinyin.Readings]] = [:]

  /// Folds a text. Its result replaces the one before.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - tracking: Whether to record where its characters are.
  ///   - umlauts: Whether words are looked for whose ``SearchWord/other`` may match an umlaut of the text.
  mutating func fold(_ text: RawSpan, tracking: Bool, umlauts: Bool) {
    folder.fold(text, tracking: tracking)
    hasUmlauts = false
    if umlauts, let letters = Umlauts.expanded(text) {
      expanded.fold(letters.rawSpan)
      hasUmlauts = expanded.tokens.count == folder.tokens.count
    }
    if !readings.isEmpty { readings = [:] }
  }

  /// How the characters of a run are read.
  mutating func readings(ofToken number: Int) -> [Pinyin.Readings] {
    if let cached = readings[number] { return cached }
    let folder = folder
    let run = folder.bytes(of: folder.tokens[number])
    var list: [Pinyin.Readings] = []
    var offset = 0
    while offset < run.byteCount {
      let (scalar, count) = UTF8Decoding.scalar(at: offset, in: run)
      list.append(Pinyin.readings(of: scalar))
      offset += count
    }
    readings[number] = list
    return list
  }
}

/// How a word of a search matches a text.
struct WordMatch {
  /// What had to be allowed.
  let stage: SearchStage
  /// How well it fits, 0 to 1.
  var quality: Double
  /// The number of the first token that matches.
  let token: Int
  /// The bytes that match, among the folded bytes of the text. If it is divided, the first ones of them.
  let range: Range<Int>
  /// Whether the word is a run of which the text has parts that are not neighbours.
  var isDivided = false
  /// Whether the word is joined with its neighbours to a number with letters, which is the token: `dn` and `50` of DN50.
  var isJoined = false
  /// Whether the word is a part of a number that is spelled apart, and matches the beginning of another word only: `dn 50`
  /// is no DN 500.
  var isOtherNumber = false

  func isBetter(than other: WordMatch?) -> Bool {
    guard let other else { return true }
    return stage != other.stage ? stage < other.stage : quality > other.quality
  }
}

extension FoldedField {
  /// Returns the best match of a word; `nil` if it does not match in any of the stages up to `limit`.
  ///
  /// - Parameters:
  ///   - word: The word.
  ///   - limit: The last stage.
  ///   - used: The parts of the folded text that other words of the search match. Tokens among them do not match the
  ///     beginning or another part of this word, as one word of the text is not two of the search. Whole words do:
  ///     the search may repeat one.
  mutating func match(_ word: SearchWord, upTo limit: SearchStage, used: [Range<Int>] = []) -> WordMatch? {
    var best: WordMatch?
    for number in folder.tokens.indices {
      if let match = match(word, token: number, upTo: limit, used), match.isBetter(than: best) { best = match }
    }
    if limit >= .forms, best?.stage != .words, let match = matchForm(word, limit, used), match.isBetter(than: best) {
      best = match
    }
    if best == nil, limit >= .parts, word.canBeDivided { return matchPairs(word) }
    if word.hasDigit, best?.stage != .words, let match = matchChain(word, upTo: limit), match.isBetter(than: best) {
      best = match
    }
    let isOpen = best?.stage != .words || word.hasBoundary && (best?.quality ?? 0) < Self.separatedQuality
    if isOpen, let match = matchSeparated(word, upTo: limit), match.isBetter(than: best) { best = match }
    return best
  }

  private mutating func match(
    _ word: SearchWord, token number: Int, upTo limit: SearchStage, _ used: [Range<Int>]
  ) -> WordMatch? {
    let token = folder.tokens[number]
    if token.kind == .cjk, word.kind == .word {
      return limit >= .parts && word.isLatin ? matchReading(word, token: number) : nil
    }
    if token.kind != word.kind { return nil }
    let text = folder.bytes(of: token)
    let start = token.range.lowerBound
    func found(_ stage: SearchStage, _ quality: Double, _ range: Range<Int>) -> WordMatch {
      WordMatch(
        stage: stage, quality: quality, token: number, range: start + range.lowerBound..<start + range.upperBound)
    }
    let own = word.bytes.rawSpan
    let count = own.byteCount
    if token.kind == .cjk {
      if let place = text.firstPlace(of: own) {
        return found(.words, 0.8 + 0.2 * Double(count) / Double(text.byteCount), place..<place + count)
      }
      return nil
    }
    if text.byteCount == count, text.begins(with: own) { return found(.words, 1, 0..<count) }
    for join in word.joins where join.isNumber && text.byteCount == join.bytes.count {
      guard text.begins(with: join.bytes.rawSpan) else { continue }
      var match = found(.words, Self.separatedQuality, 0..<text.byteCount)
      match.isJoined = true
      return match
    }
    let isUsed = !used.isEmpty && used.contains { $0.overlaps(token.range) }
    if !isUsed, text.begins(with: own) {
      let share = Double(count) / Double(text.byteCount)
      // Of `1 l` the letter is rather a unit than the beginning of a word.
      let isUnit = count <= SearchWord.longestUnit && word.joins.contains(where: \.isNumber)
      if word.isLast {
        var match = found(.words, (isUnit ? 0.6 : 1) * (0.6 + 0.3 * share), 0..<count)
        match.isOtherNumber = word.joins.contains(where: \.isNumber)
        return match
      }
      if limit < .parts { return nil }
      if word.isBeforePoint, SearchWord.areDigits(text.u8(at: count - 1), text.u8(at: count)) {
        return limit < .typos ? nil : found(.typos, Self.otherNumberQuality, 0..<text.byteCount)
      }
      return found(.parts, 0.5 + 0.3 * share, 0..<count)
    }
    if limit < .parts { return nil }
    for join in word.joins where text.begins(with: join.bytes.rawSpan) {
      guard join.isLast || text.byteCount == join.bytes.count else { continue }
      return found(.parts, 0.85 * Double(join.bytes.count) / Double(text.byteCount), 0..<join.bytes.count)
    }
    if isUsed { return nil }
    if word.canBePart, let place = text.firstPlace(of: own) {
      return found(.parts, 0.3 + 0.3 * Double(count) / Double(text.byteCount), place..<place + count)
    }
    if limit < .typos || !word.canHaveTypo { return nil }
    guard OneEdit.matches(own, text) else { return nil }
    // Another number is mostly another product: a size, a model.
    let isOtherNumber = text.digits != own.digits
    return found(.typos, isOtherNumber ? Self.otherNumberQuality : 0.5, 0..<text.byteCount)
  }

  /// The quality of a word that is another number than the one of the text.
  private static let otherNumberQuality = 0.2
  /// The quality of a word that is another number with the same digits, such as 15 for `1.5`: more than that of `1`.
  private static let sameDigitsQuality = 0.3

  /// Whether digits meet between a token and the one before it, so that both together are another number than the text
  /// has: 15 for `1.5` and `1,5`, 12 for `1/2`. A hyphen divides one number, and so does what stands before three
  /// digits: `1,000`.
  private func isOtherNumber(_ number: Int) -> Bool {
    let (token, before) = (folder.tokens[number], folder.bytes(of: folder.tokens[number - 1]))
    let text = folder.bytes(of: token)
    guard SearchWord.areDigits(before.u8(at: before.byteCount - 1), text.u8(at: 0)) else { return false }
    if token.isJoined, !token.isAfterPoint { return false }
    let (group, leading) = (text.digitCountAtStart, before.digitCountAtEnd)
    let isThousands = group == 3 && leading <= 3 && before.u8(at: before.byteCount - leading) != UInt8(ascii: "0")
    return !isThousands
  }

  /// Matches the singular or plural of a word, and words whose umlauts are spelled in the other way: `muesli` with Müsli.
  private func matchForm(_ word: SearchWord, _ limit: SearchStage, _ used: [Range<Int>]) -> WordMatch? {
    if word.nouns.isEmpty && word.expanded == nil { return nil }
    var best: WordMatch?
    for (number, token) in folder.tokens.enumerated() where token.kind == .word {
      let text = folder.bytes(of: token)
      if word.nouns.contains(where: { text.hasSameBytes(as: $0.rawSpan) }) {
        let match = WordMatch(stage: .forms, quality: 0.8, token: number, range: token.range)
        if match.isBetter(than: best) { best = match }
      }
      let isUsed = used.contains { $0.overlaps(token.range) }
      if let (stage, quality) = matchUmlauts(word, token: number, upTo: limit, isUsed: isUsed) {
        let match = WordMatch(stage: stage, quality: quality, token: number, range: token.range)
        if match.isBetter(than: best) { best = match }
      }
    }
    return best
  }

  /// Matches a token with a word, both with their umlauts as two letters.
  private func matchUmlauts(
    _ word: SearchWord, token number: Int, upTo limit: SearchStage, isUsed: Bool
  ) -> (SearchStage, quality: Double)? {
    guard let letters = word.expanded else { return nil }
    let spelled = letters.rawSpan
    let text = hasUmlauts ? expanded.bytes(of: expanded.tokens[number]) : folder.bytes(of: folder.tokens[number])
    let share = Double(spelled.byteCount) / Double(text.byteCount)
    if text.hasSameBytes(as: spelled) { return (.forms, 0.9) }
    if isUsed { return nil }
    if text.begins(with: spelled), word.isLast || limit >= .parts {
      return word.isLast ? (.forms, 0.9 * (0.6 + 0.3 * share)) : (.parts, 0.9 * (0.5 + 0.3 * share))
    }
    if limit < .parts || spelled.byteCount <= SearchWord.shortestSpelledPart { return nil }
    return text.firstPlace(of: spelled) == nil ? nil : (.parts, 0.9 * (0.3 + 0.3 * share))
  }

  /// Matches a run with texts that have it in parts of at least two characters: `格力挂机` with 格力空调挂机.
  private func matchPairs(_ word: SearchWord) -> WordMatch? {
    let places = places(ofPairsOf: word)
    guard let first = places.first ?? nil, let share = Self.share(ofPairs: places.map { $0 != nil }) else { return nil }
    return WordMatch(stage: .parts, quality: 0.4 * share, token: first.token, range: first.range, isDivided: true)
  }

  /// Returns the share of the pairs of neighbouring characters of a run that texts have; `nil` if a character is in
  /// none of these.
  static func share(ofPairs pairs: [Bool]) -> Double? {
    guard pairs.first == true, pairs.last == true else { return nil }
    for (pair, next) in zip(pairs, pairs.dropFirst()) where !pair && !next { return nil }
    return Double(pairs.count { $0 }) / Double(pairs.count)
  }

  /// Returns whether the text has each pair of neighbouring characters of a run.
  func pairs(of word: SearchWord) -> [Bool] { places(ofPairsOf: word).map { $0 != nil } }

  /// Returns the bytes of the pairs of a run that the text has.
  func rangesOfPairs(_ word: SearchWord) -> [Range<Int>] { places(ofPairsOf: word).compactMap { $0?.range } }

  /// Where the text has a pair of characters: the number of its token, and the bytes.
  private typealias PairPlace = (token: Int, range: Range<Int>)

  /// Returns where the text has each pair of neighbouring characters of a run; `nil` for a pair that it does not have.
  private func places(ofPairsOf word: SearchWord) -> [PairPlace?] {
    let characters = word.characters
    return zip(characters, characters.dropFirst()).map { first, second in
      let pair = word.bytes.rawSpan.extracting(first.lowerBound..<second.upperBound)
      for (number, token) in folder.tokens.enumerated() where token.kind == .cjk {
        guard let place = folder.bytes(of: token).firstPlace(of: pair) else { continue }
        let start = token.range.lowerBound + place
        return (number, start..<start + pair.byteCount)
      }
      return nil
    }
  }

  /// Returns the bytes that match, for a match of a word with this text.
  func ranges(of match: WordMatch, _ word: SearchWord) -> [Range<Int>] {
    match.isDivided ? rangesOfPairs(word) : [match.range]
  }

  /// Matches joined tokens as one word: `kfr35gw` with KFR-35GW/N1.
  private func matchChain(_ word: SearchWord, upTo limit: SearchStage) -> WordMatch? {
    let tokens = folder.tokens
    var best: WordMatch?
    var first = 0
    while first < tokens.count {
      var last = first
      while last + 1 < tokens.count, tokens[last + 1].isJoined, tokens[last + 1].kind == .word { last += 1 }
      defer { first = last + 1 }
      if last == first || tokens[first].kind != .word { continue }
      // The folded tokens follow one another without what joins them.
      let range = tokens[first].range.lowerBound..<tokens[last].range.upperBound
      let text = folder.bytes.extracting(range)
      guard text.byteCount <= SearchTerm.longestWord, let place = text.firstPlace(of: word.bytes.rawSpan) else {
        continue
      }
      let share = Double(word.bytes.count) / Double(text.byteCount)
      let isWhole = place == 0 && (word.isLast || text.byteCount == word.bytes.count)
      if !isWhole, limit < .parts || place > 0 && !word.canBePart { continue }
      let start = range.lowerBound + place
      let end = start + word.bytes.count
      let isOther = (first + 1...last).contains { number in
        start < tokens[number].range.lowerBound && tokens[number].range.lowerBound < end && isOtherNumber(number)
      }
      if isOther {
        let match = WordMatch(stage: .typos, quality: Self.sameDigitsQuality, token: first, range: start..<end)
        if limit == .typos, match.isBetter(than: best) { best = match }
        continue
      }
      let match = WordMatch(
        stage: isWhole ? .words : .parts, quality: (isWhole ? 0.6 : 0.3) + 0.3 * share, token: first,
        range: start..<end)
      if match.isBetter(than: best) { best = match }
    }
    return best
  }

  /// The quality of a word with a number and letters that a text has with a blank or a sign between these.
  private static let separatedQuality = 0.95

  /// Matches neighbouring tokens that are the word together: `dn50` with DN 50, as well as a word, `cocacola` with
  /// Coca-Cola and, less well, Coca Cola, `lays` with Lay's. The last token may be longer than the last word of the
  /// search.
  private func matchSeparated(_ word: SearchWord, upTo limit: SearchStage) -> WordMatch? {
    if !word.canBeSeparated || limit < .parts && !word.hasBoundary { return nil }
    let tokens = folder.tokens
    var best: WordMatch?
    for first in tokens.indices where tokens[first].kind == .word {
      if let match = matchSeparated(word, from: first), match.stage <= limit, match.isBetter(than: best) {
        best = match
      }
    }
    return best
  }

  /// Matches tokens from one on.
  private func matchSeparated(_ word: SearchWord, from first: Int) -> WordMatch? {
    let tokens = folder.tokens
    var last = first
    var count = 0
    var (isLoose, isNumber, isOther) = (false, false, false)
    var previous: UInt8 = 0
    while count < word.bytes.count, last < tokens.count, tokens[last].kind == .word {
      let text = folder.bytes(of: tokens[last])
      let rest = word.bytes.count - count
      let isBeginning = text.byteCount > rest
      if isBeginning, last == first || !word.isLast || rest < SearchWord.shortestBeginning { return nil }
      let length = min(rest, text.byteCount)
      guard word.bytes.rawSpan.slice(count, length).hasSameBytes(as: text.slice(0, length)) else { return nil }
      if last > first {
        let isBoundary = SearchWord.isBoundary(previous, text.u8(at: 0))
        isNumber = isNumber || isBoundary
        isOther = isOther || isOtherNumber(last)
        isLoose = isLoose || !tokens[last].isJoined && !isBoundary
      }
      previous = text.u8(at: text.byteCount - 1)
      count += length
      last += 1
      guard count == word.bytes.count else { continue }
      if last == first + 1 { return nil }
      let start = tokens[first].range.lowerBound
      let end = tokens[last - 1].range.lowerBound + length
      if isOther {
        return WordMatch(stage: .typos, quality: Self.sameDigitsQuality, token: first, range: start..<end)
      }
      let isExact = isNumber && !isLoose && !isBeginning
      let quality = isExact ? Self.separatedQuality : isBeginning ? 0.6 : isLoose ? 0.7 : 0.85
      return WordMatch(stage: isExact ? .words : .parts, quality: quality, token: first, range: start..<end)
    }
    return nil
  }

  /// Matches letters with how a run of Chinese characters is read, or with the initials of that.
  private mutating func matchReading(_ word: SearchWord, token number: Int) -> WordMatch? {
    let readings = readings(ofToken: number)
    let letters = word.bytes
    for first in readings.indices {
      if word.bytes.count >= 2, let end = Self.initialsEnd(letters, readings, first) {
        return found(first..<end, 0.45, number)
      }
      if let end = Self.lettersEnd(letters[...], readings, first) { return found(first..<end, 0.5, number) }
    }
    return nil
  }

  private func found(_ characters: Range<Int>, _ quality: Double, _ number: Int) -> WordMatch {
    let token = folder.tokens[number]
    let all = SearchWord.characters(folder.bytes(of: token))
    let start = token.range.lowerBound
    let range = start + all[characters.lowerBound].lowerBound..<start + all[characters.upperBound - 1].upperBound
    return WordMatch(stage: .parts, quality: quality, token: number, range: range)
  }

  private static func initialsEnd(_ letters: [UInt8], _ readings: [Pinyin.Readings], _ first: Int) -> Int? {
    guard first + letters.count <= readings.count else { return nil }
    for (offset, letter) in letters.enumerated()
    where !readings[first + offset].contains(where: { $0.initial == letter }) {
      return nil
    }
    return first + letters.count
  }

  /// Returns the end of the characters, from one on, whose readings begin with `letters`.
  private static func lettersEnd(_ letters: ArraySlice<UInt8>, _ readings: [Pinyin.Readings], _ first: Int) -> Int? {
    guard first < readings.count else { return nil }
    for reading in readings[first] {
      let syllable = Array(reading.letters.utf8)
      if syllable.count >= letters.count {
        if isSame(letters, syllable.prefix(letters.count)) { return first + 1 }
      } else if isSame(letters.prefix(syllable.count), syllable[...]),
        let end = lettersEnd(letters.dropFirst(syllable.count), readings, first + 1)
      {
        return end
      }
    }
    return nil
  }

  /// Compares letters as they are typed with those of a syllable: ü is typed as v or u.
  private static func isSame(_ typed: ArraySlice<UInt8>, _ letters: ArraySlice<UInt8>) -> Bool {
    zip(typed, letters).allSatisfy { $0 == $1 || $1 == UInt8(ascii: "v") && $0 == UInt8(ascii: "u") }
  }
}

extension SearchWord {
  /// Whether a word of the product with one more, one fewer, one other or two swapped characters is taken for this one.
  var canHaveTypo: Bool {
    kind == .word && (Self.shortestTypo...SearchTerm.longestWord).contains(bytes.count)
  }
}

extension RawSpan {
  /// The digits, whatever stands between them.
  fileprivate var digits: [UInt8] {
    var digits: [UInt8] = []
    for index in 0..<byteCount where (0x30...0x39).contains(u8(at: index)) { digits.append(u8(at: index)) }
    return digits
  }

  /// The number of digits before the first byte that is none.
  fileprivate var digitCountAtStart: Int {
    var count = 0
    while count < byteCount, (0x30...0x39).contains(u8(at: count)) { count += 1 }
    return count
  }

  /// The number of digits after the last byte that is none.
  fileprivate var digitCountAtEnd: Int {
    var count = 0
    while count < byteCount, (0x30...0x39).contains(u8(at: byteCount - 1 - count)) { count += 1 }
    return count
  }

  /// Returns the first place where these bytes contain `part`, which is not empty.
  func firstPlace(of part: RawSpan) -> Int? {
    let count = part.byteCount
    if count == 0 || count > byteCount { return nil }
    let first = part.u8(at: 0)
    for start in 0...(byteCount - count)
    where u8(at: start) == first && slice(start, count).hasSameBytes(as: part) { return start }
    return nil
  }
}
