import Bytes
import LogStore
import SearchText

/// The rows of products that may match a word, from the indexes: a superset of those that do.
struct WordCandidates {
  /// Where the index has rows of a word.
  private enum Source {
    case range(OrderedIndexID, OrderedGap, OrderedGap)
    /// A whole word, with the zero after it: its keys differ in the rank.
    case word([UInt8])
    case keys(OrderedIndexID, [[UInt8]])
    /// The keys whose text has a part, but does not begin with it.
    case containing(OrderedIndexID, [UInt8])
    /// Rows that were looked up, by rank.
    case rows([[UInt32]])
  }

  private let store: Snapshot
  private var sources: [Source] = []
  /// About how many rows there are, dead ones included.
  private(set) var count = 0
  /// The number of products that have the word as it is, for its weight.
  let exactCount: Int

  /// Whether the word is a letter or digit that may not have been meant.
  var isStray: Bool { word.canBeStray }
  /// Whether the word is *and* between others, which products need not have.
  var isConjunction: Bool { word.isConjunction }

  /// The number of the word in the search.
  let number: Int
  private let word: SearchWord
  /// The other spellings of the word's umlauts.
  private var spellings: [[UInt8]] = []
  private let indexes: SearchIndexes

  /// Finds where the index has a word as it is, or the number that it is a part of.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  init(_ word: SearchWord, number: Int, _ indexes: SearchIndexes) throws(StoreError) {
    self.word = word
    self.number = number
    self.indexes = indexes
    store = indexes.store
    switch word.kind {
    case .cjk:
      let run = try Self.rarestPair(of: word, indexes)
      exactCount = run.count
      add(run)
    case .word:
      let exact = try Self.wholeWord(word.text, indexes)
      exactCount = exact.count
      if word.isConjunction { return }
      // Of a long word the index has parts, which say less than the word.
      if !word.isCut { add(exact) }
      try addSpellingsOfNumber()
    }
  }

  /// The candidates of the stage ``SearchStage/words``: beginnings of words and barcodes, too.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  func withBeginnings() throws(StoreError) -> WordCandidates {
    guard word.kind == .word, !word.isConjunction else { return self }
    var result = self
    if word.isLast || word.isCut {
      result.sources = []
      result.count = 0
      try result.addBeginnings()
      try result.addSpellingsOfNumber()
    }
    try result.addCodes(.words)
    return result
  }

  /// Adds a number with letters as it is written in one word, if the word is a part of it, or in several: `DN50` and
  /// `DN 50` are the same.
  private mutating func addSpellingsOfNumber() throws(StoreError) {
    for join in word.joins where join.isNumber { try addWord(join.bytes) }
    if word.hasBoundary { try addSeparated(Self.mostSeparatedFirst) }
  }

  /// Whether the word is a part of a number that is spelled apart, as `dn` and `50` are.
  var isPartOfNumber: Bool { word.kind == .word && word.joins.contains(where: \.isNumber) }

  /// Makes the forms of the word, for the stages from ``SearchStage/forms`` on.
  ///
  /// - Returns: Whether there are any.
  mutating func findForms(_ nouns: NounForms) -> Bool {
    guard word.kind == .word, !word.isConjunction else { return false }
    word.nouns = nouns.forms(of: word.bytes)
    spellings = word.spellings
    return !word.nouns.isEmpty || !spellings.isEmpty
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
    for noun in word.nouns { try result.addWord(noun) }
    for spelling in spellings { try result.addWord(spelling, isBeginning: word.isLast) }
    return result
  }

  /// About how many rows the parts of the word have: those that it has itself, and of a word of few letters those of the
  /// many words in which it is.
  var expectedParts: Int { count + (1 << (2 * max(0, 8 - word.bytes.count))) }

  /// Adds what has a word, or one that begins with it.
  private mutating func addWord(_ word: [UInt8], isBeginning: Bool = false) throws(StoreError) {
    if isBeginning {
      add(try Self.range(indexes.search, [SearchTerm.word] + word, store))
    } else {
      add(try Self.wholeWord(word[...], indexes))
    }
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
    for noun in word.nouns { try result.addWord(noun) }
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
    // Few ends of words are words, so they are looked up first.
    var last: [(start: Int, found: WordRows)] = []
    for start in ends {
      let isBeginning = word.isLast && word.bytes.count - start >= SearchWord.shortestBeginning
      let found = try rows(of: word.bytes[start...], isBeginning: isBeginning)
      if found.count > 0 { last.append((start, found)) }
    }
    var all = RowSet()
    var rows: [UInt32] = []
    for end in ends where last.contains(where: { $0.start == end || word.hasDigit && $0.start > end }) {
      let first = try self.rows(of: word.bytes[..<end], isBeginning: false)
      for (start, last) in last where start == end || word.hasDigit && start > end {
        let (rare, other) = first.count < last.count ? (first, last) : (last, first)
        if rare.count == 0 || rare.count > most { continue }
        let found = try self.rows(ofBoth: rare, other)
        for row in found where all.insert(row) { rows.append(row) }
      }
    }
    add((.rows(Self.ofFirstRank(rows.sorted())), rows.count))
  }

  /// The rows of a word, or of all that begin with it, and their number.
  private struct WordRows {
    let key: [UInt8]
    let count: Int
  }

  private func rows(of word: ArraySlice<UInt8>, isBeginning: Bool) throws(StoreError) -> WordRows {
    let key = [SearchTerm.word] + word + (isBeginning ? [] : [0])
    let (first, last) = (OrderedGap.before(key), OrderedGap.afterPrefix(key))
    return WordRows(key: key, count: try store.rowCount(inOrderOf: indexes.search, from: first, to: last).count)
  }

  /// The rows that have two words. What has both is few rows; what has one may be many, which are not read if it takes
  /// less time to read the products.
  private func rows(ofBoth rare: WordRows, _ other: WordRows) throws(StoreError) -> [UInt32] {
    var rows: [UInt32] = []
    try forEachRow(of: rare.key) { rows.append($0) }
    if RowFilters.rowsPerProduct * rare.count < other.count { return rows }
    var both: [UInt32] = []
    var rareRows = RowSet(rows)
    try forEachRow(of: other.key) { if rareRows.remove($0) { both.append($0) } }
    return both
  }

  /// Rows that are as good as those of the best rank.
  private static func ofFirstRank(_ rows: [UInt32]) -> [[UInt32]] {
    var ranks = [[UInt32]](repeating: [], count: SearchTerm.Rank.first)
    ranks.append(rows)
    return ranks
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
    add(try Self.rows(of: .range(index, first, last), index, first, last, store))
  }

  private mutating func add(_ found: (source: Source, count: Int)) {
    if found.count == 0 { return }
    count += found.count
    sources.append(found.source)
  }

  /// The rows of a whole word, and their number.
  private static func wholeWord(
    _ word: ArraySlice<UInt8>, _ indexes: SearchIndexes
  ) throws(StoreError) -> (source: Source, count: Int) {
    let key = [SearchTerm.word] + word + [0]
    return try rows(of: .word(key), indexes.search, .before(key), .afterPrefix(key), indexes.store)
  }

  /// The rows of the keys that begin with `prefix`, and their number.
  private static func range(
    _ index: OrderedIndexID, _ prefix: [UInt8], _ store: Snapshot
  ) throws(StoreError) -> (source: Source, count: Int) {
    let (first, last) = (OrderedGap.before(prefix), OrderedGap.afterPrefix(prefix))
    return try rows(of: .range(index, first, last), index, first, last, store)
  }

  /// The number of rows up to which they are read at once, as that takes no longer than counting them.
  private static let fewRows = 512

  /// The rows between two gaps, or their source if they are many, and their number.
  private static func rows(
    of source: Source, _ index: OrderedIndexID, _ first: OrderedGap, _ last: OrderedGap, _ store: Snapshot
  ) throws(StoreError) -> (source: Source, count: Int) {
    var ranks: [[UInt32]] = []
    var count = 0
    try store.forEachKeyAndRows(of: index, from: first, to: last) { (key, rows) throws(StoreError) in
      count += rows.count
      if count > fewRows { return false }
      if ranks.isEmpty { ranks = [[UInt32]](repeating: [], count: SearchTerm.Rank.count + 1) }
      let rank = rank(key)
      for position in 0..<rows.count { ranks[rank].append(rows[position]) }
      return true
    }
    if count <= fewRows { return (.rows(ranks), count) }
    return (source, try store.rowCount(inOrderOf: index, from: first, to: last).count)
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

  /// The number of rows of the keys that contain a part up to which they are kept.
  private static let mostKept = 1 << 14

  /// Adds the keys whose text has a part, but does not begin with it.
  private mutating func addKeys(containing part: some Collection<UInt8>, _ index: OrderedIndexID) throws(StoreError) {
    let part = Array(part)
    var count = 0
    var ranks = [[UInt32]](repeating: [], count: SearchTerm.Rank.count + 1)
    try store.forEachKeyAndRows(containing: part.rawSpan, of: index) { key, rows in
      if Self.begins(key, part) { return false }
      count += rows
      return count <= Self.mostKept
    } _: { (key, rows) throws(StoreError) in
      let rank = Self.rank(key)
      for position in 0..<rows.count { ranks[rank].append(rows[position]) }
      return true
    }
    add((count <= Self.mostKept ? .rows(ranks) : .containing(index, part), count))
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

  /// The rows of the rarest pair of characters of a run, and their number.
  private static func rarestPair(
    of word: SearchWord, _ indexes: SearchIndexes
  ) throws(StoreError) -> (source: Source, count: Int) {
    // The first pairs will do: what they lead to is compared with the whole run.
    let characters = word.characters.prefix(mostPairs + 1)
    var best: (source: Source, count: Int)?
    for index in 0..<max(1, characters.count - 1) {
      let end = characters[min(index + 1, characters.count - 1)].upperBound
      let pair = [SearchTerm.pair, 0] + word.bytes[characters[index].lowerBound..<end]
      let found = try range(indexes.search, pair, indexes.store)
      if found.count < best?.count ?? .max { best = found }
    }
    return best ?? (.rows([]), 0)
  }

  /// Calls `body` with the rows of each key and their rank, in no particular order. A row may come several times.
  func forEachKey(_ body: (Span<UInt32>, Int) -> Void) throws(StoreError) {
    try forEachKey(where: { _, _ in true }, body)
  }

  /// A place among the rows of a word, by rank: before all rows of a rank, or after one of them.
  struct RankPlace {
    var rank: Int
    var row: UInt32 = 0

    static let start = RankPlace(rank: SearchTerm.Rank.first)
  }

  /// The number of rows above which those of a whole word are read rank by rank.
  private static let mostRowsAtOnce = 1 << 12

  /// Appends the rows of as many ranks as have `wanted` rows together, the best first.
  ///
  /// - Parameters:
  ///   - place: Where to begin.
  ///   - wanted: The number of rows that are enough.
  ///   - rows: The list.
  /// - Returns: Where to go on; `nil` after the last row.
  /// - Complexity: Reads each key; of a word that many products have, about as many rows as are wanted.
  func appendRows(
    from place: RankPlace, atLeast wanted: Int, to rows: inout [UInt32]
  ) throws(StoreError) -> RankPlace? {
    if count > Self.mostRowsAtOnce, sources.count == 1, case .word(let word) = sources[0] {
      return try appendRows(of: word, from: place, atLeast: wanted, to: &rows)
    }
    var ranks = [[UInt32]](repeating: [], count: SearchTerm.Rank.count + 1)
    var counts = [Int](repeating: 0, count: SearchTerm.Rank.count + 1)
    var last = SearchTerm.Rank.count
    // The number of rows of the ranks before the last.
    var before = 0
    try forEachKey(where: { rank, count in
      if rank < place.rank { return false }
      counts[rank] += count
      if rank > last { return false }
      if rank < last { before += count }
      while before >= wanted, last > place.rank {
        last -= 1
        before -= counts[last]
      }
      return rank <= last
    }) { found, rank in
      for position in 0..<found.count { ranks[rank].append(found[position]) }
    }
    for rank in place.rank...last { rows += ranks[rank] }
    return last < SearchTerm.Rank.count ? RankPlace(rank: last + 1) : nil
  }

  private func appendRows(
    of word: [UInt8], from place: RankPlace, atLeast wanted: Int, to rows: inout [UInt32]
  ) throws(StoreError) -> RankPlace? {
    let limit = rows.count + wanted
    for rank in place.rank...SearchTerm.Rank.count {
      let row = rank == place.rank ? place.row : 0
      try store.appendRows(
        of: (word + [UInt8(rank)]).rawSpan, after: row, in: indexes.search, to: &rows, limit: limit)
      if rows.count >= limit { return rows.last.map { RankPlace(rank: rank, row: $0) } }
    }
    return nil
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
      case .word(let word):
        try store.forEachKeyAndRows(of: indexes.search, from: .before(word), to: .afterPrefix(word)) { key, count in
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
      case .rows(let ranks):
        for (rank, rows) in ranks.enumerated() where !rows.isEmpty && isWanted(rank, rows.count) {
          body(rows.span, rank)
        }
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
