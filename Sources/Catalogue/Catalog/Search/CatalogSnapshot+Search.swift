import Bytes
import LogStore
import SearchText

extension CatalogSnapshot {
  /// Whether products can be found by words.
  public var hasSearchIndex: Bool { store.flatMap(SearchIndexes.init) != nil }

  /// Finds products by words.
  ///
  /// Each word must match the name, the brand, the SKU, the barcode or a field of one's own that is declared to be
  /// searched, in any order, whatever the letter case, the
  /// accents, the width of letters, or whether Chinese is traditional or simplified. The last word may be the beginning
  /// of one that no other word matches. *And* between words, in five languages or as a sign, is one, and a product need
  /// not have it. Products with the singular of a plural or the other way round, or with an umlaut as two letters, come
  /// after that, and with parts of words, and Chinese names by how they are read: `glgj` and `geli`
  /// find 格力挂机; and what is written in one word here and in several there: `cocacola` finds Coca-Cola, `500 ml` finds
  /// 500ml. If nothing is found, each word may have one typing mistake, and a single letter or digit may be left out. A
  /// product whose barcode or SKU is the whole text, or a code of it in the table of codes, comes first, whatever the
  /// zeros in front of a GTIN. Products that
  /// the server sent as deleted are left out.
  ///
  /// - Parameters:
  ///   - text: The words.
  ///   - options: Filters, the number of results, and where to go on.
  /// - Returns: A page of results, best first; without results if the text has no letter or digit.
  /// - Throws: `SearchError.noIndex` if the catalogue has no index of words; `.store` if a page or record fails its
  ///   check.
  /// - Complexity: Reads the index entries of the rarest word, and about five hundred products if so many match. No
  ///   scan.
  public func search(_ text: String, _ options: SearchOptions = SearchOptions()) throws(SearchError) -> SearchResults {
    guard let store else { return SearchResults(results: [], next: nil) }
    guard let indexes = SearchIndexes(store) else { throw .noIndex(path: store.path) }
    do {
      var run = SearchRun(self, indexes, text, options)
      return try run.results()
    } catch { throw .store(error) }
  }
}

/// A search in progress.
private struct SearchRun {
  /// The number of candidates that are read and compared with one another at a time.
  private static let blockCount = 128
  /// The number of candidates of the parts of a word up to which those of other words are not looked up.
  private static let fewCount = 512
  /// The number of candidates of a word that are read because another word may be mistyped.
  private static let manyCount = 4096

  private let snapshot: CatalogSnapshot
  private let indexes: SearchIndexes
  private let options: SearchOptions
  private let words: [SearchWord]
  /// The candidates of each word as it is, those of the rarest word first; with beginnings, once they were looked up.
  private var rarestFirst: [WordCandidates] = []
  private var hasBeginnings = false
  /// The candidates of their parts, once they were looked up.
  private var parts: [Int: [WordCandidates]] = [:]
  private var evaluation: SearchEvaluation
  /// Whether a word has other forms, once these were made.
  private var hasForms = false
  private var found: [Found] = []
  /// The row of the cursor's product; before all rows if it is gone.
  private var cursorRow = RowID(number: 0)

  /// A product that was found.
  private struct Found {
    let row: RowID
    let stage: SearchStage
    let block: Int
    let score: Double

    func precedes(_ other: Found) -> Bool { score != other.score ? score > other.score : row < other.row }
  }

  init(_ snapshot: CatalogSnapshot, _ indexes: SearchIndexes, _ text: String, _ options: SearchOptions) {
    self.snapshot = snapshot
    self.indexes = indexes
    self.options = options
    words = SearchWord.words(of: text)
    evaluation = SearchEvaluation(text, words, options, indexes.fields)
  }

  mutating func results() throws(StoreError) -> SearchResults {
    if let cursor = options.cursor {
      cursorRow = try snapshot.withProduct(id: cursor.id) { $0.rowID } ?? cursorRow
    }
    try lookUpFurtherCodes()
    let wanted = max(0, options.limit)
    for (number, word) in words.enumerated() { rarestFirst.append(try WordCandidates(word, number: number, indexes)) }
    let total = Double(max(1, snapshot.productCount))
    evaluation.weights = rarestFirst.map { candidates in
      0.2 + max(0, (total / Double(max(1, candidates.exactCount))).logarithm)
    }
    rarestFirst.removeAll(where: \.isConjunction)
    rarestFirst.sort { $0.count < $1.count }
    if !words.isEmpty, let stage = options.cursor?.stage {
      if stage > SearchStage.words.rawValue { try lookUpBeginnings() }
      if stage > SearchStage.forms.rawValue { lookUpForms() }
    }
    for stage in SearchStage.allCases where stage.rawValue >= options.cursor?.stage ?? 0 {
      // One more than is wanted tells whether there is another page.
      if found.count > wanted { break }
      if stage == .typos, !found.isEmpty || (options.cursor?.stage ?? SearchStage.typos.rawValue) < stage.rawValue {
        break
      }
      if stage == .forms, !words.isEmpty { lookUpForms() }
      if stage == .code || !words.isEmpty { try find(stage) }
    }
    var results: [SearchResult] = []
    for result in found.prefix(wanted) {
      guard let product = try snapshot.withProduct(result.row, { (view) throws(StoreError) in try snapshot.copy(view) })
      else { continue }
      let meant = result.stage == .typos ? evaluation.meant(product) : nil
      results.append(
        SearchResult(
          product: product, score: result.score, matched: evaluation.matchedFields(product, in: result.stage),
          meant: meant,
          package: evaluation.disputedCodes.contains(result.row) ? nil : evaluation.furtherCodes[result.row]))
    }
    guard found.count > wanted, let last = found.prefix(wanted).last, let product = results.last?.product else {
      return SearchResults(results: results, next: nil)
    }
    let next = SearchCursor(stage: last.stage.rawValue, block: last.block, score: last.score, id: product.id)
    return SearchResults(results: results, next: next)
  }

  /// Looks up the products of which the whole text is a further code, of the table or of a declared field.
  private mutating func lookUpFurtherCodes() throws(StoreError) {
    guard snapshot.hasCodes else { return }
    for key in evaluation.codeKeys {
      for found in try snapshot.codes(key.rawSpan, key: key.rawSpan) {
        let (code, id) = (found.code, found.product.id)
        guard let row = try snapshot.withProduct(id: id, { (view) throws(StoreError) in view.rowID }) else { continue }
        let former = evaluation.furtherCodes[row]
        let isOwn = evaluation.codeKeys.contains(CodeKey.of(found.product.barcode.utf8.span.rawSpan))
        if isOwn || former.map({ $0.quantity != code.quantity }) ?? false { evaluation.disputedCodes.insert(row) }
        if former.map({ ProductCode.precedes(code, $0) }) ?? true { evaluation.furtherCodes[row] = code }
      }
    }
  }

  /// Finds the products whose barcode or SKU is the whole text, or a code of which it is.
  private mutating func findCode() throws(StoreError) {
    if evaluation.codeKeys.isEmpty { return }
    var rows: [RowID] = []
    for key in evaluation.codeKeys {
      try indexes.store.forEachRecord(CatalogSchema.productByCode, key.rawSpan) { (record) throws(StoreError) in
        rows.append(record.rowID)
        return true
      }
    }
    rows += evaluation.furtherCodes.keys
    if let code = evaluation.codeKeys.first, let skus = try snapshot.rows(ofSKU: code) {
      rows += skus
    } else if let candidates = rarestFirst.first, candidates.count <= Self.fewCount {
      // Where SKUs have no index of their own, their words have.
      try candidates.forEachKey { found, _ in
        for position in 0..<found.count { rows.append(RowID(number: UInt64(found[position]))) }
      }
    }
    try evaluate(Set(rows).sorted(), .code, block: 0)
  }

  /// Finds the products that match in a stage, block by block, until there are enough.
  private mutating func find(_ stage: SearchStage) throws(StoreError) {
    var blocks = Blocks(stage: stage)
    switch stage {
    case .code: try findCode()
    case .words:
      // The words as they are come first; beginnings and the like are looked up if these do not fill a page.
      if rarestFirst[0].count > 0 { try find(rarestFirst, &blocks) }
      if found.count > options.limit { return }
      let exact = rarestFirst.map(\.count)
      try lookUpBeginnings()
      if rarestFirst[0].count == 0 || rarestFirst.map(\.count) == exact { return }
      try find(rarestFirst, &blocks)
    case .forms: try findForms(&blocks)
    case .parts:
      // Parts of one word will do if they are few: what is read is compared with all words.
      var candidates: [WordCandidates] = []
      for word in rarestFirst.indices.sorted(by: { rarestFirst[$0].expectedParts < rarestFirst[$1].expectedParts }) {
        // A word that many more products have leaves out few of these, and takes long to look up.
        if let best = candidates.first?.count, rarestFirst[word].expectedParts > 4 * best { break }
        candidates += try parts(of: word)
        candidates.sort { $0.count < $1.count }
        if candidates[0].count <= Self.fewCount { break }
      }
      if candidates[0].count == 0 { return }
      try find(candidates, &blocks)
    case .typos: try findTypos(&blocks)
    }
  }

  /// Looks up the beginnings of words, and barcodes.
  private mutating func lookUpBeginnings() throws(StoreError) {
    if hasBeginnings { return }
    hasBeginnings = true
    for index in rarestFirst.indices { rarestFirst[index] = try rarestFirst[index].withBeginnings() }
    rarestFirst.sort { $0.count < $1.count }
  }

  /// Makes the forms of all words.
  private mutating func lookUpForms() {
    let nouns = NounForms()
    for index in rarestFirst.indices where rarestFirst[index].findForms(nouns) { hasForms = true }
  }

  /// Finds products that have another form of the only word, or no *and* after it.
  ///
  /// Of several words the forms are found together with the parts: reading the same products once more would take as
  /// long as all else.
  private mutating func findForms(_ blocks: inout Blocks) throws(StoreError) {
    if rarestFirst.count > 1 { return }
    let isAlone = words.count == 1
    if isAlone, !hasForms { return }
    let candidates = try rarestFirst[0].withForms(isAlone: isAlone)
    if candidates.count > 0 { try find([candidates], &blocks) }
  }

  /// Returns the candidates of a word's parts.
  ///
  /// - Parameter word: Its number in ``rarestFirst``.
  private mutating func parts(of word: Int) throws(StoreError) -> [WordCandidates] {
    if let cached = parts[word] { return cached }
    let found = try rarestFirst[word].withParts()
    parts[word] = found
    return found
  }

  /// Finds products although words are mistyped. A word that is spelled as it should be leads to them, if it is rare.
  private mutating func findTypos(_ blocks: inout Blocks) throws(StoreError) {
    if try findTyposOfOneWord(&blocks) { return }
    var candidates: [WordCandidates] = []
    for word in rarestFirst.indices { candidates += try parts(of: word) }
    candidates.sort { $0.count < $1.count }
    for candidate in candidates where (1...Self.manyCount).contains(candidate.count) {
      try find([candidate], &blocks)
      if !found.isEmpty { return }
    }
    // What a letter or digit that was not meant leads to says nothing about what was.
    if words.contains(where: { !$0.canBeStray }) { candidates.removeAll { $0.isStray } }
    for index in candidates.indices {
      let isUnknown = candidates[index].count == 0
      candidates[index] = try candidates[index].withTypos()
      guard isUnknown else { continue }
      // Without any word that it may have been meant as, nothing matches; with few, those lead to what does.
      if candidates[index].count == 0 { return }
      if candidates[index].count <= Self.manyCount {
        try find([candidates[index]], &blocks)
        if !found.isEmpty { return }
      }
    }
    candidates.sort { $0.count < $1.count }
    if candidates[0].count > 0 { try find(candidates, &blocks) }
  }

  /// The number of words of which two are tried together.
  private static let pairedCount = 4

  /// Finds products by two words that are spelled as they should be: of three words or more there mostly are two, and
  /// few products have both. Returns whether there are any.
  private mutating func findTyposOfOneWord(_ blocks: inout Blocks) throws(StoreError) -> Bool {
    let known = rarestFirst.filter { $0.count > 0 && !$0.isStray }.prefix(Self.pairedCount)
    if rarestFirst.count < 3 { return false }
    for (number, rarer) in known.enumerated() where rarer.count <= Self.manyCount {
      for other in known.dropFirst(number + 1) {
        try find([rarer, other], &blocks)
        if !found.isEmpty { return true }
      }
    }
    return false
  }

  /// Finds the products that candidates of all words lead to, those of the rarest first.
  private mutating func find(_ candidates: [WordCandidates], _ blocks: inout Blocks) throws(StoreError) {
    let rarest = candidates[0]
    var filters = RowFilters(others: candidates.dropFirst(), productCount: snapshot.productCount)
    // The rows of a few ranks after the other, the best first: as many as are wanted.
    var wanted = filters.isEmpty ? Self.blockCount : Self.manyCount
    var next: WordCandidates.RankPlace? = .start
    while let place = next {
      var rows: [UInt32] = []
      next = try rarest.appendRows(from: place, atLeast: wanted, to: &rows)
      rows = try filters.filtered(rows, isFirst: blocks.number == 0)
      if try evaluate(rows, &filters, &blocks) { return }
      wanted = Self.manyCount
    }
    try evaluate(blocks.open, blocks.stage, block: blocks.number)
    blocks.open.removeAll()
    blocks.number += 1
  }

  /// The candidates of a stage, divided into blocks.
  private struct Blocks {
    let stage: SearchStage
    /// The number of the block that is being filled.
    var number = 0
    var open: [RowID] = []
    var seen = RowSet()
  }

  /// Fills blocks with rows, and evaluates each full block. Returns whether there are enough results.
  private mutating func evaluate(
    _ rows: [UInt32], _ filters: inout RowFilters, _ blocks: inout Blocks
  ) throws(StoreError) -> Bool {
    var rows = rows
    var next = 0
    while next < rows.count {
      let row = rows[next]
      next += 1
      guard blocks.seen.insert(row) else { continue }
      blocks.open.append(RowID(number: UInt64(row)))
      guard blocks.open.count == Self.blockCount else { continue }
      try evaluate(blocks.open, blocks.stage, block: blocks.number)
      blocks.open.removeAll(keepingCapacity: true)
      blocks.number += 1
      if found.count > options.limit { return true }
      // What was read did not do, so that reading the rows of common words is worth it.
      if blocks.number == 1 {
        rows = try filters.filtered(Array(rows[next...]), isFirst: false)
        next = 0
      }
    }
    return false
  }

  /// Returns the stage in which a fit is found: forms of several words are found with the parts.
  private func stage(of fit: SearchEvaluation.Fit) -> SearchStage {
    fit.stage == .forms && rarestFirst.count > 1 ? .parts : fit.stage
  }

  /// Returns a score that is above those of later stages and blocks.
  private static func score(_ fit: SearchEvaluation.Fit, _ stage: SearchStage, block: Int) -> Double {
    let stage = Double(SearchStage.typos.rawValue - stage.rawValue)
    // A fit has at most 2.7, so a block has scores from 1 to 2, the next from ½ to 1, and so on.
    return 2 * stage + Double(sign: .plus, exponent: -min(block, 1000), significand: 1) * (1 + fit.score / 3)
  }

  /// Reads candidates, and adds those that match in this stage and no earlier one.
  private mutating func evaluate(_ rows: [RowID], _ stage: SearchStage, block: Int) throws(StoreError) {
    if let cursor = options.cursor, cursor.stage == stage.rawValue, block < cursor.block { return }
    var fits: [Found] = []
    let store = indexes.store
    for (index, row) in rows.enumerated() {
      if index + 8 < rows.count { store.prefetch(rows[index + 8]) }
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(row, table: CatalogSchema.products) else { continue }
      let view = ProductView(record)
      guard let fit = try evaluation.fit(view, upTo: stage), self.stage(of: fit) == stage else { continue }
      let score = Self.score(fit, stage, block: block)
      fits.append(Found(row: row, stage: stage, block: block, score: score))
    }
    fits.sort { $0.precedes($1) }
    if let cursor = options.cursor, cursor.stage == stage.rawValue, cursor.block == block {
      let last = cursorRow
      fits.removeAll { $0.score > cursor.score || $0.score == cursor.score && $0.row <= last }
    }
    found += fits
  }
}

extension Double {
  /// The natural logarithm, roughly: weights need no more.
  fileprivate var logarithm: Double {
    guard self > 0, isFinite else { return 0 }
    // The exponent, and a line through the significand between 1 and 2.
    return (Double(exponent) + significand - 1) * 0.6931471805599453
  }
}
