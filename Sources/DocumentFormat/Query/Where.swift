/// A condition on documents of `Root`, built from key paths: `\.user.name == "x" && \.age >= 3`.
///
/// A key path that does not lead through stored properties has no field path (see ``FieldPath/init(_:)``). Building a
/// condition does not throw; ``condition()`` throws the stored error.
public struct Where<Root>: Sendable {
  private let result: Result<Condition, FieldPathError>

  /// Wraps a condition on field paths.
  public init(_ condition: Condition) { result = .success(condition) }

  /// Creates a condition on the path of `keyPath`.
  init(_ keyPath: PartialKeyPath<Root>, _ condition: (FieldPath) -> Condition) {
    do {
      result = .success(condition(try FieldPath(keyPath)))
    } catch {
      result = .failure(error)
    }
  }

  private init(_ result: Result<Condition, FieldPathError>) { self.result = result }

  /// The condition on field paths.
  ///
  /// - Throws: `FieldPathError` if one of the key paths has no field path.
  public func condition() throws(FieldPathError) -> Condition { try result.get() }

  public static func && (a: Where, b: Where) -> Where { a.with(b) { $0 && $1 } }

  public static func || (a: Where, b: Where) -> Where { a.with(b) { $0 || $1 } }

  public static prefix func ! (condition: Where) -> Where { Where(condition.result.map { !$0 }) }

  private func with(_ other: Where, _ join: (Condition, Condition) -> Condition) -> Where {
    Where(result.flatMap { a in other.result.map { b in join(a, b) } })
  }
}

// MARK: Comparisons

public func == <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .equal, value.documentValue) }
}

/// `nil` matches null or a missing field.
public func == <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root> {
  Where(path) { path in value.map { .compare(path, .equal, $0.documentValue) } ?? .isNull(path) }
}

/// Also matches a missing field.
public func != <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .notEqual, value.documentValue) }
}

/// `nil` matches a field that exists and is not null; a value also matches a missing field.
public func != <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root> {
  Where(path) { path in value.map { .compare(path, .notEqual, $0.documentValue) } ?? .not(.isNull(path)) }
}

public func < <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .less, value.documentValue) }
}

public func < <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .less, value.documentValue) }
}

public func <= <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .lessOrEqual, value.documentValue) }
}

public func <= <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .lessOrEqual, value.documentValue) }
}

public func > <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greater, value.documentValue) }
}

public func > <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greater, value.documentValue) }
}

public func >= <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greaterOrEqual, value.documentValue) }
}

public func >= <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greaterOrEqual, value.documentValue) }
}

// MARK: Enumerations with raw values that do not conform to `QueryValue`

@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(path: KeyPath<Root, Value>, value: Value) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { .compare($0, .equal, value.rawValue.documentValue) }
}

@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { path in value.map { .compare(path, .equal, $0.rawValue.documentValue) } ?? .isNull(path) }
}

@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(path: KeyPath<Root, Value>, value: Value) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { .compare($0, .notEqual, value.rawValue.documentValue) }
}

@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { path in value.map { .compare(path, .notEqual, $0.rawValue.documentValue) } ?? .not(.isNull(path)) }
}
