package import JSONFormat

extension [Component] {
  /// What programs are told of a set: `productId`, and for each component its relation and the product, or null where
  /// the catalogue lacks it, or the server sent it as deleted.
  package func json(ofSet id: String) -> JSONText {
    .object([("productId", .text(id)), ("components", .array(map(\.json)))])
  }
}

extension Component {
  /// The relation, and the product; null where it is missing.
  package var json: JSONText {
    .object([
      ("relationId", .text(relation.id)), ("subProductId", .text(relation.subProductId)),
      ("groupNum", .int(Int(clamping: relation.groupNum))), ("product", product.map(JSONText.product) ?? .null),
    ])
  }
}
