import Bytes
import CatalogRows
import LogStore

/// A counter of an update's rows that also records the rows exceeding a limit of the format.
struct RowTally {
  /// The limits for rows; `nil` makes a row that exceeds a limit an error.
  let limits: RowLimits?
  private(set) var products = 0
  private(set) var relations = 0
  private(set) var codes = 0
  private(set) var productsWithoutID = 0
  private(set) var skipped = SkippedRows()
  private var skippedProducts = 0
  private var encoder = ProductEncoder()
  private var relationEncoder = RelationEncoder()
  private var codeEncoder = CodeEncoder()

  init(limits: RowLimits?) { self.limits = limits }

  /// Counts a product.
  ///
  /// - Parameter idOnly: Whether the row is a deletion, of which only the id is used.
  /// - Returns: Whether the row can be stored.
  /// - Throws: `StoreError.tooLarge` if it cannot and ``limits`` is `nil`.
  mutating func accepts(_ row: borrowing ProductRow, needingIDOnly idOnly: Bool = false) throws(StoreError) -> Bool {
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

  /// Counts a relation, as ``accepts(_:needingIDOnly:)`` counts a product.
  mutating func accepts(_ row: borrowing RelationRow) throws(StoreError) -> Bool {
    relations += 1
    do throws(StoreError) { try relationEncoder.checkSize(of: row) } catch {
      try skip(.relation, relations - 1, row.texts.string(RelationText.id.rawValue), error)
      return false
    }
    return true
  }

  /// Counts a code, as ``accepts(_:needingIDOnly:)`` counts a product.
  mutating func accepts(_ row: borrowing CodeRow) throws(StoreError) -> Bool {
    codes += 1
    do throws(StoreError) { try codeEncoder.checkSize(of: row) } catch {
      try skip(.code, codes - 1, row.texts.string(CodeText.id.rawValue), error)
      return false
    }
    return true
  }

  private mutating func skip(
    _ kind: SkippedRow.Kind, _ index: Int, _ id: @autoclosure () -> String, _ error: StoreError
  ) throws(StoreError) {
    guard limits != nil, case .tooLarge = error else { throw error }
    skipped.record(SkippedRow(kind: kind, index: index, id: String(id().prefix(40)), reason: "\(error)"))
  }

  /// Checks the number of skipped rows.
  ///
  /// - Throws: `CatalogError.tooManySkipped`.
  func checkSkipped() throws(CatalogError) { try limits?.check(skipped, of: products + relations + codes) }

  /// Returns the notices of the update, given that `distinct` products remain of those that could be stored.
  ///
  /// - Throws: `CatalogError.wouldCollapse`.
  func notices(distinct: Int) throws(CatalogError) -> UpdateNotices {
    var notices = UpdateNotices()
    notices.skipped = skipped
    notices.collapsed = products - skippedProducts - distinct
    try limits?.check(collapsed: notices.collapsed, of: products, withoutID: productsWithoutID)
    return notices
  }
}
