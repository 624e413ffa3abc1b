import Bytes
import LogStore
import SearchText

/// The rows of products that may match a word, from the indexes: a superset of those that do.
struct WordCandidates {
  /// Where the index has rows of a word.
  private enum Source {
    case range(OrderedIndexID, OrderedGap, OrderedGap)
    case keys(OrderedIndexID, [[UInt8]])
  }

  private let store: Snapshot
  private var sources: [Source] = []
  /// About how many rows there are, dead ones included.
  private(set) var count = 0
  /// The number of products that have the word as it is, for its weight.
  private(set) var exactCount = 0

  /// Finds where the indexes have a word.
  ///
  /// - Throws: `StoreError.damaged` if a page fails its check.
  init(
    _ word: SearchWord, _ stage: SearchStage, _ indexes: SearchIndexes
  ) throws(StoreError) {
    store = indexes.store
    switch word.kind {
    case .cjk: try addRun(word, stage, indexes)
    case .word:
      let key = [SearchTerm.word] + word.bytes.prefix(SearchTerm.longestWord / 2)
      let isCut = word.bytes.count > SearchTerm.longestWord / 2
      let exact = (OrderedGap.before(key + [0]), OrderedGap.afterPrefix(key + [0]))
      exactCount = try store.rowCount(inOrderOf: indexes.search, from: exact.0, to: exact.1).count
      if word.isLast || stage >= .parts || isCut {
        try add(indexes.search, .before(key), .afterPrefix(key))
      } else {
        try add(indexes.search, exact.0, exact.1)
      }
      try addCodes(word, stage, indexes)
      if stage >= .parts {
        if word.canBePart { try addKeys(containing: Array(key.dropFirst()), indexes.search) }
        if word.isLatin { try addReadings(word, indexes) }
      }
      if stage >= .typos, word.canHaveTypo { try addTypos(word, indexes) }
    }
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
  private mutating func addCodes(
    _ word: SearchWord, _ stage: SearchStage, _ indexes: SearchIndexes
  ) throws(StoreError) {
    let key = [SearchTerm.code] + word.code
    if word.canBeCode, stage >= .parts || word.code.count >= SearchWord.longCode {
      try add(indexes.barcode, .before(key), .afterPrefix(key))
    } else {
      try add(indexes.barcode, .before(key), .after(key))
    }
    if word.canBeCode, stage >= .parts { try addKeys(containing: word.code, indexes.barcode) }
  }

  /// Adds the keys whose text has a part, but does not begin with it.
  private mutating func addKeys(containing part: [UInt8], _ index: OrderedIndexID) throws(StoreError) {
    var keys: [[UInt8]] = []
    var count = 0
    try store.forEachKey(containing: part.rawSpan, of: index) { (key, rows) throws(StoreError) in
      if key.slice(1, key.byteCount - 1).begins(with: part.rawSpan) { return true }
      // A key of many rows comes in parts, one after the other.
      if keys.last.map({ !key.hasSameBytes(as: $0.rawSpan) }) ?? true { keys.append(key.copied()) }
      count += rows
      return true
    }
    if keys.isEmpty { return }
    self.count += count
    sources.append(.keys(index, keys))
  }

  /// Adds what is written in Chinese characters that are read as a word.
  private mutating func addReadings(_ word: SearchWord, _ indexes: SearchIndexes) throws(StoreError) {
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

  /// Adds the rarest pair of characters of a run.
  private mutating func addRun(
    _ word: SearchWord, _ stage: SearchStage, _ indexes: SearchIndexes
  ) throws(StoreError) {
    let characters = word.characters
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

  /// Calls `body` with each row and its rank, in no particular order. A row may come several times.
  func forEachRow(_ body: (UInt32, Int) -> Void) throws(StoreError) {
    var rows: [UInt32] = []
    for source in sources {
      switch source {
      case .range(let index, let first, let last):
        try store.forEachKeyAndRows(of: index, from: first, to: last) { (key, rows) throws(StoreError) in
          let rank = Self.rank(key)
          for position in 0..<rows.count { body(rows[position], rank) }
          return true
        }
      case .keys(let index, let keys):
        for key in keys {
          rows.removeAll(keepingCapacity: true)
          try store.appendRows(of: key.rawSpan, in: index, to: &rows)
          let rank = Self.rank(key.rawSpan)
          for row in rows { body(row, rank) }
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
  /// Adds the words that differ from one in one character, or in the order of two neighbours.
  fileprivate mutating func addTypos(_ word: SearchWord, _ indexes: SearchIndexes) throws(StoreError) {
    let characters = word.characters
    // An edit leaves the characters before it as they are, or those after it. A swap at the middle leaves fewer.
    let isLong = characters.count >= 6
    let middle = isLong ? characters.count / 2 : 2
    var keys: Set<[UInt8]> = []
    let beginning = [SearchTerm.word] + word.bytes[..<characters[middle - 2].upperBound]
    var cut: [UInt8] = []
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
    let rest = Array(word.bytes[characters[middle].lowerBound...])
    if isLong, rest.count >= SearchWord.shortestPart {
      try store.forEachKey(containing: rest.rawSpan, of: indexes.search) { (key, _) throws(StoreError) in
        receive(key)
        return true
      }
    } else {
      cut = Array(word.bytes[characters[0].upperBound...])
      for other in Self.edits(word.bytes, first: characters[0], rest: cut) {
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
  private static func edits(_ word: [UInt8], first: Range<Int>, rest: [UInt8]) -> [[UInt8]] {
    var edits = [rest]
    for letter in Array(0x61...0x7A) + Array(0x30...0x39) as [UInt8] {
      edits.append([letter] + rest)
      edits.append([letter] + word)
    }
    let characters = SearchWord.characters(word.rawSpan)
    if characters.count > 1 {
      edits.append(Array(word[characters[1]] + word[characters[0]] + word[characters[1].upperBound...]))
    }
    return edits
  }
}

/// The indexes of a catalogue that a search reads.
struct SearchIndexes {
  let store: Snapshot
  let search: OrderedIndexID
  let barcode: OrderedIndexID

  /// Fails if the catalogue does not have them.
  init?(_ store: Snapshot) {
    guard let search = store.orderedIndex(CatalogSchema.products, named: ProductIndex.search.name),
      let barcode = store.orderedIndex(CatalogSchema.products, named: ProductIndex.barcodeParts.name)
    else { return nil }
    self.store = store
    self.search = search
    self.barcode = barcode
  }
}
