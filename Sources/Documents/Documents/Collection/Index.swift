import DocumentFormat

/// An index on a field of `Document`, at any depth: `Index(\.user.status.isOnline)`.
///
/// It finds documents by an equal value, by one of several values, or by a text prefix. An array is indexed by each of
/// its elements.
///
/// An ordered index, `Index(\.user.status.lastSeen, .ordered)`, also finds documents by a range of values and in the
/// order of the field, which need not be sorted then. One of several fields, `Index(\.city, \.lastSeen, .ordered)`,
/// does so for the documents with one value of the first.
public struct Index<Document>: Sendable {
  let description: Result<IndexDescription, FieldPathError>
  /// For each field, returns the value of the property as a document stores it; `nil` if it has none, or cannot be
  /// encoded.
  let values: [@Sendable (Document) -> DocumentValue?]

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
      IndexDescription(try Self.field(keyPath, path), hasPrefixes: prefixes)
    }
    values = [Self.value(keyPath)]
  }

  /// Declares an index of one field.
  ///
  /// - Parameters:
  ///   - keyPath: The key path of the property, as above.
  ///   - kind: What the index is for.
  ///   - path: The path of the value in the encoded document, as above.
  public init<Value: Encodable & Sendable>(
    _ keyPath: any KeyPath<Document, Value> & Sendable, _ kind: IndexKind, path: String? = nil
  ) {
    description = Result { () throws(FieldPathError) in
      let field = try Self.field(keyPath, path)
      return kind == .ordered ? IndexDescription(ordered: [field]) : IndexDescription(field)
    }
    values = [Self.value(keyPath)]
  }

  /// Declares an ordered index of two fields. It is used while every document has exactly one value in each.
  ///
  /// - Parameters:
  ///   - first: The key path of the first property, as above.
  ///   - second: The key path of the property that orders documents with the same value of the first.
  ///   - kind: The kind of index, of which there is one.
  ///   - paths: The paths of the values in the encoded document, if the coding keys have other names than the
  ///     properties.
  public init<First: Encodable & Sendable, Second: Encodable & Sendable>(
    _ first: any KeyPath<Document, First> & Sendable, _ second: any KeyPath<Document, Second> & Sendable,
    _ kind: CompoundIndexKind, paths: (String, String)? = nil
  ) {
    description = Result { () throws(FieldPathError) in
      IndexDescription(ordered: [try Self.field(first, paths?.0), try Self.field(second, paths?.1)])
    }
    values = [Self.value(first), Self.value(second)]
  }

  /// Declares an ordered index of three fields. It is used while every document has exactly one value in each.
  ///
  /// - Parameters:
  ///   - first: The key path of the first property, as above.
  ///   - second: The key path of the property that orders documents with the same value of the first.
  ///   - third: The key path of the property that orders documents with the same values of the first two.
  ///   - kind: The kind of index, of which there is one.
  ///   - paths: The paths of the values in the encoded document, as above.
  public init<First: Encodable & Sendable, Second: Encodable & Sendable, Third: Encodable & Sendable>(
    _ first: any KeyPath<Document, First> & Sendable, _ second: any KeyPath<Document, Second> & Sendable,
    _ third: any KeyPath<Document, Third> & Sendable, _ kind: CompoundIndexKind,
    paths: (String, String, String)? = nil
  ) {
    description = Result { () throws(FieldPathError) in
      IndexDescription(ordered: [
        try Self.field(first, paths?.0), try Self.field(second, paths?.1), try Self.field(third, paths?.2),
      ])
    }
    values = [Self.value(first), Self.value(second), Self.value(third)]
  }

  private static func field(
    _ keyPath: PartialKeyPath<Document>, _ path: String?
  ) throws(FieldPathError) -> FieldPath {
    if let path { try FieldPath(parsing: path) } else { try FieldPath(keyPath) }
  }

  private static func value<Value: Encodable & Sendable>(
    _ keyPath: any KeyPath<Document, Value> & Sendable
  ) -> @Sendable (Document) -> DocumentValue? {
    { document in
      guard let bytes = try? DocumentEncoder().encode(document[keyPath: keyPath]) else { return nil }
      return try? DocumentValue(documentBytes: bytes.rawSpan)
    }
  }
}

/// What an index of one field is for.
public enum IndexKind: Sendable {
  /// Finding documents by an equal value, or by one of several.
  case equality
  /// Finding documents by an equal value or a range of values, and in the order of the field.
  case ordered
}

/// What an index of several fields is for.
public enum CompoundIndexKind: Sendable {
  /// Finding documents by equal values of the first fields and a range of the next, and in their order.
  case ordered
}
