import Catalog
import CatalogRows
import LogStore
import RowFiles

/// A sink that keeps the first products for display, and only checks the size of the others.
struct RehearsalSink: RowSink {
  private static let keptCount = 5

  private var check = RowSizeCheck()
  /// The comparison with the catalogue; `nil` if the file would replace it.
  var merge: CatalogMerge?
  /// The first products as JSON.
  private(set) var first: [[UInt8]] = []

  mutating func product(_ row: borrowing ProductRow) throws {
    do {
      try check.product(row)
      try merge?.product(row)
    } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
    if first.count < Self.keptCount {
      var text: [UInt8] = []
      RowJSON.appendDump(row, to: &text)
      first.append(text)
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
