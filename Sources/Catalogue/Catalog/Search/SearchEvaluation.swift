import Barcodes
import Bytes
import DocumentFormat
import LogStore
import SearchText

/// Decides whether a product is found by a search, and how well it fits. It is kept for many products, for its buffers.
struct SearchEvaluation {
  let words: [SearchWord]
  /// How rare each word is, above 0: a match of a rarer word counts more.
  var weights: [Double]
  /// The key of the whole search as a barcode, and as each spelling of a GTIN with other zeros at the front.
  private let codes: [[UInt8]]
  private let brand: [UInt8]?
  private let category: [UInt8]?
  private let isSetsOnly: Bool
  /// Whether a word comes more than once, as in `m&m's`. Each is then to match a word of its own.
  private let hasRepeats: Bool
  /// Whether words of one character may be left out where typing mistakes are allowed.
  private let hasStrays: Bool
  private let condition: ProductQuery?
  private var name = FoldedField()
  private var other = FoldedField()
  private var filter = TextFolder()
  private var scratch: [UInt8] = []
  /// The number of the token of the name that each word matches; -1 for a word that matches another text.
  private var tokens: [Int] = []

  init(_ text: String, _ words: [SearchWord], _ options: SearchOptions) {
    self.words = words
    weights = [Double](repeating: 1, count: words.count)
    let code = CodeKey.of(text)
    let spellings = GTIN(utf8: code.span)?.spellings.map { Array($0.utf8) }.filter { $0 != code }
    codes = code.isEmpty ? [] : [code] + (spellings ?? [])
    var folder = TextFolder()
    brand = options.brand.map { Self.folded($0, &folder) }
    category = options.category.map { Self.folded($0, &folder) }
    isSetsOnly = options.isSetsOnly
    hasRepeats = Set(words.map(\.bytes)).count < words.count
    hasStrays = words.contains { !$0.canBeStray }
    condition = options.condition
  }

  /// The keys of the whole search as a barcode; empty if it cannot be one.
  var codeKeys: [[UInt8]] { codes }

  private static func folded(_ text: String, _ folder: inout TextFolder) -> [UInt8] {
    folder.fold(Array(text.utf8).rawSpan)
    return joined(folder)
  }

  /// The words without what stands between them: `campbells` is Campbell's.
  private static func joined(_ folder: TextFolder) -> [UInt8] {
    var bytes: [UInt8] = []
    for token in folder.tokens { bytes.append(folder.bytes(of: token)) }
    return bytes
  }

  /// A product that fits.
  struct Fit {
    let stage: SearchStage
    let score: Double
  }

  /// Returns how well a product fits; `nil` if it does not in any of the stages up to `limit`, or if a filter excludes
  /// it.
  ///
  /// - Throws: `StoreError.damaged` if a text that products share does not pass its check.
  mutating func fit(_ view: borrowing ProductView, upTo limit: SearchStage) throws(StoreError) -> Fit? {
    if view.delFlag != 0 { return nil }
    if isCode(view) { return try isPermitted(view) ? Fit(stage: .code, score: shortness(view)) : nil }
    guard let fit = try matched(view, upTo: limit), try isPermitted(view) else { return nil }
    return fit
  }

  /// Whether the whole search is the barcode or the SKU of a product.
  private func isCode(_ view: borrowing ProductView) -> Bool {
    for code in codes {
      if view.record.key(CatalogSchema.productByCode.index).hasSameBytes(as: code.rawSpan) { return true }
    }
    return codes.first.map { CodeKey.equals(view.utf8.skuCode, $0.rawSpan) } ?? false
  }

  private mutating func isPermitted(_ view: borrowing ProductView) throws(StoreError) -> Bool {
    if isSetsOnly, !view.isGroupedProduct { return false }
    if let brand {
      filter.fold(try view.utf8.shared(.brand))
      if Self.joined(filter) != brand { return false }
    }
    if let category {
      filter.fold(try view.utf8.shared(.category))
      if Self.joined(filter) != category { return false }
    }
    return try condition?.matches(view, &scratch) ?? true
  }

  private func shortness(_ view: borrowing ProductView) -> Double { 1 / (1 + Double(view.utf8.name.byteCount) / 16) }

  private mutating func matched(_ view: borrowing ProductView, upTo limit: SearchStage) throws(StoreError) -> Fit? {
    name.fold(view.utf8.name, tracking: false)
    let code = view.record.key(CatalogSchema.productByCode.index)
    var stage = SearchStage.words
    var sum = 0.0
    var weight = 0.0
    tokens.removeAll(keepingCapacity: true)
    for (index, word) in words.enumerated() {
      var best = name.match(word, upTo: limit)
      let isInName = best != nil
      if best?.stage != .words || (best?.quality ?? 0) < 0.5 {
        if let match = try matchOther(word, view, code, upTo: limit), match.isBetter(than: best) { best = match }
      }
      if best == nil, limit >= .parts, word.canBeDivided { best = try matchDivided(word, view) }
      if best == nil, limit == .typos, hasStrays, word.canBeStray {
        best = WordMatch(stage: .typos, quality: 0, token: -1, range: 0..<0)
      }
      guard let best else { return nil }
      stage = max(stage, best.stage)
      let place = isInName && best.token >= 0 ? 1 / (1 + Double(best.token)) : 0
      // The word of the name that an earlier one has matched counts once.
      let isTaken = hasRepeats && isInName && best.token >= 0 && tokens.contains(best.token)
      sum += weights[index] * best.quality * (isTaken ? 0.5 : 1) * (0.75 + 0.25 * place)
      weight += weights[index]
      tokens.append(isInName ? best.token : -1)
    }
    if hasRepeats, let first = placeOfPhrase {
      tokens = Array(first..<first + words.count)
      sum = weight
    }
    var score = weight > 0 ? sum / weight : 0
    if isPhrase {
      score += 0.5
      // The words are the whole name.
      if stage == .words, tokens.first == 0, tokens.count == name.folder.tokens.count, isWholeName { score += 1 }
    }
    return Fit(stage: stage, score: score + 0.2 * shortness(view))
  }

  /// The first word of the name from which on it has all words of the search, one after the other.
  private var placeOfPhrase: Int? {
    let all = name.folder.tokens
    if words.count > all.count { return nil }
    return (0...all.count - words.count).first { first in
      words.indices.allSatisfy { isWord(words[$0], ofToken: all[first + $0]) }
    }
  }

  /// Whether a word is that of the name, or the beginning of it if it is the last word of the search.
  private func isWord(_ word: SearchWord, ofToken token: FoldedToken) -> Bool {
    let text = name.folder.bytes(of: token)
    return text.begins(with: word.bytes.rawSpan) && (word.isLast || text.byteCount == word.bytes.count)
  }

  /// Whether the words are neighbours in the name, in their order.
  private var isPhrase: Bool {
    guard let first = tokens.first, first >= 0 else { return false }
    return zip(tokens, first...).allSatisfy { $0 == $1 }
  }

  /// Whether the words together are as long as the tokens of the name.
  private var isWholeName: Bool {
    words.reduce(0) { $0 + $1.bytes.count } == name.folder.bytes.byteCount
  }

  /// Returns the best match of a word in the brand, the SKU or the barcode.
  private mutating func matchOther(
    _ word: SearchWord, _ view: borrowing ProductView, _ code: RawSpan, upTo limit: SearchStage
  ) throws(StoreError) -> WordMatch? {
    var best = Self.matchCode(word, code, upTo: limit)
    let brand = try view.utf8.shared(.brand)
    if brand.byteCount > 0 {
      other.fold(brand, tracking: false)
      if let match = other.match(word, upTo: limit), match.isBetter(than: best) { best = match }
    }
    let skuCode = view.utf8.skuCode
    if skuCode.byteCount > 0 {
      other.fold(skuCode, tracking: false)
      if let match = other.match(word, upTo: limit), match.isBetter(than: best) { best = match }
    }
    return best.map { WordMatch(stage: $0.stage, quality: 0.9 * $0.quality, token: -1, range: $0.range) }
  }

  /// Matches a run of which the name has a part, and the brand or the SKU has others: `格力挂机` with 挂机 of the brand 格力.
  private mutating func matchDivided(
    _ word: SearchWord, _ view: borrowing ProductView
  ) throws(StoreError) -> WordMatch? {
    var pairs = name.pairs(of: word)
    other.fold(try view.utf8.shared(.brand), tracking: false)
    for (index, isThere) in other.pairs(of: word).enumerated() where isThere { pairs[index] = true }
    other.fold(view.utf8.skuCode, tracking: false)
    for (index, isThere) in other.pairs(of: word).enumerated() where isThere { pairs[index] = true }
    guard let share = FoldedField.share(ofPairs: pairs) else { return nil }
    return WordMatch(stage: .parts, quality: 0.35 * share, token: -1, range: 0..<0)
  }

  /// Matches a word with the key of a barcode.
  private static func matchCode(_ word: SearchWord, _ code: RawSpan, upTo limit: SearchStage) -> WordMatch? {
    if code.byteCount == 0 || word.kind != .word { return nil }
    let own = word.code.rawSpan
    let share = Double(own.byteCount) / Double(code.byteCount)
    if code.hasSameBytes(as: own) { return WordMatch(stage: .words, quality: 1, token: -1, range: 0..<own.byteCount) }
    guard word.canBeCode, let place = code.firstPlace(of: own), place == 0 || word.canBeCodePart else { return nil }
    let isLong = place == 0 && own.byteCount >= SearchWord.longCode
    if !isLong, limit < .parts { return nil }
    return WordMatch(
      stage: isLong ? .words : .parts, quality: (isLong ? 0.5 : 0.2) + 0.3 * share, token: -1,
      range: place..<place + own.byteCount)
  }

  // MARK: What matched

  /// Returns the parts of a product's texts that match, for the best match of each word.
  mutating func matchedFields(_ product: Product) -> [SearchResult.MatchedField] {
    var ranges: [[Range<Int>]] = [[], [], [], []]
    if codes.contains(CodeKey.of(product.barcode)) { ranges[3] = [0..<product.barcode.utf16.count] }
    if CodeKey.of(product.skuCode) == codes.first { ranges[2] = [0..<product.skuCode.utf16.count] }
    let texts = [product.name, product.brand, product.skuCode]
    // The runs that no text has on its own, as far as is known: texts have them together.
    var divided = Set(words.indices.filter { words[$0].canBeDivided })
    for (index, text) in texts.enumerated() where !text.isEmpty {
      name.fold(Array(text.utf8).rawSpan, tracking: true)
      for (number, word) in words.enumerated() {
        guard let match = name.match(word, upTo: .typos) else { continue }
        divided.remove(number)
        for range in name.ranges(of: match, word) { ranges[index].append(name.folder.source(of: range)) }
      }
    }
    for (index, text) in texts.enumerated() where !text.isEmpty && !divided.isEmpty {
      name.fold(Array(text.utf8).rawSpan, tracking: true)
      for number in divided {
        for range in name.rangesOfPairs(words[number]) { ranges[index].append(name.folder.source(of: range)) }
      }
    }
    let trimmed = CodeKey.trimmed(Array(product.barcode.utf8).rawSpan)
    // The offsets in the key of a barcode of ASCII letters are those in the barcode, after its blanks.
    if product.barcode.utf8.allSatisfy({ $0 < 0x80 }) {
      let key = CodeKey.of(product.barcode)
      for word in words {
        guard let match = Self.matchCode(word, key.rawSpan, upTo: .typos) else { continue }
        ranges[3].append(trimmed.lowerBound + match.range.lowerBound..<trimmed.lowerBound + match.range.upperBound)
      }
    }
    return zip(["name", "brand", "skuCode", "barcode"], ranges).compactMap { field, ranges in
      let joined = Self.joined(ranges)
      return joined.isEmpty ? nil : SearchResult.MatchedField(field: field, ranges: joined)
    }
  }

  /// Sorts ranges, and joins those that overlap or touch.
  private static func joined(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var joined: [Range<Int>] = []
    for range in ranges.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) })
    where !range.isEmpty {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }
}
