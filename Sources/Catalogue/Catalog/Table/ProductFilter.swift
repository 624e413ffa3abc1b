import Bytes
import LogStore

/// Filters of a table of products. A product has to pass all that are set.
package struct ProductFilter: Sendable {
  /// The brand, compared as the index by brand orders it: folded, token by token.
  package var brand: String?
  /// The category, compared as the brand is.
  package var category: String?
  /// Whether the product is a set, by its own field.
  package var isSet: Bool?
  /// Whether the server sent the product as deleted.
  package var isDeleted: Bool?
  /// Whether the product has codes in the table of codes.
  package var hasCodes: Bool?
  /// The commit since which the product was added or changed. It may belong to another generation.
  package var changedSince: CatalogSnapshot?
  /// A condition on the fields.
  package var condition: ProductQuery?

  /// Creates a filter that every product passes.
  package init() {}

  /// Whether every product passes.
  package var isEmpty: Bool {
    brand == nil && category == nil && isSet == nil && isDeleted == nil && hasCodes == nil && changedSince == nil
      && condition == nil
  }
}

/// A filter prepared for one snapshot.
struct ProductFilterTest: Sendable {
  private let filter: ProductFilter
  /// The store of the commit since which products were added or changed; `nil` if it had none, so that all were.
  private let earlier: Snapshot?
  private let snapshot: CatalogSnapshot
  /// Texts that are compared with those of the record.
  private var folded: [FoldedText] = []
  /// The rows of which others cannot pass, in the order of the file; `nil` if an index says nothing about it.
  private(set) var candidates: [RowID]?
  private var keys = ProductIndexKeys()
  private var scratch: [UInt8] = []
  /// Of an index with more rows than this share of all, the first ones are found sooner in the table's own order.
  private static let frequentShare = 8
  /// As many rows are taken from the index in any case.
  private static let smallCount = 1000

  /// - Throws: `StoreError.damaged`.
  /// - Complexity: A few nanoseconds for each row that an index finds, and for each row that was written since a commit
  ///   of this generation.
  init(_ filter: ProductFilter, _ snapshot: CatalogSnapshot) throws(StoreError) {
    self.filter = filter
    self.snapshot = snapshot
    earlier = filter.changedSince?.store
    let texts: [(CatalogIndexes.Order, String?)] = [(.brand, filter.brand), (.category, filter.category)]
    for (order, text) in texts {
      guard let text else { continue }
      let key = keys.key(of: order, Array(text.utf8))
      guard let store = snapshot.store,
        let index = store.orderedIndex(CatalogSchema.products, named: order.rawValue),
        case let count = try store.rowCount(inOrderOf: index, from: .before(key), to: .after(key)).count,
        count <= max(Self.smallCount, snapshot.productCount / Self.frequentShare)
      else {
        folded.append(FoldedText(order, key, text: Array(text.utf8)))
        continue
      }
      var rows: [RowID] = []
      rows.reserveCapacity(count)
      try store.appendRows(inOrderOf: index, from: .before(key), to: .after(key), to: &rows)
      rows.sort()
      restrict(to: rows)
    }
    if let store = snapshot.store, let earlier, try store.descends(from: earlier) {
      restrict(to: try store.changes(since: earlier).added[CatalogSchema.products])
    }
  }

  /// Leaves the candidates that are among `rows`, which are in the order of the file.
  private mutating func restrict(to rows: [RowID]) {
    guard let found = candidates else {
      candidates = rows
      return
    }
    let members = RowBits(found)
    candidates = rows.filter(members.contains)
  }

  /// Whether a product that is among the candidates passes.
  mutating func passes(_ view: borrowing ProductView) throws(StoreError) -> Bool {
    if let isDeleted = filter.isDeleted, (view.delFlag != 0) != isDeleted { return false }
    if let isSet = filter.isSet, view.isGroupedProduct != isSet { return false }
    if let hasCodes = filter.hasCodes, try snapshot.hasCodes(ofProduct: view.utf8.id) != hasCodes { return false }
    for index in folded.indices {
      let text = try view.utf8.shared(folded[index].order == .brand ? .brand : .category)
      if !folded[index].matches(text, &keys) { return false }
    }
    if try filter.condition?.matches(view, &scratch) == false { return false }
    // A row that was written again unchanged has not changed.
    if let earlier, let former = try earlier.product(id: view.utf8.id) { return try !view.hasSameContent(as: former) }
    return true
  }

  /// Whether only the candidates decide, so that no record has to be read.
  var isDecidedByCandidates: Bool {
    filter.changedSince == nil && filter.isDeleted == nil && filter.isSet == nil && filter.hasCodes == nil
      && folded.isEmpty && filter.condition == nil
  }
}

/// A brand or category to compare with those of records. Texts that were compared before are not folded again, as many
/// records have the same ones.
private struct FoldedText: Sendable {
  /// The maximum number of texts that are remembered.
  private static let memoryCount = 4096

  /// ``CatalogIndexes/Order/brand`` or `.category`.
  let order: CatalogIndexes.Order
  private let key: [UInt8]
  /// The last text that had the key.
  private var last: [UInt8]
  private var results: [[UInt8]: Bool] = [:]

  init(_ order: CatalogIndexes.Order, _ key: [UInt8], text: [UInt8]) {
    self.order = order
    self.key = key
    last = text
  }

  mutating func matches(_ text: RawSpan, _ keys: inout ProductIndexKeys) -> Bool {
    if text.hasSameBytes(as: last.rawSpan) { return true }
    let bytes = text.copied()
    if let result = results[bytes] { return result }
    let matches = keys.key(of: order, bytes) == key
    if results.count < Self.memoryCount { results[bytes] = matches }
    if matches { last = bytes }
    return matches
  }
}

/// The rows of a snapshot that belong to a set of rows: a bit for each row.
///
/// The engine's `UnitSet` is for few rows among many. Here up to half of all rows belong, and each row is tested.
struct RowBits: Sendable {
  private var words: [UInt64] = []

  init(_ rows: [RowID]) {
    let last = rows.lazy.map(\.number).max() ?? 0
    words = [UInt64](repeating: 0, count: Int(last >> 6) + 1)
    for row in rows { words[Int(row.number >> 6)] |= 1 << (row.number & 63) }
  }

  /// Adds a row, and returns whether it was not there.
  mutating func insert(_ row: RowID) -> Bool {
    let word = Int(row.number >> 6)
    if word >= words.count {
      let more = max(1024, word + 1 - words.count, words.count)
      words.append(addingCapacity: more) { $0.append(repeating: 0, count: more) }
    }
    let bit: UInt64 = 1 << (row.number & 63)
    if words[word] & bit != 0 { return false }
    words[word] |= bit
    return true
  }

  /// The rows, in ascending order.
  var rows: [RowID] {
    var rows: [RowID] = []
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        rows.append(RowID(number: UInt64(index) << 6 | UInt64(rest.trailingZeroBitCount)))
        rest &= rest - 1
      }
    }
    return rows
  }

  func contains(_ row: RowID) -> Bool {
    let word = Int(row.number >> 6)
    return word < words.count && words[word] >> (row.number & 63) & 1 == 1
  }
}

extension ProductIndexKeys {
  /// The key of a product in an index with one key for each product.
  mutating func key(of index: ProductIndex, _ view: borrowing ProductView) throws(StoreError) -> [UInt8] {
    var found: [UInt8] = []
    let updateTime = Array(view.updateTime.utf8)
    // The barcode's key is the one under which the record is found.
    let code = CodeKey.of(Array(view.barcode.utf8).rawSpan)
    let texts = IndexedTexts(
      id: view.utf8.id, name: view.utf8.name, brand: try view.utf8.shared(.brand),
      category: try view.utf8.shared(.category), skuCode: view.utf8.skuCode, code: code.rawSpan,
      updateTime: updateTime.rawSpan, extra: view.utf8.extra)
    forEachKey(of: index, texts) { found = $0.copied() }
    return found
  }

  /// The key of a text in the index of an order.
  mutating func key(of order: CatalogIndexes.Order, _ text: [UInt8]) -> [UInt8] {
    var found: [UInt8] = []
    let span = text.rawSpan
    let texts = IndexedTexts(
      id: span, name: span, brand: span, category: span, skuCode: span, code: span, updateTime: span,
      extra: span.slice(0, 0))
    forEachKey(of: .order(order), texts) { found = $0.copied() }
    return found
  }
}
