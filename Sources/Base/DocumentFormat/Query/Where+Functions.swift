// Conditions that are not operators. Write them with a leading dot, `.like(\.name, "A%")`, where a condition is
// expected. After the name of a property, Swift would parse a call as a part of the key path.

extension Where {
  /// Whether the field equals one of `values`.
  public static func `in`<Value: QueryValue>(_ path: KeyPath<Root, Value>, _ values: some Sequence<Value>) -> Where {
    let constants = values.map(\.documentValue)
    return Where(path) { .isIn($0, constants) }
  }

  /// Whether the field equals one of `values`.
  public static func `in`<Value: QueryValue>(_ path: KeyPath<Root, Value?>, _ values: some Sequence<Value>) -> Where {
    let constants = values.map(\.documentValue)
    return Where(path) { .isIn($0, constants) }
  }

  /// Whether the field equals one of `values`.
  @_disfavoredOverload
  public static func `in`<Value: RawRepresentable>(
    _ path: KeyPath<Root, Value>, _ values: some Sequence<Value>
  ) -> Where where Value.RawValue: QueryValue {
    let constants = values.map(\.rawValue.documentValue)
    return Where(path) { .isIn($0, constants) }
  }

  /// Whether the field equals one of `values`.
  @_disfavoredOverload
  public static func `in`<Value: RawRepresentable>(
    _ path: KeyPath<Root, Value?>, _ values: some Sequence<Value>
  ) -> Where where Value.RawValue: QueryValue {
    let constants = values.map(\.rawValue.documentValue)
    return Where(path) { .isIn($0, constants) }
  }

  /// Whether an element of the array equals `element`. An index on the array is used.
  public static func contains<Element: QueryValue>(_ path: KeyPath<Root, [Element]>, _ element: Element) -> Where {
    Where(path) { .compare($0, .equal, element.documentValue) }
  }

  /// Whether an element of the array equals `element`. An index on the array is used.
  public static func contains<Element: QueryValue>(_ path: KeyPath<Root, [Element]?>, _ element: Element) -> Where {
    Where(path) { .compare($0, .equal, element.documentValue) }
  }

  /// Whether the field is null or missing.
  public static func isNull<Value>(_ path: KeyPath<Root, Value>) -> Where { Where(path) { .isNull($0) } }

  /// Whether the field contains `text`.
  public static func contains(
    _ path: KeyPath<Root, some QueryText>, _ text: String, ignoringCase: Bool = false
  ) -> Where {
    Where(path) { .contains($0, .text(text), ignoringCase: ignoringCase) }
  }

  /// Whether the field begins with `prefix`. An index with prefixes is used unless case is ignored.
  public static func hasPrefix(
    _ path: KeyPath<Root, some QueryText>, _ prefix: String, ignoringCase: Bool = false
  ) -> Where {
    Where(path) { .hasPrefix($0, prefix, ignoringCase: ignoringCase) }
  }

  /// Whether the field matches a pattern: `%` matches any characters, `_` matches one.
  public static func like(
    _ path: KeyPath<Root, some QueryText>, _ pattern: String, ignoringCase: Bool = false
  ) -> Where {
    Where(path) { .like($0, pattern, ignoringCase: ignoringCase) }
  }
}

/// `String` and `String?`: the types of fields that can be searched as text.
public protocol QueryText {}

extension String: QueryText {}
extension Optional: QueryText where Wrapped == String {}
