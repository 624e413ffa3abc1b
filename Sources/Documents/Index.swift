import DocumentFormat

/// An index on a field of `Document`, at any depth: `Index(\.user.status.isOnline)`.
///
/// It finds documents by an equal value, by one of several values, or by a text prefix. An array is indexed by each of
/// its elements.
public struct Index<Document>: Sendable {
  let description: Result<IndexDescription, FieldPathError>
  /// Returns the value of the property as a document stores it; `nil` if it has none, or cannot be encoded.
  let value: @Sendable (Document) -> DocumentValue?

  /// Declares an index.
  ///
  /// - Parameters:
  ///   - keyPath: The key path of the property, through stored properties; optional ones with `?`.
  ///   - path: The path of the value in the encoded document, if the coding keys have other names than the properties.
  ///   - prefixes: Whether texts are also indexed by their prefixes, which adds up to five keys for each.
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
