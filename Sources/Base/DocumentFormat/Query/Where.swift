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

  /// Returns a condition that holds if both conditions hold.
  public static func && (a: Where, b: Where) -> Where { a.with(b) { $0 && $1 } }

  /// Returns a condition that holds if at least one of the conditions holds.
  public static func || (a: Where, b: Where) -> Where { a.with(b) { $0 || $1 } }

  /// Returns a condition that holds if and only if `condition` does not.
  public static prefix func ! (condition: Where) -> Where { Where(condition.result.map { !$0 }) }

  private func with(_ other: Where, _ join: (Condition, Condition) -> Condition) -> Where {
    Where(result.flatMap { a in other.result.map { b in join(a, b) } })
  }
}

// MARK: Comparisons

/// Returns a condition that holds if the field equals `value`. It does not hold for a null or missing field.
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

/// Returns a condition that holds if the field is less than `value` and of its kind. It does not hold for a missing
/// field.
public func < <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .less, value.documentValue) }
}

/// Returns a condition that holds if the field is less than `value` and of its kind. It does not hold for a null or
/// missing field.
public func < <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .less, value.documentValue) }
}

/// Returns a condition that holds if the field is at most `value` and of its kind. It does not hold for a missing
/// field.
public func <= <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .lessOrEqual, value.documentValue) }
}

/// Returns a condition that holds if the field is at most `value` and of its kind. It does not hold for a null or
/// missing field.
public func <= <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .lessOrEqual, value.documentValue) }
}

/// Returns a condition that holds if the field is greater than `value` and of its kind. It does not hold for a missing
/// field.
public func > <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greater, value.documentValue) }
}

/// Returns a condition that holds if the field is greater than `value` and of its kind. It does not hold for a null or
/// missing field.
public func > <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greater, value.documentValue) }
}

/// Returns a condition that holds if the field is at least `value` and of its kind. It does not hold for a missing
/// field.
public func >= <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greaterOrEqual, value.documentValue) }
}

/// Returns a condition that holds if the field is at least `value` and of its kind. It does not hold for a null or
/// missing field.
public func >= <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .greaterOrEqual, value.documentValue) }
}

// MARK: Enumerations with raw values that do not conform to `QueryValue`

/// Returns a condition that holds if the field equals the raw value of `value`.
@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(path: KeyPath<Root, Value>, value: Value) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { .compare($0, .equal, value.rawValue.documentValue) }
}

/// Returns a condition that holds if the field equals the raw value of `value`. `nil` matches null or a missing field.
@_disfavoredOverload
public func == <Root, Value: RawRepresentable>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { path in value.map { .compare(path, .equal, $0.rawValue.documentValue) } ?? .isNull(path) }
}

/// Returns a condition that holds if the field does not equal the raw value of `value`. It also holds for a missing
/// field.
@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(path: KeyPath<Root, Value>, value: Value) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { .compare($0, .notEqual, value.rawValue.documentValue) }
}

/// Returns a condition that holds if the field does not equal the raw value of `value`. `nil` matches a field that
/// exists and is not null; a value also matches a missing field.
@_disfavoredOverload
public func != <Root, Value: RawRepresentable>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root>
where Value.RawValue: QueryValue {
  Where(path) { path in value.map { .compare(path, .notEqual, $0.rawValue.documentValue) } ?? .not(.isNull(path)) }
}
