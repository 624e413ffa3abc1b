/// A condition on documents of `Root`, built from key paths: `\.user.name == "x" && \.age >= 3`.
///
/// A key path that does not lead through stored properties cannot be followed in a document (see
/// ``FieldPath/init(_:)``). Building does not throw; the failure is kept and thrown by ``condition()``.
public struct Where<Root>: Sendable {
  private let result: Result<Condition, FieldPathError>

  /// A condition written over paths.
  public init(_ condition: Condition) { result = .success(condition) }

  /// A condition over the path of `keyPath`.
  init(_ keyPath: PartialKeyPath<Root>, _ condition: (FieldPath) -> Condition) {
    do {
      result = .success(condition(try FieldPath(keyPath)))
    } catch {
      result = .failure(error)
    }
  }

  private init(_ result: Result<Condition, FieldPathError>) { self.result = result }

  /// The condition over paths.
  ///
  /// - Throws: If one of the key paths has no path in a document.
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

/// `nil` asks for null or a missing field.
public func == <Root, Value: QueryValue>(path: KeyPath<Root, Value?>, value: Value?) -> Where<Root> {
  Where(path) { path in value.map { .compare(path, .equal, $0.documentValue) } ?? .isNull(path) }
}

/// Holds for a missing field, too.
public func != <Root, Value: QueryValue>(path: KeyPath<Root, Value>, value: Value) -> Where<Root> {
  Where(path) { .compare($0, .notEqual, value.documentValue) }
}

/// `nil` asks for a field that is there and not null; a value also holds for a missing field.
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

// MARK: Enumerations with raw values that do not conform themselves

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
