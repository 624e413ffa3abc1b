package import JSONFormat

extension Match {
  /// What programs are told of a scan, field by field: `code`, `match`, `key`, `gtin`, `rest`, `products`, `elements`.
  ///
  /// - Parameter code: the text that was matched, as it was scanned.
  package func jsonFields(code: String) -> [(String, JSONText)] {
    var elements: [(String, JSONText)] = []
    for element in scan.elements?.elements ?? [] where !elements.contains(where: { $0.0 == element.ai }) {
      elements.append((element.ai, .text(element.value)))
    }
    return [
      ("code", .text(code)), ("match", .text(kind.rawValue)), ("key", .optional(key)),
      ("gtin", .optional(gtin?.digits)), ("rest", .optional(rest)),
      ("products", .array(products.map(JSONText.product))), ("elements", .object(elements)),
    ]
  }

  /// The fields as an object.
  package func json(code: String) -> JSONText { .object(jsonFields(code: code)) }
}
