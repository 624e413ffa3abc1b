package import CatalogRows
import LogStore

/// A sink that only checks whether rows fit the limits of the format.
package struct RowSizeCheck: RowSink {
  private var products = ProductEncoder()
  private var relations = RelationEncoder()
  private var codes = CodeEncoder()

  /// Creates a sink that holds no rows. One sink can check any number of rows.
  package init() {}

  /// Checks a product and discards it.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package mutating func product(_ row: borrowing ProductRow) throws { try products.checkSize(of: row) }

  /// Checks a relation and discards it.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package mutating func relation(_ row: borrowing RelationRow) throws { try relations.checkSize(of: row) }

  /// Checks a code and discards it.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package mutating func code(_ row: borrowing CodeRow) throws { try codes.checkSize(of: row) }
}
