package import CatalogRows

/// The content of the files: products by id, relations by their product.
///
/// If several rows have the same id, the last one is used, as in a payload. Relations without an id cannot be
/// distinguished, so each one is kept.
package struct OriginRows: RowSink, Sendable {
  struct Product: Equatable, Sendable {
    /// The packed row, as in the file.
    var packed: [UInt8]
    /// The row's own `updateTime`.
    var stamp: Stamp
  }

  private(set) var products: [ByteText: Product] = [:]
  /// Whether the `updateTime` of a row is its stamp.
  let usesUpdateTimes: Bool
  private var relations: [Relation] = []
  private var relationIndices: [ByteText: Int] = [:]

  private struct Relation {
    var productID: ByteText
    var packed: [UInt8]
  }

  /// A product has no id.
  package struct MissingID: Error, CustomStringConvertible {
    /// What is wrong and what to do; the position of the row is part of the error that wraps this one.
    package var description: String { "it has no id; give each product its own" }
  }

  /// Creates an empty collection of rows.
  ///
  /// - Parameter usesUpdateTimes: Whether the `updateTime` of a row is its stamp. Otherwise the origin gives all
  ///   stamps.
  package init(usesUpdateTimes: Bool = true) { self.usesUpdateTimes = usesUpdateTimes }

  /// Adds a product. It replaces an earlier one with the same id.
  ///
  /// - Throws: ``MissingID``: rows without an id would all be one and the same, and a misspelt key would
  ///   leave one product of a whole file.
  package mutating func product(_ row: borrowing ProductRow) throws {
    guard row.texts.byteCount(ProductText.id.rawValue) > 0 else { throw MissingID() }
    products[Self.text(row.texts, ProductText.id.rawValue)] = Product(
      packed: PackedRow.pack(row),
      stamp: usesUpdateTimes ? Stamp(Self.text(row.texts, ProductText.updateTime.rawValue)) : Stamp(""))
  }

  /// Adds a relation. It replaces an earlier one with the same id, unless the id is empty.
  package mutating func relation(_ row: borrowing RelationRow) {
    let relation = Relation(
      productID: Self.text(row.texts, RelationText.productId.rawValue), packed: PackedRow.pack(row))
    let id = Self.text(row.texts, RelationText.id.rawValue)
    if let index = relationIndices[id] {
      relations[index] = relation
    } else {
      if !id.bytes.isEmpty { relationIndices[id] = relations.count }
      relations.append(relation)
    }
  }

  /// Removes all relations.
  mutating func removeRelations() {
    relations = []
    relationIndices = [:]
  }

  /// The number of different product ids.
  package var productCount: Int { products.count }
  /// The number of relations, including those whose product is missing.
  package var relationCount: Int { relations.count }

  /// The packed relations of each product, concatenated in the order of the file.
  func relationsByProduct() -> [ByteText: [UInt8]] {
    var grouped: [ByteText: [UInt8]] = [:]
    for relation in relations { grouped[relation.productID, default: []] += relation.packed }
    return grouped
  }

  private static func text(_ texts: TextRow, _ field: Int) -> ByteText {
    texts.withText(field) { text in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count)
      for index in text.indices { bytes.append(text[index]) }
      return ByteText(bytes: bytes)
    }
  }
}
