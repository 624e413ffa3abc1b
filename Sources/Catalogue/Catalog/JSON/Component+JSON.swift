package import JSONFormat

extension [Component] {
  /// A set as JSON: `productId`, and for each component its relation and its product. The product is null if it is not in
  /// the catalogue, or if the server sent it as deleted.
  package func json(ofSet id: String) -> JSONText {
    .object([("productId", .text(id)), ("components", .array(map(\.json)))])
  }
}

extension Component {
  /// The relation and the product; null if the product is missing.
  package var json: JSONText {
    .object([
      ("relationId", .text(relation.id)), ("subProductId", .text(relation.subProductId)),
      ("groupNum", .int(Int(clamping: relation.groupNum))), ("product", product.map(JSONText.product) ?? .null),
    ])
  }
}
