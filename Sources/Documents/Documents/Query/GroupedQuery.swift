public import DocumentFormat

/// A query whose matching documents are grouped by the values of one or more fields.
///
///     for group in try members.query().grouped(by: \.user.status.isOnline).count() {
///       print(group.key, group.value)
///     }
///
/// A document belongs to the group of each of its values: an array on the way stands for its elements, a missing field
/// is null, and an object or an empty array is no value, so that such a document belongs to no group. Without an order,
/// groups come in ascending order of their keys, in the order of `Ordering`.
public struct GroupedQuery<Document: Codable & Identifiable & Sendable, Key>: Sendable
where Document.ID: Codable & Sendable {
  private let query: Query<Document>
  private let paths: Result<[FieldPath], FieldPathError>
  private let decode: @Sendable ([DocumentValue]) throws -> Key
  private var order: GroupOrder?
  private var isDescending = false
  private var limit: Int?

  init(
    _ query: Query<Document>, _ paths: Result<[FieldPath], FieldPathError>,
    _ decode: @escaping @Sendable ([DocumentValue]) throws -> Key
  ) {
    self.query = query
    self.paths = paths
    self.decode = decode
  }

  /// Orders the groups. Groups that are equal in this order are in ascending order of their keys.
  public func order(by order: GroupOrder, descending: Bool = false) -> GroupedQuery {
    var query = self
    query.order = order
    query.isDescending = descending
    return query
  }

  /// Limits the results to the first `count` groups.
  public func limit(_ count: Int) -> GroupedQuery {
    precondition(count >= 0, "a limit is not negative")
    var query = self
    query.limit = count
    return query
  }

  /// The number of documents of each group.
  ///
  /// - Throws: `DocumentStoreError.path` for a key path that has no field path; `.groupValue` if a value cannot be
  ///   decoded as the type of its property.
  /// - Complexity: Without a condition, offset and limit of the query, and grouped by one field that has an index, the
  ///   index is read and not the documents. Otherwise as ``Query/results(in:)``. Memory for each group.
  public func count() throws -> [QueryGroup<Key, Int>] {
    try run([.count]) { values in
      if case .integer(let count) = values[0] { Int(count) } else { 0 }
    }
  }

  /// The sum of a number in the documents of each group; 0 if none has the field.
  ///
  /// - Throws: As ``count()``, and `DocumentStoreError.groupValue` if `Value` cannot hold the sum.
  /// - Complexity: As ``Query/results(in:)``, without decoding the documents.
  public func sum<Value: QueryValue & Numeric & Decodable>(
    _ keyPath: KeyPath<Document, Value>
  ) throws -> [QueryGroup<Key, Value>] {
    try run(keyPath, Aggregate.sum) { try query.decoded($0, as: Value.self) }
  }

  /// The sum of an optional number in the documents of each group; 0 if none has the field.
  public func sum<Value: QueryValue & Numeric & Decodable>(
    _ keyPath: KeyPath<Document, Value?>
  ) throws -> [QueryGroup<Key, Value>] {
    try run(keyPath, Aggregate.sum) { try query.decoded($0, as: Value.self) }
  }

  /// The arithmetic mean of a number in the documents of each group; `nil` if none has the field.
  public func average(_ keyPath: PartialKeyPath<Document>) throws -> [QueryGroup<Key, Double?>] {
    try run(keyPath, Aggregate.average) { try query.decoded($0, as: Double?.self) }
  }

  /// The smallest value of a field in the documents of each group, in the order of `Ordering`; `nil` if none has the
  /// field.
  public func minimum<Value: QueryValue & Decodable>(
    _ keyPath: KeyPath<Document, Value>
  ) throws -> [QueryGroup<Key, Value?>] {
    try run(keyPath, Aggregate.minimum) { try query.decoded($0, as: Value?.self) }
  }

  /// The smallest value of an optional field; see `minimum(_:)`.
  public func minimum<Value: QueryValue & Decodable>(
    _ keyPath: KeyPath<Document, Value?>
  ) throws -> [QueryGroup<Key, Value?>] {
    try run(keyPath, Aggregate.minimum) { try query.decoded($0, as: Value?.self) }
  }

  /// The largest value of a field in the documents of each group, in the order of `Ordering`; `nil` if none has the
  /// field.
  public func maximum<Value: QueryValue & Decodable>(
    _ keyPath: KeyPath<Document, Value>
  ) throws -> [QueryGroup<Key, Value?>] {
    try run(keyPath, Aggregate.maximum) { try query.decoded($0, as: Value?.self) }
  }

  /// The largest value of an optional field; see `maximum(_:)`.
  public func maximum<Value: QueryValue & Decodable>(
    _ keyPath: KeyPath<Document, Value?>
  ) throws -> [QueryGroup<Key, Value?>] {
    try run(keyPath, Aggregate.maximum) { try query.decoded($0, as: Value?.self) }
  }

  /// Several aggregates of each group at once, in the order of `aggregates`.
  public func aggregates(_ aggregates: [Aggregate]) throws -> [QueryGroup<Key, [DocumentValue]>] {
    try run(aggregates) { $0 }
  }

  private func run<Value>(
    _ keyPath: PartialKeyPath<Document>, _ aggregate: (FieldPath) -> Aggregate, _ value: (DocumentValue) throws -> Value
  ) throws -> [QueryGroup<Key, Value>] {
    let path: FieldPath
    do { path = try FieldPath(keyPath) } catch { throw DocumentStoreError.path(error) }
    return try run([aggregate(path)]) { try value($0[0]) }
  }

  private func run<Value>(
    _ aggregates: [Aggregate], _ value: ([DocumentValue]) throws -> Value
  ) throws -> [QueryGroup<Key, Value>] {
    var request: GroupRequest
    do { request = GroupRequest(paths: try paths.get(), aggregates: aggregates) } catch {
      throw DocumentStoreError.path(error)
    }
    if let order { request.ordering = [(order, isDescending)] }
    request.limit = limit
    let collection = query.collection
    let groups = try collection.store.traced(.group, collection.name) { trace in
      trace.grouping = (request.paths, request.aggregates)
      return try query.run(nil).groups(request, &trace)
    }
    return try groups.map { QueryGroup(key: try decode($0.keys), value: try value($0.values)) }
  }
}

/// A group of a query: what its documents have in common, and what was computed for them.
public struct QueryGroup<Key, Value> {
  /// The value of the field that was grouped by; a tuple for several fields.
  public let key: Key
  /// The aggregate.
  public let value: Value
}

extension QueryGroup: Sendable where Key: Sendable, Value: Sendable {}
extension QueryGroup: Equatable where Key: Equatable, Value: Equatable {}

extension Query {
  /// Groups the matching documents by the values of one or more fields; see ``GroupedQuery``.
  ///
  ///     let counts = try members.query().grouped(by: \.user.city, \.gender).count()
  ///     // counts[0].key is a tuple (city, gender)
  public func grouped<each Value: Decodable & Sendable>(
    by keyPath: repeat KeyPath<Document, each Value>
  ) -> GroupedQuery<Document, (repeat each Value)> {
    var paths: Result<[FieldPath], FieldPathError> = .success([])
    for keyPath in repeat each keyPath {
      paths = paths.flatMap { earlier in
        Result { () throws(FieldPathError) in earlier + [try FieldPath(keyPath)] }
      }
    }
    let collection = collection
    return GroupedQuery(self, paths) { values in
      let cursor = ValueCursor(values)
      return (repeat try cursor.next(as: (each Value).self, of: collection.name))
    }
  }

  /// Groups the matching documents by the elements of an array: a document belongs to the group of each element.
  public func grouped<Element: Decodable & Sendable>(
    byElementsOf keyPath: KeyPath<Document, [Element]>
  ) -> GroupedQuery<Document, Element> {
    let collection = collection
    return GroupedQuery(self, Result { () throws(FieldPathError) in [try FieldPath(keyPath)] }) { values in
      try ValueCursor(values).next(as: Element.self, of: collection.name)
    }
  }

  /// The sum of a number in the matching documents; 0 if none has the field.
  ///
  /// - Complexity: As ``results(in:)``, without decoding the documents.
  public func sum<Value: QueryValue & Numeric & Decodable>(_ keyPath: KeyPath<Document, Value>) throws -> Value {
    try all.sum(keyPath).first?.value ?? .zero
  }

  /// The sum of an optional number in the matching documents; 0 if none has the field.
  public func sum<Value: QueryValue & Numeric & Decodable>(_ keyPath: KeyPath<Document, Value?>) throws -> Value {
    try all.sum(keyPath).first?.value ?? .zero
  }

  /// The arithmetic mean of a number in the matching documents; `nil` if none has the field.
  public func average(_ keyPath: PartialKeyPath<Document>) throws -> Double? { try all.average(keyPath).first?.value }

  /// The smallest value of a field in the matching documents; `nil` if none has the field.
  public func minimum<Value: QueryValue & Decodable>(_ keyPath: KeyPath<Document, Value>) throws -> Value? {
    try all.minimum(keyPath).first?.value
  }

  /// The smallest value of an optional field in the matching documents; `nil` if none has the field.
  public func minimum<Value: QueryValue & Decodable>(_ keyPath: KeyPath<Document, Value?>) throws -> Value? {
    try all.minimum(keyPath).first?.value
  }

  /// The largest value of an optional field in the matching documents; `nil` if none has the field.
  public func maximum<Value: QueryValue & Decodable>(_ keyPath: KeyPath<Document, Value?>) throws -> Value? {
    try all.maximum(keyPath).first?.value
  }

  /// The largest value of a field in the matching documents; `nil` if none has the field.
  public func maximum<Value: QueryValue & Decodable>(_ keyPath: KeyPath<Document, Value>) throws -> Value? {
    try all.maximum(keyPath).first?.value
  }

  /// All matching documents as one group.
  private var all: GroupedQuery<Document, Void> { GroupedQuery(self, .success([])) { _ in } }

  /// The distinct values of a field in the matching documents: in ascending order, or in the order of their first
  /// occurrence if the query has an order, an offset or a limit.
  ///
  /// - Complexity: Without a condition and with an index on the field, the index is read and not the documents.
  ///   Otherwise as ``results(in:)``, without decoding the documents unless the query has an order, an offset or a
  ///   limit.
  public func distinct<Value: Hashable & QueryValue & Decodable & Sendable>(_ keyPath: KeyPath<Document, Value>) throws
    -> [Value]
  {
    if isOrdered { return try distinctInOrder(keyPath) }
    return try grouped(by: keyPath).count().map(\.key)
  }

  /// The distinct values of an optional field; `nil` is one of them if a document has none. See the other variant.
  public func distinct<Value: Hashable & QueryValue & Decodable & Sendable>(
    _ keyPath: KeyPath<Document, Value?>
  ) throws -> [Value?] {
    if isOrdered { return try distinctInOrder(keyPath) }
    return try grouped(by: keyPath).count().map(\.key)
  }

  fileprivate func decoded<Value: Decodable>(_ value: DocumentValue, as type: Value.Type) throws -> Value {
    try ValueCursor([value]).next(as: type, of: collection.name)
  }
}

/// Decodes values one after the other.
private final class ValueCursor {
  private var values: ArraySlice<DocumentValue>

  init(_ values: [DocumentValue]) { self.values = values[...] }

  func next<Value: Decodable>(as type: Value.Type, of collection: String) throws -> Value {
    guard let value = values.popFirst() else { preconditionFailure("there is a value for each path") }
    do { return try DocumentDecoder().decode(type, from: value.documentBytes) } catch {
      throw DocumentStoreError.groupValue(collection: collection, value: value.json, type: "\(type)")
    }
  }
}
