import Barcodes
package import Catalog
package import CatalogRows
package import LogStore
package import RowFiles

/// The products that the codes of a table of their own can belong to, by the field that says which one is meant.
package struct CodeJoin {
  /// Who has a value of the field.
  private enum Owner {
    case product(String)
    case several
  }

  private let field: ProductField
  /// Whether the products are all that there will be. Otherwise the catalogue knows which ids there are.
  private let isWhole: Bool
  private var ids = RowIDs()
  private var owners: [String: Owner] = [:]
  /// The number of codes whose product is not there, and the first of them.
  package private(set) var orphanCount = 0
  package private(set) var firstOrphan: (code: String, product: String)?

  /// Creates a join.
  ///
  /// - Parameters:
  ///   - field: The field of the product that a code names: its id, `skuCode` or `barcode`.
  ///   - isWhole: Whether the rows are the whole catalogue.
  ///   - snapshot: The catalogue, whose products count too if the rows are not the whole.
  /// - Throws: `StoreError`.
  /// - Complexity: Reads every product of the catalogue, unless codes name products by id or the rows are the whole.
  package init(_ field: ProductField, isWhole: Bool, _ snapshot: CatalogSnapshot?) throws(StoreError) {
    self.field = field
    self.isWhole = isWhole
    guard !isWhole, field != .id, let snapshot else { return }
    var found: [(key: String, id: String)] = []
    let isCode = field == .barcode
    try snapshot.forEachProduct { (view) throws(StoreError) in
      if view.delFlag == 0 { found.append((isCode ? view.barcode : view.skuCode, view.id)) }
    }
    for (key, id) in found { add(key, id) }
  }

  /// Notes a product of the rows.
  package mutating func note(_ row: borrowing ProductRow) {
    if row.delFlag != 0 { return }
    if field != .id { return add(row[field == .barcode ? .barcode : .skuCode], row[.id]) }
    if isWhole { row.texts.withText(ProductText.id.rawValue) { _ = ids.insert($0, line: 1) } }
  }

  private mutating func add(_ text: String, _ id: String) {
    let key = Self.key(text, field)
    if key.isEmpty { return }
    if case .product(let other) = owners[key], other != id {
      owners[key] = .several
    } else {
      owners[key] = .product(id)
    }
  }

  private static func key(_ text: String, _ field: ProductField) -> String {
    field == .barcode ? WrittenCode.key(text) : text.trimmed
  }

  /// Puts the id of its product into a code that names it. Returns whether the product is there.
  ///
  /// - Throws: `RowRefusal` if several products have the value that the code names.
  package mutating func resolve(_ row: inout CodeRow) throws(RowRefusal) -> Bool {
    let name = row[.productId]
    if field == .id {
      var isKnown = !isWhole
      if isWhole { row.texts.withText(CodeText.productId.rawValue) { isKnown = ids.contains($0) } }
      if !isKnown { countOrphan(row) }
      return isKnown
    }
    switch owners[Self.key(name, field)] {
    case .product(let id):
      row.texts.set(CodeText.productId.rawValue, id)
      return true
    case .several:
      throw RowRefusal(
        .ambiguousCode,
        "several products have the \(field.key) \"\(name)\", so that it does not say whose code this is; name the product"
          + " by another field (--join, or \"join\" of codesFrom)")
    case nil:
      countOrphan(row)
      return false
    }
  }

  private mutating func countOrphan(_ row: borrowing CodeRow) {
    orphanCount += 1
    if firstOrphan == nil { firstOrphan = (row[.code], row[.productId]) }
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace ?? false { text.removeFirst() }
    while text.last?.isWhitespace ?? false { text.removeLast() }
    return String(text)
  }
}
