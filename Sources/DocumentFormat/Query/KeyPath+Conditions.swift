extension KeyPath where Value: QueryValue {
  /// Whether the field equals one of `values`.
  public func `in`(_ values: some Sequence<Value>) -> Where<Root> {
    let constants = values.map(\.documentValue)
    return Where(self) { .isIn($0, constants) }
  }
}

extension KeyPath {
  /// Whether the field equals one of `values`.
  public func `in`<Wrapped: QueryValue>(_ values: some Sequence<Wrapped>) -> Where<Root> where Value == Wrapped? {
    let constants = values.map(\.documentValue)
    return Where(self) { .isIn($0, constants) }
  }

  /// Whether the field equals one of `values`.
  @_disfavoredOverload
  public func `in`(_ values: some Sequence<Value>) -> Where<Root>
  where Value: RawRepresentable, Value.RawValue: QueryValue {
    let constants = values.map(\.rawValue.documentValue)
    return Where(self) { .isIn($0, constants) }
  }

  /// Whether an element of the array equals `element`. An index over the array finds it.
  public func contains<Element: QueryValue>(_ element: Element) -> Where<Root> where Value == [Element] {
    Where(self) { .compare($0, .equal, element.documentValue) }
  }

  /// Whether an element of the array equals `element`. An index over the array finds it.
  public func contains<Element: QueryValue>(_ element: Element) -> Where<Root> where Value == [Element]? {
    Where(self) { .compare($0, .equal, element.documentValue) }
  }

  /// Whether the field is null or missing.
  public func isNull() -> Where<Root> { Where(self) { .isNull($0) } }
}

/// `String` and `String?`: what can be searched as text.
public protocol QueryText {}

extension String: QueryText {}
extension Optional: QueryText where Wrapped == String {}

extension KeyPath where Value: QueryText {
  /// Whether `text` stands anywhere in the field.
  public func contains(_ text: String, ignoringCase: Bool = false) -> Where<Root> {
    Where(self) { .contains($0, .text(text), ignoringCase: ignoringCase) }
  }

  /// Whether the field begins with `prefix`. An index with prefixes finds it unless case is ignored.
  public func hasPrefix(_ prefix: String, ignoringCase: Bool = false) -> Where<Root> {
    Where(self) { .hasPrefix($0, prefix, ignoringCase: ignoringCase) }
  }

  /// Whether the field is of the pattern: `%` stands for any characters, `_` for one.
  public func like(_ pattern: String, ignoringCase: Bool = false) -> Where<Root> {
    Where(self) { .like($0, pattern, ignoringCase: ignoringCase) }
  }
}
