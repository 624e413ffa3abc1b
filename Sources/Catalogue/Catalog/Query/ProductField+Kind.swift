package import CatalogRows
package import DocumentFormat

extension ProductField {
  /// The field with this name, which is the server's key.
  ///
  /// - Throws: `ProductQueryError.unknownField`.
  package init(named name: String, column: Int? = nil) throws(ProductQueryError) {
    guard let field = Self.allCases.first(where: { $0.key == name }) else {
      throw .unknownField(name, column: column)
    }
    self = field
  }

  /// The kind of the field's values. A product has every field, so no value is null.
  package var kind: DocumentKind {
    switch slot {
    case .text: .text
    case .integer, .double: .number
    case .flag: .bool
    }
  }
}
