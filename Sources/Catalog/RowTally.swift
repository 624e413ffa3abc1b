import Bytes
import CatalogRows
import LogStore

/// Counts the rows of an update, and notes those that the format has no room for.
struct RowTally {
  /// `nil` makes a row that exceeds a limit an error.
  let gate: RowGate?
  private(set) var products = 0
  private(set) var relations = 0
  private(set) var productsWithoutID = 0
  private(set) var skipped = SkippedRows()
  private var skippedProducts = 0
  private var encoder = ProductEncoder()
  private var relationEncoder = RelationEncoder()

  init(gate: RowGate?) { self.gate = gate }

  /// Counts a product.
  ///
  /// - Parameter idOnly: Whether the row is a deletion, of which nothing but the id is used.
  /// - Returns: Whether it can be stored.
  /// - Throws: `StoreError.tooLarge` for one that cannot, if there is no gate.
  mutating func takes(_ row: borrowing ProductRow, needingIDOnly idOnly: Bool = false) throws(StoreError) -> Bool {
    products += 1
    if row.texts.byteCount(ProductText.id.rawValue) == 0 { productsWithoutID += 1 }
    do throws(StoreError) {
      if !idOnly || row.texts.byteCount(ProductText.id.rawValue) > Schema.maximumKeyLength {
        try encoder.checkSize(of: row)
      }
    } catch {
      try skip(.product, products - 1, row.texts.string(ProductText.id.rawValue), error)
      skippedProducts += 1
      return false
    }
    return true
  }

  /// As ``takes(_:needingIDOnly:)``, for a relation.
  mutating func takes(_ row: borrowing RelationRow) throws(StoreError) -> Bool {
    relations += 1
    do throws(StoreError) { try relationEncoder.checkSize(of: row) } catch {
      try skip(.relation, relations - 1, row.texts.string(RelationText.id.rawValue), error)
      return false
    }
    return true
  }

  private mutating func skip(
    _ kind: SkippedRow.Kind, _ index: Int, _ id: @autoclosure () -> String, _ error: StoreError
  ) throws(StoreError) {
    guard gate != nil, case .tooLarge = error else { throw error }
    skipped.note(SkippedRow(kind: kind, index: index, id: String(id().prefix(40)), reason: "\(error)"))
  }

  /// - Throws: `CatalogError.tooManySkipped`.
  func checkSkipped() throws(CatalogError) { try gate?.check(skipped, of: products + relations) }

  /// What became of the rows, where `distinct` products remain of those that could be stored.
  ///
  /// - Throws: `CatalogError.wouldCollapse`.
  func notices(distinct: Int) throws(CatalogError) -> UpdateNotices {
    var notices = UpdateNotices()
    notices.skipped = skipped
    notices.collapsed = products - skippedProducts - distinct
    try gate?.check(collapsed: notices.collapsed, of: products, withoutID: productsWithoutID)
    return notices
  }
}
