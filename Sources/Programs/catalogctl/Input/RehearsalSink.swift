import Catalog
import CatalogFiles
import CatalogRows
import LogStore
import RowFiles

/// A sink that keeps the first products for display, and only checks the size of the others.
struct RehearsalSink: RowSink {
  private static let keptCount = 5

  private var check = RowSizeCheck()
  /// The comparison with the catalogue; `nil` if the file would replace it.
  var merge: CatalogMerge?
  /// The products that the codes of a table of their own can belong to, and whether the codes that come now are those.
  var join: CodeJoin?
  var joinsCodes = false
  private var quantities = CodeQuantities()
  private var joined = CodeRow()
  /// The first products as JSON.
  private(set) var first: [[UInt8]] = []

  mutating func product(_ row: borrowing ProductRow) throws {
    do {
      try check.product(row)
      join?.note(row)
      try merge?.product(row)
    } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
    if first.count >= Self.keptCount { return }
    guard let merge, merge.matchesCodes else { return show(row) }
    // The row is about this product, and any other is left out.
    guard let id = try merge.productID(withCode: row[.barcode]) else { return }
    var own = copy row
    own.texts.set(ProductText.id.rawValue, Array(id.utf8).span)
    show(own)
  }

  private mutating func show(_ row: borrowing ProductRow) {
    var text: [UInt8] = []
    RowJSON.appendDump(row, to: &text)
    first.append(text)
  }

  mutating func code(_ row: borrowing CodeRow) throws {
    joined.copy(row)
    let isOfTable = joinsCodes && !row.isOfProductRow
    if isOfTable, try !(join?.resolve(&joined) ?? true) { return }
    try quantities.check(joined, isOfTable: isOfTable)
    do {
      try check.code(joined)
      try merge?.code(joined)
    } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
  }

  mutating func relation(_ row: borrowing RelationRow) throws {
    do {
      try check.relation(row)
      try merge?.relation(row)
    } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
  }
}
