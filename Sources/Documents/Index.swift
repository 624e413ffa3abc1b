import DocumentFormat

/// An index over a field of `Document`, at any depth: `Index(\.user.status.isOnline)`.
///
/// What it finds are documents by an equal value, by one of several, or by the beginning of a text. An array is found by each
/// of its elements.
public struct Index<Document>: Sendable {
  let description: Result<IndexDescription, FieldPathError>
  /// The value that the property has, as a document holds it; `nil` for one that has none, or cannot be said.
  let value: @Sendable (Document) -> DocumentValue?

  /// - Parameters:
  ///   - keyPath: leads through stored properties, optional ones with `?`.
  ///   - path: where the value stands in the encoded document, if the coding keys have other names than the properties.
  ///   - prefixes: whether texts are found by their beginnings, too; that is up to five more keys for each.
  public init<Value: Encodable & Sendable>(
    _ keyPath: any KeyPath<Document, Value> & Sendable, path: String? = nil, prefixes: Bool = false
  ) {
    description = Result { () throws(FieldPathError) in
      let field = if let path { try FieldPath(parsing: path) } else { try FieldPath(keyPath) }
      return IndexDescription(field, hasPrefixes: prefixes)
    }
    value = { document in
      guard let bytes = try? DocumentEncoder().encode(document[keyPath: keyPath]) else { return nil }
      return try? DocumentValue(documentBytes: bytes.rawSpan)
    }
  }
}
