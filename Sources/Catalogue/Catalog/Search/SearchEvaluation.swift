import Barcodes
import Bytes
import DocumentFormat
import LogStore
import SearchText

/// Decides whether a product is found by a search, and how well it fits. It is kept for many products, for its buffers.
struct SearchEvaluation {
  let words: [SearchWord]
  private let text: String
  /// How rare each word is, above 0: a match of a rarer word counts more.
  var weights: [Double]
  /// The key of the whole search as a barcode, and as each spelling of a GTIN with other zeros at the front.
  private let codes: [[UInt8]]
  /// The rows of the products of which the whole search is a code in the table of codes, with that code.
  var furtherCodes: [RowID: ProductCode] = [:]
  /// The products that have such a code with several quantities, or as their own barcode, so that no package is named,
  /// as in a scan.
  var disputedCodes: Set<RowID> = []
  private let brand: WantedText?
  private let category: WantedText?
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
  /// Whether an umlaut of a product may be spelled otherwise in a word.
  private let hasUmlauts: Bool
  /// The number of the token of the name that each word matches, without *and*; -1 for a word that matches another text.
  private var tokens: [Int] = []
  /// Whether each of these words is one with its neighbour: `dn` and `50` of DN50.
  private var areJoined: [Bool] = []
  /// What the words match of the name, of the brand and of the SKU, among the folded bytes of each.
  private var used: [[Range<Int>]]
  /// The fields of one's own in which words are looked for.
  private let fields: [ExtraField]
  /// Whether a word matches the barcode.
  private var isCodeUsed = false

  init(_ text: String, _ words: [SearchWord], _ options: SearchOptions, _ fields: [ExtraField]) {
    self.fields = fields
    used = [[Range<Int>]](repeating: [], count: 3 + fields.count)
    self.words = words
    self.text = text
    hasUmlauts = words.contains { $0.expanded != nil }
    weights = [Double](repeating: 1, count: words.count)
    let code = CodeKey.of(text)
    let spellings = GTIN(utf8: code.span)?.spellings.map { Array($0.utf8) }.filter { $0 != code }
    codes = code.isEmpty ? [] : [code] + (spellings ?? [])
    brand = options.brand.map { WantedText($0) }
    category = options.category.map { WantedText($0) }
    isSetsOnly = options.isSetsOnly
    let meant = words.filter { !$0.isConjunction }
    hasRepeats = Set(meant.map(\.bytes)).count < meant.count
    hasStrays = words.contains { !$0.canBeStray }
    condition = options.condition
  }

  /// The keys of the whole search as a barcode; empty if it cannot be one.
  var codeKeys: [[UInt8]] { codes }

  /// The text that a filter wants, folded.
  private struct WantedText {
    private let folded: [UInt8]
    /// The same with umlauts as two letters.
    private let expanded: [UInt8]

    init(_ text: String) {
      let utf8 = Array(text.utf8)
      var folder = TextFolder()
      folded = Self.words(of: utf8.rawSpan, &folder)
      expanded = Umlauts.expanded(utf8.rawSpan).map { Self.words(of: $0.rawSpan, &folder) } ?? folded
    }

    private static func words(of text: RawSpan, _ folder: inout TextFolder) -> [UInt8] {
      folder.fold(text)
      return SearchEvaluation.joined(folder)
    }

    /// Whether a text is the same as a search compares words: Müller is `muller` and `mueller`.
    func isSame(as text: RawSpan, _ folder: inout TextFolder) -> Bool {
      let words = Self.words(of: text, &folder)
      if words == folded { return true }
      if let letters = Umlauts.expanded(text) { return Self.words(of: letters.rawSpan, &folder) == expanded }
      return words == expanded
    }
  }

  /// The words without what stands between them, *and* among it: `campbells` is Campbell's, and Black and Decker is Black
  /// & Decker.
  private static func joined(_ folder: TextFolder) -> [UInt8] {
    var bytes: [UInt8] = []
    for (number, token) in folder.tokens.enumerated() where !isConjunction(number, of: folder) {
      bytes.append(folder.bytes(of: token))
    }
    return bytes
  }

  /// Whether a token is *and* between two others.
  private static func isConjunction(_ number: Int, of folder: TextFolder) -> Bool {
    number > 0 && number + 1 < folder.tokens.count && Conjunctions.isWord(folder.bytes(of: folder.tokens[number]))
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
    // Words fit in a later stage only.
    if limit == .code { return nil }
    guard let fit = try matched(view, upTo: limit), try isPermitted(view) else { return nil }
    return fit
  }

  /// Whether the whole search is the barcode, another code or the SKU of a product.
  private func isCode(_ view: borrowing ProductView) -> Bool {
    if !furtherCodes.isEmpty, furtherCodes[view.rowID] != nil { return true }
    for code in codes {
      if view.record.key(CatalogSchema.productByCode.index).hasSameBytes(as: code.rawSpan) { return true }
    }
    return codes.first.map { CodeKey.equals(view.utf8.skuCode, $0.rawSpan) } ?? false
  }

  private mutating func isPermitted(_ view: borrowing ProductView) throws(StoreError) -> Bool {
    if isSetsOnly, !view.isGroupedProduct { return false }
    if let brand, !brand.isSame(as: try view.utf8.shared(.brand), &filter) { return false }
    if let category, !category.isSame(as: try view.utf8.shared(.category), &filter) { return false }
    return try condition?.matches(view, &scratch) ?? true
  }

  private func shortness(_ view: borrowing ProductView) -> Double { 1 / (1 + Double(view.utf8.name.byteCount) / 16) }

  private mutating func matched(_ view: borrowing ProductView, upTo limit: SearchStage) throws(StoreError) -> Fit? {
    let umlauts = hasUmlauts && limit >= .forms
    name.fold(view.utf8.name, tracking: false, umlauts: umlauts)
    let code = view.record.key(CatalogSchema.productByCode.index)
    var stage = SearchStage.words
    var sum = 0.0
    var weight = 0.0
    // How much the name lacks of each *and*.
    var missing = 0.0
    var isOtherNumber = false
    tokens.removeAll(keepingCapacity: true)
    areJoined.removeAll(keepingCapacity: true)
    if words.count > 1 { forgetUsed() }
    for (index, word) in words.enumerated() {
      if word.isConjunction {
        let match = matchConjunction(word, view.utf8.name)
        if match.stage > limit { return nil }
        stage = max(stage, match.stage)
        missing += 1 - match.quality
        continue
      }
      var best = name.match(word, upTo: limit, used: word.isLast ? used[0] : [])
      var field = best == nil ? nil : SearchedField.name
      if best?.stage != .words || (best?.quality ?? 0) < 0.5 {
        if let other = try matchOther(word, view, code, upTo: limit, umlauts), other.match.isBetter(than: best) {
          best = other.match
          field = other.field
        }
      }
      if best == nil, limit >= .parts, word.canBeDivided { best = try matchDivided(word, view) }
      if best == nil, limit == .typos, hasStrays, word.canBeStray {
        best = WordMatch(stage: .typos, quality: 0, token: -1, range: 0..<0)
      }
      guard let best else { return nil }
      stage = max(stage, best.stage)
      let token = field == .name ? best.token : -1
      let place = token >= 0 ? 1 / (1 + Double(token)) : 0
      // The word of the name that an earlier one has matched counts once.
      let isTaken = hasRepeats && token >= 0 && tokens.contains(token)
      sum += weights[index] * best.quality * (isTaken ? 0.5 : 1) * (0.75 + 0.25 * place)
      weight += weights[index]
      tokens.append(token)
      areJoined.append(best.isJoined)
      isOtherNumber = isOtherNumber || best.isOtherNumber
      if !word.isLast, let field { use(best, field) }
    }
    if hasRepeats, let first = placeOfPhrase {
      tokens = Array(first..<first + tokens.count)
      sum = weight
    }
    var score = weight > 0 ? sum / weight : 0
    if !isOtherNumber, isPhrase {
      // A number that is spelled apart comes before one in one word.
      score += areJoined.contains(true) ? 0.3 : 0.5
      // The words are the whole name.
      if stage == .words, tokens.first == 0, tokens.last == name.folder.tokens.count - 1, isWholeName { score += 1 }
    }
    return Fit(stage: stage, score: max(0, score + 0.2 * shortness(view) - 0.1 * min(1, missing)))
  }

  /// A text of a product in which words are looked for.
  private struct SearchedField: Equatable {
    /// The number of the text, of which ``used`` has the parts; -1 for the barcode.
    let number: Int

    static let name = SearchedField(number: 0)
    static let brand = SearchedField(number: 1)
    static let skuCode = SearchedField(number: 2)
    static let barcode = SearchedField(number: -1)

    /// A field of one's own.
    static func extra(_ index: Int) -> SearchedField { SearchedField(number: 3 + index) }
  }

  private mutating func forgetUsed() {
    for field in used.indices { used[field].removeAll(keepingCapacity: true) }
    isCodeUsed = false
  }

  /// Notes what a word matches, which is then no part of the last word.
  private mutating func use(_ match: WordMatch, _ field: SearchedField) {
    if field == .barcode { isCodeUsed = true } else { used[field.number].append(match.range) }
  }

  /// Matches *and* with the same word of the name, with another one or a sign, or with nothing.
  private func matchConjunction(_ word: SearchWord, _ text: RawSpan) -> (stage: SearchStage, quality: Double) {
    var hasOther = false
    for (number, token) in name.folder.tokens.enumerated() {
      let own = name.folder.bytes(of: token)
      if own.hasSameBytes(as: word.bytes.rawSpan) || word.isLast && own.begins(with: word.bytes.rawSpan) {
        return (.words, 1)
      }
      if Self.isConjunction(number, of: name.folder) { hasOther = true }
    }
    hasOther = hasOther || Conjunctions.hasSign(text)
    let isFound = hasOther || !word.isLast
    return (word.isOptional && isFound ? .words : .forms, hasOther ? 0.5 : 0)
  }

  /// The first word of the name from which on it has all words of the search, one after the other.
  private var placeOfPhrase: Int? {
    let all = name.folder.tokens
    let meant = words.filter { !$0.isConjunction }
    if meant.count > all.count { return nil }
    return (0...all.count - meant.count).first { first in
      meant.indices.allSatisfy { isWord(meant[$0], ofToken: all[first + $0]) }
    }
  }

  /// Whether a word is that of the name, or the beginning of it if it is the last word of the search.
  private func isWord(_ word: SearchWord, ofToken token: FoldedToken) -> Bool {
    let text = name.folder.bytes(of: token)
    return text.begins(with: word.bytes.rawSpan) && (word.isLast || text.byteCount == word.bytes.count)
  }

  /// Whether the words are neighbours in the name, in their order, with no more than *and* between two of them.
  private var isPhrase: Bool {
    guard let first = tokens.first, first >= 0 else { return false }
    for index in tokens.indices.dropFirst() {
      let (previous, next) = (tokens[index - 1], tokens[index])
      if next == previous + 1 { continue }
      if next == previous, areJoined[index - 1], areJoined[index] { continue }
      guard next == previous + 2, Self.isConjunction(previous + 1, of: name.folder) else { return false }
    }
    return true
  }

  /// Whether the words together are as long as the tokens of the name, *and* left out of both.
  private var isWholeName: Bool {
    var count = name.folder.bytes.byteCount
    for number in name.folder.tokens.indices where Self.isConjunction(number, of: name.folder) {
      // It is a word of the search where that has it as the first or last one.
      if !tokens.contains(number) { count -= name.folder.tokens[number].range.count }
    }
    return words.reduce(0) { $0 + ($1.isConjunction ? 0 : $1.bytes.count) } == count
  }

  /// Returns the best match of a word in the brand, the SKU, the barcode or a field of one's own.
  private mutating func matchOther(
    _ word: SearchWord, _ view: borrowing ProductView, _ code: RawSpan, upTo limit: SearchStage, _ umlauts: Bool
  ) throws(StoreError) -> (match: WordMatch, field: SearchedField)? {
    var best = Self.matchCode(word, code, upTo: limit, isUsed: word.isLast && isCodeUsed)
    var field = SearchedField.barcode
    let brand = try view.utf8.shared(.brand)
    if brand.byteCount > 0, let match = matchOther(word, brand, .brand, upTo: limit, umlauts),
      match.isBetter(than: best)
    {
      (best, field) = (match, .brand)
    }
    let skuCode = view.utf8.skuCode
    if skuCode.byteCount > 0, let match = matchOther(word, skuCode, .skuCode, upTo: limit, umlauts),
      match.isBetter(than: best)
    {
      (best, field) = (match, .skuCode)
    }
    for index in fields.indices {
      let text = fields[index].words(of: view.utf8.extra, &scratch)
      if text.isEmpty { continue }
      if let match = matchOther(word, text.rawSpan, .extra(index), upTo: limit, umlauts), match.isBetter(than: best) {
        (best, field) = (match, .extra(index))
      }
    }
    guard var best else { return nil }
    best.quality *= 0.9
    return (best, field)
  }

  private mutating func matchOther(
    _ word: SearchWord, _ text: RawSpan, _ field: SearchedField, upTo limit: SearchStage, _ umlauts: Bool
  ) -> WordMatch? {
    other.fold(text, tracking: false, umlauts: umlauts)
    return other.match(word, upTo: limit, used: word.isLast ? usedParts(of: other, field) : [])
  }

  /// Returns the parts of a text that other words match: those of this text, and words that are another word of the
  /// search, which the name may have as well.
  private func usedParts(of text: FoldedField, _ field: SearchedField) -> [Range<Int>] {
    var parts = used[field.number]
    for token in text.folder.tokens {
      let bytes = text.folder.bytes(of: token)
      let isOther = words.contains { !$0.isLast && $0.bytes.rawSpan.hasSameBytes(as: bytes) }
      if isOther { parts.append(token.range) }
    }
    return parts
  }

  /// Matches a run of which the name has a part, and the brand or the SKU has others: `格力挂机` with 挂机 of the brand 格力.
  private mutating func matchDivided(
    _ word: SearchWord, _ view: borrowing ProductView
  ) throws(StoreError) -> WordMatch? {
    var pairs = name.pairs(of: word)
    other.fold(try view.utf8.shared(.brand), tracking: false, umlauts: false)
    for (index, isThere) in other.pairs(of: word).enumerated() where isThere { pairs[index] = true }
    other.fold(view.utf8.skuCode, tracking: false, umlauts: false)
    for (index, isThere) in other.pairs(of: word).enumerated() where isThere { pairs[index] = true }
    guard let share = FoldedField.share(ofPairs: pairs) else { return nil }
    return WordMatch(stage: .parts, quality: 0.35 * share, token: -1, range: 0..<0)
  }

  /// Matches a word with the key of a barcode.
  ///
  /// - Parameter isUsed: Whether another word matches the barcode, so that this one has to be all of it.
  private static func matchCode(
    _ word: SearchWord, _ code: RawSpan, upTo limit: SearchStage, isUsed: Bool = false
  ) -> WordMatch? {
    if code.byteCount == 0 || word.kind != .word { return nil }
    let key = word.code
    let own = key.rawSpan
    let share = Double(own.byteCount) / Double(code.byteCount)
    if code.hasSameBytes(as: own) { return WordMatch(stage: .words, quality: 1, token: -1, range: 0..<own.byteCount) }
    if isUsed { return nil }
    guard word.canBeCode, let place = code.firstPlace(of: own), place == 0 || word.canBeCodePart else { return nil }
    let isLong = place == 0 && own.byteCount >= SearchWord.longCode
    if !isLong, limit < .parts { return nil }
    return WordMatch(
      stage: isLong ? .words : .parts, quality: (isLong ? 0.5 : 0.2) + 0.3 * share, token: -1,
      range: place..<place + own.byteCount)
  }

  // MARK: What matched

  /// Returns the parts of a product's texts that match, for the best match of each word.
  ///
  /// - Parameter stage: The stage in which the product was found.
  mutating func matchedFields(_ product: Product, in stage: SearchStage) -> [SearchResult.MatchedField] {
    // What a code has led to may have the words of the search, too.
    let limit = max(stage, .parts)
    // The runs that no text has on its own, as far as is known: texts have them together.
    var divided = words.indices.filter { words[$0].canBeDivided }
    var matched: [SearchResult.MatchedField] = []
    matched.reserveCapacity(1)
    add(Self.joined(ranges(ofWordsIn: product.name, upTo: limit, &divided)), .name, to: &matched)
    add(Self.joined(ranges(ofWordsIn: product.brand, upTo: limit, &divided)), .brand, to: &matched)
    var ranges = ranges(ofWordsIn: product.skuCode, upTo: limit, &divided)
    if let code = codes.first, !product.skuCode.isEmpty, CodeKey.equals(product.skuCode.utf8.span.rawSpan, code.rawSpan)
    {
      ranges.append(0..<product.skuCode.utf16.count)
    }
    add(Self.joined(ranges), .skuCode, to: &matched)
    add(Self.joined(rangesInBarcode(product.barcode)), .barcode, to: &matched)
    for (index, text) in extraTexts(of: product).enumerated() {
      add(Self.joined(self.ranges(ofWordsIn: text, upTo: limit, &divided)), .extra(index), to: &matched)
    }
    return divided.isEmpty ? matched : withDivided(divided, matched, product)
  }

  private func add(
    _ ranges: [Range<Int>], _ field: SearchedField, to matched: inout [SearchResult.MatchedField]
  ) {
    if !ranges.isEmpty { matched.append(SearchResult.MatchedField(field: name(of: field), ranges: ranges)) }
  }

  private func name(of field: SearchedField) -> String {
    switch field {
    case .name: "name"
    case .brand: "brand"
    case .skuCode: "skuCode"
    case .barcode: "barcode"
    default: "extra.\(fields[field.number - SearchedField.extra(0).number].name)"
    }
  }

  /// Returns the parts of a text that words match.
  ///
  /// - Parameter divided: The words that no text has had so far; those that this one has are removed.
  private mutating func ranges(
    ofWordsIn text: String, upTo limit: SearchStage, _ divided: inout [Int]
  ) -> [Range<Int>] {
    if text.isEmpty { return [] }
    name.fold(text.utf8.span.rawSpan, tracking: true, umlauts: hasUmlauts)
    var taken: [Range<Int>] = []
    var ranges: [Range<Int>] = []
    for (number, word) in words.enumerated() {
      // A part of another word is no *and*.
      let limit = word.isConjunction ? SearchStage.words : limit
      guard let match = name.match(word, upTo: limit, used: word.isLast ? taken : []) else { continue }
      if !divided.isEmpty { divided.removeAll { $0 == number } }
      if words.count > 1 { taken.append(match.range) }
      for range in name.ranges(of: match, word) { ranges.append(name.folder.source(of: range)) }
    }
    return ranges
  }

  /// Returns the parts of a barcode that words match.
  private mutating func rangesInBarcode(_ barcode: String) -> [Range<Int>] {
    if barcode.isEmpty { return [] }
    let text = barcode.utf8.span.rawSpan
    var ranges: [Range<Int>] = []
    CodeKey.fold(text, into: &scratch)
    if codes.contains(scratch) { ranges.append(0..<barcode.utf16.count) }
    for word in words {
      guard let match = Self.matchCode(word, scratch.rawSpan, upTo: .typos) else { continue }
      // The offsets in the key of a barcode of ASCII letters are those in the barcode, after its blanks.
      if !barcode.utf8.allSatisfy({ $0 < 0x80 }) { break }
      let start = CodeKey.trimmed(text).lowerBound
      ranges.append(start + match.range.lowerBound..<start + match.range.upperBound)
    }
    return ranges
  }

  /// Adds the parts of runs that several texts have together.
  private mutating func withDivided(
    _ divided: [Int], _ matched: [SearchResult.MatchedField], _ product: Product
  ) -> [SearchResult.MatchedField] {
    var texts: [(SearchedField, String)] = [
      (.name, product.name), (.brand, product.brand), (.skuCode, product.skuCode), (.barcode, ""),
    ]
    for (index, text) in extraTexts(of: product).enumerated() { texts.append((.extra(index), text)) }
    var result: [SearchResult.MatchedField] = []
    for (field, text) in texts {
      let name = name(of: field)
      var ranges = matched.first { $0.field == name }?.ranges ?? []
      if !text.isEmpty {
        self.name.fold(text.utf8.span.rawSpan, tracking: true, umlauts: false)
        for number in divided {
          for range in self.name.rangesOfPairs(words[number]) { ranges.append(self.name.folder.source(of: range)) }
        }
      }
      add(Self.joined(ranges), field, to: &result)
    }
    return result
  }

  /// Returns the search as it was meant for a product that is found in the stage ``SearchStage/typos``: mistyped words
  /// as the product has them, and without a letter or digit that was not meant.
  func meant(_ product: Product) -> String {
    var fields = ([product.name, product.brand, product.skuCode] + extraTexts(of: product)).map { text in
      var field = FoldedField()
      field.fold(Array(text.utf8).rawSpan, tracking: true, umlauts: hasUmlauts)
      return (text: text, field: field, taken: [Range<Int>]())
    }
    let code = CodeKey.of(product.barcode)
    let typed = typedWords
    var meant: [String] = []
    for (index, word) in words.enumerated() {
      if word.isConjunction {
        meant.append(typed[index])
        continue
      }
      var best = Self.matchCode(word, code.rawSpan, upTo: .typos)
      var bestField: Int?
      for number in fields.indices {
        let used = word.isLast ? fields[number].taken : []
        guard let match = fields[number].field.match(word, upTo: .typos, used: used), match.isBetter(than: best) else {
          continue
        }
        (best, bestField) = (match, number)
      }
      if let best, let bestField { fields[bestField].taken.append(best.range) }
      switch (best, bestField) {
      case (let best?, let number?) where best.stage == .typos:
        let field = fields[number]
        meant.append(Self.part(field.field.folder.source(of: best.range), of: field.text))
      // The name and the brand may have a divided run together.
      case (nil, _) where !word.canBeDivided: continue
      default: meant.append(typed[index])
      }
    }
    return meant.joined(separator: " ")
  }

  /// The texts of the fields of one's own.
  private func extraTexts(of product: Product) -> [String] {
    if fields.isEmpty { return [] }
    var scratch: [UInt8] = []
    return fields.map { String(decoding: $0.words(of: product.extra.bytes.rawSpan, &scratch), as: UTF8.self) }
  }

  /// The words of the search as they were typed.
  private var typedWords: [String] {
    var folder = TextFolder()
    folder.fold(SearchWord.typed(text).rawSpan, tracking: true)
    return folder.tokens.prefix(words.count).map { Self.part(folder.source(of: $0.range), of: text) }
  }

  /// Returns a part of a text, which is given in UTF-16 code units.
  private static func part(_ range: Range<Int>, of text: String) -> String {
    String(decoding: text.utf16.dropFirst(range.lowerBound).prefix(range.count), as: UTF16.self)
  }

  /// Sorts ranges, and joins those that overlap or touch.
  private static func joined(_ ranges: [Range<Int>]) -> [Range<Int>] {
    if ranges.count < 2 { return ranges.first?.isEmpty ?? false ? [] : ranges }
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
