import Catalog
import CatalogRows

/// The three fields that a lookup touches: an integer, the length of a text, a double.
package enum Touch {
  @inlinable @inline(__always)
  package static func of(_ view: borrowing ProductView) -> UInt64 {
    UInt64(bitPattern: view.categoryId) &+ UInt64(view.utf8.name.byteCount) &+ view.weight.bitPattern
  }

  package static func of(_ product: Product) -> UInt64 {
    UInt64(bitPattern: product.categoryId) &+ UInt64(product.name.utf8.count) &+ product.weight.bitPattern
  }

  package static func of(_ row: borrowing ProductRow) -> UInt64 {
    UInt64(bitPattern: row.categoryId) &+ UInt64(row.texts.byteCount(ProductText.name.rawValue))
      &+ row.weight.bitPattern
  }
}
