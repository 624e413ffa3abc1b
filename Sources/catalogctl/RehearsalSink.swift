import Catalog
import CatalogRows
import CatalogWire
import LogStore

/// A sink that keeps the first products for display, and only checks the size of the others.
struct RehearsalSink: RowSink {
  private static let keptCount = 5

  private var check = RowSizeCheck()
  /// The first products as JSON.
  private(set) var first: [[UInt8]] = []

  mutating func product(_ row: borrowing ProductRow) throws {
    do { try check.product(row) } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
    if first.count < Self.keptCount {
      var text: [UInt8] = []
      RowJSON.appendDump(row, to: &text)
      first.append(text)
    }
  }

  mutating func relation(_ row: borrowing RelationRow) throws {
    do { try check.relation(row) } catch StoreError.tooLarge(let what, let byteCount, let limit) {
      throw RowRefusal("\(what) would take \(byteCount) bytes, and there is room for \(limit)")
    }
  }
}
