import Bytes
import LogStore
import SearchText

/// The rows of products that may match a word, from the indexes: a superset of those that do.
struct WordCandidates {
  /// Where the index has rows of a word.
  private enum Source {
    case range(OrderedIndexID, OrderedGap, OrderedGap)
    case keys(OrderedIndexID, [[UInt8]])
    /// The keys whose text has a part, but does not begin with it.
    case containing(OrderedIndexID, [UInt8])
    /// Rows that were looked up.
    case rows([UInt32])
  }

  private let store: Snapshot
  private var sources: [Source] = []
  /// About how many rows there are, dead ones included.
  private(set) var count = 0
  /// The number of products that have the word as it is, for its weight.
  private(set) var exactCount = 0

  /// Whether the word is a letter or digit that may not have been meant.
  var isStray: Bool { word.canBeStray }
  /// Whether the word is *and* between others, which products need not have.
  var isConjunction: Bool { word.isConjunction }

  /// The number of the word in the search.
  let number: Int
  private let word: SearchWord
  /// The other spellings of the word's umlauts that products have.
  private var spellings: [[UInt8]] = []
  private let indexes: SearchIndexes

  /// Finds where the indexes have a word of the stage ``SearchStage/words``.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  init(_ word: SearchWord, number: Int, _ indexes: SearchIndexes) throws(StoreError) {
    self.word = word
    self.number = number
    self.indexes = indexes
    store = indexes.store
    switch word.kind {
    case .cjk: try addRun()
    case .word:
      let exact = [SearchTerm.word] + word.text + [0]
      exactCount = try store.rowCount(inOrderOf: indexes.search, from: .before(exact), to: .afterPrefix(exact)).count
      if word.isConjunction { return }
      if word.isLast || word.isCut {
        try addBeginnings()
      } else {
        try add(indexes.search, .before(exact), .afterPrefix(exact))
      }
      try addCodes(.words)
      if word.hasBoundary { try addSeparated(Self.mostSeparatedFirst) }
      for join in word.joins where join.isNumber { try addWord(join.bytes) }
    }
  }

  /// Whether the word is a part of a number that is spelled apart, as `dn` and `50` are.
  var isPartOfNumber: Bool { word.kind == .word && word.joins.contains(where: \.isNumber) }

  /// The candidates that have the word, or the number that it is a part of, as a whole word.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  func whole() throws(StoreError) -> WordCandidates {
    guard isPartOfNumber else { return self }
    var result = self
    result.sources = []
    result.count = 0
    try result.addWord(word.bytes)
    for join in word.joins where join.isNumber { try result.addWord(join.bytes) }
    return result
  }

  /// Looks up the forms of the word, for the stages from ``SearchStage/forms`` on.
  ///
  /// - Returns: Whether products have any.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  mutating func findForms(_ nouns: NounForms) throws(StoreError) -> Bool {
    guard word.kind == .word, !word.isConjunction else { return false }
    word.other.nouns = []
    for noun in nouns.forms(of: word.bytes) where try hasWord(noun, isLast: false) { word.other.nouns.append(noun) }
    for spelling in word.spellings where try hasWord(spelling, isLast: word.isLast) { spellings.append(spelling) }
    return !word.other.nouns.isEmpty || !spellings.isEmpty
  }

  /// The candidates of the stage ``SearchStage/forms``.
  ///
  /// - Parameter isAlone: Whether the search has no other word, so that products with the word itself were found before.
  /// - Throws: `StoreError.damaged` if a page fails its check.
  func withForms(isAlone: Bool) throws(StoreError) -> WordCandidates {
    var result = self
    if isAlone {
      result.sources = []
      result.count = 0
    }
    for noun in word.other.nouns { try result.addWord(noun) }
    for spelling in spellings { try result.addWord(spelling, isBeginning: word.isLast) }
    return result
  }

  private mutating func addWord(_ word: [UInt8], isBeginning: Bool = false) throws(StoreError) {
    let key = [SearchTerm.word] + word + (isBeginning ? [] : [0])
    try add(indexes.search, .before(key), .afterPrefix(key))
  }

  /// Whether any product, or any that was deleted, has a word, or one that begins with it.
  private func hasWord(_ word: [UInt8], isLast: Bool) throws(StoreError) -> Bool {
    let key = [SearchTerm.word] + word + (isLast ? [] : [0])
    return try store.rowCount(inOrderOf: indexes.search, from: .before(key), to: .afterPrefix(key)).count > 0
  }

  /// The candidates of the stage ``SearchStage/parts``: what matches is among each of these, the fewest first.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  func withParts() throws(StoreError) -> [WordCandidates] {
    var result = self
    result.sources = []
    result.count = 0
    if word.kind == .cjk {
      guard word.canBeDivided else { return [self] }
      // What has the run in parts of two characters or more has its first pair and its last one.
      var last = result
      let characters = word.characters
      try result.addPair(characters[0], characters[1])
      try last.addPair(characters[characters.count - 2], characters[characters.count - 1])
      return [result, last].sorted { $0.count < $1.count }
    }
    try result.addBeginnings()
    try result.addCodes(.parts)
    if word.canBePart { try result.addKeys(containing: word.text, indexes.search) }
    for noun in word.other.nouns { try result.addWord(noun) }
    for spelling in word.spellings {
      try result.addWord(spelling, isBeginning: true)
      if spelling.count >= SearchWord.shortestSpelledPart { try result.addKeys(containing: spelling, indexes.search) }
    }
    if word.isLatin { try result.addReadings() }
    try result.addSeparated(Self.mostSeparated)
    for join in word.joins { try result.addWord(join.bytes, isBeginning: join.isLast) }
    return [result]
  }

  /// The number of rows of the rarer part of a word above which the products that have the word as several are not
  /// looked for: in the stage ``SearchStage/words``, and later.
  private static let mostSeparatedFirst = 1 << 12
  private static let mostSeparated = 1 << 14

  /// Adds the products that have the word as several words: `cocacola` as Coca-Cola. The first and the last of them are
  /// looked up; words between them only where there is a digit, as in `m8x20`, because single letters are in most
  /// products. Of the last word of the search the last may be a beginning.
  ///
  /// - Parameter most: The number of rows of the rarer part of a word above which the products are not looked for.
  private mutating func addSeparated(_ most: Int) throws(StoreError) {
    if !word.canBeSeparated { return }
    let ends = word.characters.dropLast().map(\.upperBound)
    var first: [(end: Int, count: Int, key: [UInt8])] = []
    var last: [(start: Int, count: Int, key: [UInt8])] = []
    for end in ends {
      let isBeginning = word.isLast && word.bytes.count - end >= SearchWord.shortestBeginning
      let keys = [
        [SearchTerm.word] + word.bytes[..<end] + [0],
        [SearchTerm.word] + word.bytes[end...] + (isBeginning ? [] : [0]),
      ]
      let counts = try keys.map { (key) throws(StoreError) in
        try store.rowCount(inOrderOf: indexes.search, from: .before(key), to: .afterPrefix(key)).count
      }
      if counts[0] > 0 { first.append((end, counts[0], keys[0])) }
      if counts[1] > 0 { last.append((end, counts[1], keys[1])) }
    }
    var found: Set<UInt32> = []
    for (end, firstCount, firstKey) in first {
      for (start, lastCount, lastKey) in last where start == end || word.hasDigit && start > end {
        if min(firstCount, lastCount) > most { continue }
        // What has both is few rows; what has one may be many.
        let (rareKey, otherKey) = firstCount < lastCount ? (firstKey, lastKey) : (lastKey, firstKey)
        var rare: Set<UInt32> = []
        try forEachRow(of: rareKey) { rare.insert($0) }
        try forEachRow(of: otherKey) { if rare.contains($0) { found.insert($0) } }
      }
    }
    if found.isEmpty { return }
    count += found.count
    sources.append(.rows(found.sorted()))
  }

  /// Calls `body` with each row of a word, dead ones included.
  private func forEachRow(of word: [UInt8], _ body: (UInt32) -> Void) throws(StoreError) {
    try store.forEachKeyAndRows(of: indexes.search, from: .before(word), to: .afterPrefix(word)) { _, _ in
      true
    } _: { (_, rows) throws(StoreError) in
      for position in 0..<rows.count { body(rows[position]) }
      return true
    }
  }

  /// Adds the words that begin with the word.
  private mutating func addBeginnings() throws(StoreError) {
    let key = [SearchTerm.word] + word.text
    try add(indexes.search, .before(key), .afterPrefix(key))
  }

  private mutating func add(
    _ index: OrderedIndexID, _ first: OrderedGap, _ last: OrderedGap
  ) throws(StoreError) {
    let count = try store.rowCount(inOrderOf: index, from: first, to: last).count
    if count == 0 { return }
    self.count += count
    sources.append(.range(index, first, last))
  }

  /// Adds the barcodes that a word may be a part of.
  private mutating func addCodes(_ stage: SearchStage) throws(StoreError) {
    let key = [SearchTerm.code] + word.code
    if word.canBeCode, stage >= .parts || word.code.count >= SearchWord.longCode {
      try add(indexes.barcode, .before(key), .afterPrefix(key))
    } else {
      try add(indexes.barcode, .before(key), .after(key))
    }
    if word.canBeCodePart, stage >= .parts { try addKeys(containing: word.code, indexes.barcode) }
  }

  /// Adds the keys whose text has a part, but does not begin with it.
  private mutating func addKeys(containing part: some Collection<UInt8>, _ index: OrderedIndexID) throws(StoreError) {
    let part = Array(part)
    var count = 0
    try store.forEachKey(containing: part.rawSpan, of: index) { (key, rows) throws(StoreError) in
      if !Self.begins(key, part) { count += rows }
      return true
    }
    if count == 0 { return }
    self.count += count
    sources.append(.containing(index, part))
  }

  /// Whether the text of a key begins with a part: then another source has it.
  private static func begins(_ key: RawSpan, _ part: [UInt8]) -> Bool {
    key.slice(1, key.byteCount - 1).begins(with: part.rawSpan)
  }

  /// Adds what is written in Chinese characters that are read as a word.
  private mutating func addReadings() throws(StoreError) {
    let initials = [SearchTerm.initials, 0] + word.bytes.prefix(SearchTerm.initialCount)
    try add(indexes.search, .before(initials), .afterPrefix(initials))
    var windows: Set<[UInt8]> = []
    for segmentation in Pinyin.segmentations(of: word.bytes.rawSpan) {
      var letters = segmentation.syllables.prefix(SearchTerm.syllableCount).flatMap { Array($0.letters.utf8) }
      if segmentation.syllables.count < SearchTerm.syllableCount { letters += Array(segmentation.rest.utf8) }
      windows.insert(letters)
    }
    for letters in windows.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
      let key = [SearchTerm.pinyin, 0] + letters
      try add(indexes.search, .before(key), .afterPrefix(key))
    }
  }

  /// The number of pairs of a run that are counted, so that a long run takes no long time.
  private static let mostPairs = 64

  /// Adds a pair of neighbouring characters of a run.
  private mutating func addPair(_ first: Range<Int>, _ second: Range<Int>) throws(StoreError) {
    let pair = [SearchTerm.pair, 0] + word.bytes[first.lowerBound..<second.upperBound]
    try add(indexes.search, .before(pair), .afterPrefix(pair))
  }

  /// Adds the rarest pair of characters of a run.
  private mutating func addRun() throws(StoreError) {
    // The first pairs will do: what they lead to is compared with the whole run.
    let characters = word.characters.prefix(Self.mostPairs + 1)
    var best: (count: Int, key: [UInt8])?
    for index in 0..<max(1, characters.count - 1) {
      let end = characters[min(index + 1, characters.count - 1)].upperBound
      let pair = [SearchTerm.pair, 0] + word.bytes[characters[index].lowerBound..<end]
      let count = try store.rowCount(inOrderOf: indexes.search, from: .before(pair), to: .afterPrefix(pair)).count
      if count < best?.count ?? .max { best = (count, pair) }
    }
    guard let best else { return }
    exactCount = best.count
    try add(indexes.search, .before(best.key), .afterPrefix(best.key))
  }

  /// Calls `body` with the rows of each key and their rank, in no particular order. A row may come several times.
  ///
  /// - Parameter ranks: The ranks whose rows are read.
  func forEachKey(
    _ ranks: ClosedRange<Int> = WordCandidates.allRanks, _ body: (Span<UInt32>, Int) -> Void
  ) throws(StoreError) {
    try forEachKey(where: { rank, _ in ranks.contains(rank) }, body)
  }

  static let allRanks = 1...SearchTerm.Rank.count

  /// The rows of the best ranks, and how many rows there are of each rank.
  struct BestRanks {
    /// The rows of each rank up to ``last``.
    var rows = [[UInt32]](repeating: [], count: SearchTerm.Rank.count + 1)
    /// The number of rows of each rank, dead ones and repeated ones included.
    var counts = [Int](repeating: 0, count: SearchTerm.Rank.count + 1)
    /// The last of the ranks whose rows were read.
    var last = SearchTerm.Rank.count
  }

  /// Returns the rows of as many ranks, from the best one on, as have `wanted` rows together.
  ///
  /// - Complexity: Each key is read once.
  func bestRanks(atLeast wanted: Int) throws(StoreError) -> BestRanks {
    var best = BestRanks()
    // The number of rows of the ranks before the last.
    var before = 0
    try forEachKey { rank, count in
      best.counts[rank] += count
      if rank > best.last { return false }
      if rank < best.last { before += count }
      while before >= wanted, best.last > 1 {
        best.last -= 1
        before -= best.counts[best.last]
      }
      return rank <= best.last
    } _: { rows, rank in
      for position in 0..<rows.count { best.rows[rank].append(rows[position]) }
    }
    best.rows.removeSubrange((best.last + 1)...)
    return best
  }

  /// Calls `body` with the rows of each key that is wanted, and their rank.
  ///
  /// - Parameter isWanted: Returns whether the rows of a key are read, from their rank and their number.
  private func forEachKey(
    where isWanted: (Int, Int) -> Bool, _ body: (Span<UInt32>, Int) -> Void
  ) throws(StoreError) {
    var rows: [UInt32] = []
    for source in sources {
      switch source {
      case .range(let index, let first, let last):
        try store.forEachKeyAndRows(of: index, from: first, to: last) { key, count in
          isWanted(Self.rank(key), count)
        } _: { (key, rows) throws(StoreError) in
          body(rows, Self.rank(key))
          return true
        }
      case .containing(let index, let part):
        try store.forEachKeyAndRows(containing: part.rawSpan, of: index) { key, count in
          !Self.begins(key, part) && isWanted(Self.rank(key), count)
        } _: { (key, rows) throws(StoreError) in
          body(rows, Self.rank(key))
          return true
        }
      case .rows(let found):
        // Most of them have the whole word, which is better than a part of one.
        if isWanted(SearchTerm.Rank.first, found.count) { body(found.span, SearchTerm.Rank.first) }
      case .keys(let index, let keys):
        for key in keys {
          rows.removeAll(keepingCapacity: true)
          try store.appendRows(of: key.rawSpan, in: index, to: &rows)
          let rank = Self.rank(key.rawSpan)
          if isWanted(rank, rows.count) { body(rows.span, rank) }
        }
      }
    }
  }

  /// Returns the rank of the products of a key, 1 to 12: the lower, the better they fit.
  private static func rank(_ key: RawSpan) -> Int {
    switch key.byteCount > 2 ? key.u8(at: 0) : 0 {
    case SearchTerm.word, SearchTerm.pair:
      return min(max(Int(key.u8(at: key.byteCount - 1)), 1), SearchTerm.Rank.count)
    default: return SearchTerm.Rank.count
    }
  }
}

// MARK: Typing mistakes

extension WordCandidates {
  /// The candidates of the stage ``SearchStage/typos``: also the words that differ in one character, or in the order of
  /// two neighbours.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  func withTypos() throws(StoreError) -> WordCandidates {
    guard word.canHaveTypo else { return self }
    var result = self
    try result.addTypos()
    return result
  }

  private mutating func addTypos() throws(StoreError) {
    let characters = word.characters
    // An edit leaves the characters before it as they are, or those after it. A swap at the middle leaves fewer.
    let isLong = characters.count >= 6
    let middle = isLong ? characters.count / 2 : 2
    var keys: Set<[UInt8]> = []
    let beginning = [SearchTerm.word] + word.bytes[..<characters[middle - 2].upperBound]
    func receive(_ key: RawSpan) {
      var end = 1
      while end < key.byteCount, key.u8(at: end) != 0 { end += 1 }
      if OneEdit.matches(word.bytes.rawSpan, key.slice(1, end - 1)) { keys.insert(key.copied()) }
    }
    try store.forEachKey(of: indexes.search, from: .before(beginning), to: .afterPrefix(beginning)) {
      (key, _) throws(StoreError) in
      receive(key)
      return true
    }
    if isLong {
      let rest = Array(word.bytes[characters[middle].lowerBound...])
      try store.forEachKey(containing: rest.rawSpan, of: indexes.search) { (key, _) throws(StoreError) in
        receive(key)
        return true
      }
    } else {
      for other in Self.editsOfFirst(word.bytes, characters) {
        let key = [SearchTerm.word] + other + [0]
        try store.forEachKey(of: indexes.search, from: .before(key), to: .afterPrefix(key)) {
          (key, _) throws(StoreError) in
          keys.insert(key.copied())
          return true
        }
      }
    }
    if keys.isEmpty { return }
    let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
    var rows: [UInt32] = []
    for key in sorted { try store.appendRows(of: key.rawSpan, in: indexes.search, to: &rows) }
    count += rows.count
    sources.append(.keys(indexes.search, sorted))
  }

  /// The words that differ from one in its first character, with the letters a to z and digits.
  private static func editsOfFirst(_ word: [UInt8], _ characters: [Range<Int>]) -> [[UInt8]] {
    let rest = Array(word[characters[0].upperBound...])
    var edits = [rest]
    for letter in Array(0x61...0x7A) + Array(0x30...0x39) as [UInt8] {
      edits.append([letter] + rest)
      edits.append([letter] + word)
    }
    if characters.count > 1 {
      edits.append(Array(word[characters[1]] + word[characters[0]] + word[characters[1].upperBound...]))
    }
    return edits.filter { !$0.isEmpty }
  }
}

/// The indexes of a catalogue that a search reads.
struct SearchIndexes {
  let store: Snapshot
  let search: OrderedIndexID
  let barcode: OrderedIndexID
  /// The fields of one's own whose words the index has.
  let fields: [ExtraField]

  /// Fails if the catalogue does not have them.
  init?(_ store: Snapshot) {
    var search: (id: OrderedIndexID, fields: [ExtraField])?
    for name in store.orderedIndexes(of: CatalogSchema.products) {
      guard let index = ProductIndex(named: name), let fields = index.searchedFields else { continue }
      search = store.orderedIndex(CatalogSchema.products, named: name).map { ($0, fields) }
    }
    guard let search,
      let barcode = store.orderedIndex(CatalogSchema.products, named: ProductIndex.barcodeParts.name)
    else { return nil }
    self.store = store
    self.search = search.id
    fields = search.fields
    self.barcode = barcode
  }
}
