package import JSONFormat

extension SearchResult {
  /// The result as an object: `score`, `matched` and `product`; before these `approximate` and `meant` if the result
  /// rests on a corrected mistake; after them `package` if a code of the table of codes is the whole search.
  package var json: JSONText { json(codes: nil) }

  /// The result as an object, whose product has its codes unless they are `nil`.
  package func json(codes: [ProductCode]?) -> JSONText {
    let mistake: [(String, JSONText)] =
      meant.map { [("approximate", .bool(true)), ("meant", .text($0))] } ?? []
    let found: [(String, JSONText)] = [
      ("score", .double(score)), ("matched", .array(matched.map(\.json))), ("product", .product(product, codes: codes)),
    ]
    return .object(mistake + found + (package.map { [("package", $0.packageJSON)] } ?? []))
  }
}

extension SearchResult.MatchedField {
  /// The field as an object: `field` and `ranges`, which are half-open, in UTF-16 code units.
  package var json: JSONText {
    let ranges = ranges.map { JSONText.array([.int($0.lowerBound), .int($0.upperBound)]) }
    return .object([("field", .text(field)), ("ranges", .array(ranges))])
  }
}
