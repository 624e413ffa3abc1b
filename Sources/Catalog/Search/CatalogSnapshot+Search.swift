import Bytes
import LogStore

extension CatalogSnapshot {
  /// Whether products can be found by words.
  public var hasSearchIndex: Bool { store.flatMap(SearchIndexes.init) != nil }

  /// Finds products by words.
  ///
  /// Each word must match the name, the brand, the SKU or the barcode, in any order, whatever the letter case, the
  /// accents, the width of letters, or whether Chinese is traditional or simplified. The last word may be the beginning of
  /// one. Products with parts of words come after that, and Chinese names by how they are read: `glgj` and `geli` find
  /// 格力挂机. If nothing is found, each word may have one typing mistake. A product whose barcode or SKU is the whole text
  /// comes first. Products that the server sent as deleted are left out.
  ///
  /// - Parameters:
  ///   - text: The words.
  ///   - options: Filters, the number of results, and where to go on.
  /// - Returns: A page of results, best first; without results if the text has no letter or digit.
  /// - Throws: `SearchError.noIndex` if the catalogue has no index of words; `.store` if a page or record fails its check.
  /// - Complexity: Reads the index entries of the rarest word, and about a thousand products if there are so many that
  ///   match. No scan.
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
  private static let blockCount = 1024
  /// The number of candidates above which those of other words are looked at too, before products are read.
  private static let fewCount = 512

  private let snapshot: CatalogSnapshot
  private let indexes: SearchIndexes
  private let options: SearchOptions
  private let words: [SearchWord]
  private var evaluation: SearchEvaluation
  private var found: [Found] = []

  /// A product that was found.
  private struct Found {
    let row: RowID
    let stage: Int
    let block: Int
    let score: Double
    let id: [UInt8]

    func precedes(_ other: Found) -> Bool {
      score != other.score ? score > other.score : id.rawSpan.compare(to: other.id.rawSpan) < 0
    }

    /// Whether it comes after a cursor in the same block.
    func isAfter(_ cursor: SearchCursor) -> Bool {
      score != cursor.score
        ? score < cursor.score : id.rawSpan.compare(to: Array(cursor.id.utf8).rawSpan) > 0
    }
  }

  init(_ snapshot: CatalogSnapshot, _ indexes: SearchIndexes, _ text: String, _ options: SearchOptions) {
    self.snapshot = snapshot
    self.indexes = indexes
    self.options = options
    words = SearchWord.words(of: text)
    evaluation = SearchEvaluation(text, words, options)
  }

  mutating func results() throws(StoreError) -> SearchResults {
    let wanted = max(0, options.limit)
    for stage in SearchStage.allCases where stage.rawValue >= options.cursor?.stage ?? 0 {
      // One more than is wanted tells whether there is another page.
      if found.count > wanted { break }
      if stage == .typos, !found.isEmpty || (options.cursor?.stage ?? SearchStage.typos.rawValue) < stage.rawValue {
        break
      }
      if stage == .code { try findCode() } else if !words.isEmpty { try find(stage) }
    }
    var results: [SearchResult] = []
    for result in found.prefix(wanted) {
      guard let product = try snapshot.withProduct(result.row, { (view) throws(StoreError) in try snapshot.copy(view) })
      else { continue }
      results.append(
        SearchResult(product: product, score: result.score, matched: evaluation.matchedFields(product)))
    }
    guard found.count > wanted, let last = found.prefix(wanted).last else {
      return SearchResults(results: results, next: nil)
    }
    let next = SearchCursor(
      stage: last.stage, block: last.block, score: last.score, id: String(decoding: last.id, as: UTF8.self))
    return SearchResults(results: results, next: next)
  }

  /// Finds the products whose barcode is the whole text.
  private mutating func findCode() throws(StoreError) {
    let key = evaluation.codeKey
    if key.isEmpty { return }
    var rows: [RowID] = []
    try indexes.store.forEachRecord(CatalogSchema.productByCode, key.rawSpan) { (record) throws(StoreError) in
      rows.append(record.rowID)
      return true
    }
    // A SKU has no index of its own: its words have.
    if let candidates = try rarest(.words, limit: Self.blockCount) {
      try candidates.forEachRow { row, _ in rows.append(RowID(number: UInt64(row))) }
    }
    try evaluate(Set(rows).sorted(), .code, block: 0)
  }

  /// Returns the candidates of the rarest word, if they are few.
  private func rarest(_ stage: SearchStage, limit: Int) throws(StoreError) -> WordCandidates? {
    var best: WordCandidates?
    for word in words {
      let candidates = try WordCandidates(word, stage, indexes)
      if candidates.count < best?.count ?? limit { best = candidates }
    }
    return best
  }

  /// Finds the products that match in a stage, block by block, until there are enough.
  private mutating func find(_ stage: SearchStage) throws(StoreError) {
    var candidates: [WordCandidates] = []
    for word in words { candidates.append(try WordCandidates(word, stage, indexes)) }
    if candidates.contains(where: { $0.count == 0 }) { return }
    let total = Double(max(1, snapshot.productCount))
    evaluation.weights = candidates.map { 0.2 + max(0, (total / Double(max(1, $0.exactCount))).logarithm) }
    let ranks = try rows(of: candidates)
    var seen: Set<UInt32> = []
    var block: [RowID] = []
    var number = 0
    for rows in ranks {
      for row in rows where seen.insert(row).inserted {
        block.append(RowID(number: UInt64(row)))
        guard block.count == Self.blockCount else { continue }
        try evaluate(block, stage, block: number)
        if found.count > options.limit { return }
        block.removeAll(keepingCapacity: true)
        number += 1
      }
    }
    try evaluate(block, stage, block: number)
  }

  /// Returns the rows that may match all words, by rank.
  private func rows(of candidates: [WordCandidates]) throws(StoreError) -> [[UInt32]] {
    let sorted = candidates.sorted { $0.count < $1.count }
    var ranks = [[UInt32]](repeating: [], count: SearchTerm.Rank.count + 1)
    var count = 0
    try sorted[0].forEachRow { row, rank in
      ranks[rank].append(row)
      count += 1
    }
    for other in sorted.dropFirst() {
      if count <= Self.fewCount { break }
      var set = RowBitmap(upTo: indexes.store.fileByteCount)
      try other.forEachRow { row, _ in set.insert(row) }
      count = 0
      for rank in ranks.indices {
        ranks[rank].removeAll { !set.contains($0) }
        count += ranks[rank].count
      }
    }
    return ranks
  }

  /// Returns a score that is above those of later stages and blocks.
  private static func score(_ fit: SearchEvaluation.Fit, block: Int) -> Double {
    let stage = Double(SearchStage.typos.rawValue - fit.stage.rawValue)
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
      guard let record = try store.record(row, table: CatalogSchema.products) else { continue }
      let view = ProductView(record)
      guard let fit = try evaluation.fit(view, upTo: stage), fit.stage == stage else { continue }
      let score = Self.score(fit, block: block)
      fits.append(Found(row: row, stage: stage.rawValue, block: block, score: score, id: view.utf8.id.copied()))
    }
    fits.sort { $0.precedes($1) }
    if let cursor = options.cursor, cursor.stage == stage.rawValue, cursor.block == block {
      fits.removeAll { !$0.isAfter(cursor) }
    }
    found += fits
  }
}

/// A set of rows of one file, as bits. No two rows begin within 16 bytes.
private struct RowBitmap {
  private var words: [UInt64]

  init(upTo byteCount: Int) { words = [UInt64](repeating: 0, count: byteCount / 16 / 64 + 1) }

  mutating func insert(_ row: UInt32) {
    let bit = Int(row >> 1)
    if bit >> 6 < words.count { words[bit >> 6] |= 1 << UInt64(bit & 63) }
  }

  func contains(_ row: UInt32) -> Bool {
    let bit = Int(row >> 1)
    return bit >> 6 < words.count && words[bit >> 6] >> UInt64(bit & 63) & 1 != 0
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
