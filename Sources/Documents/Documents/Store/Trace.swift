public import DocumentFormat

/// The result and cost of one operation on a collection.
public struct Trace: Sendable {
  /// The kind of operation.
  public enum Operation: String, Sendable, CaseIterable {
    case get, insert, upsert, update, delete, deleteAll, query, count, group, reindex
  }

  /// The kind of operation.
  public var operation: Operation
  /// The name of the collection.
  public var collection: String
  /// The path of the store's file.
  public var store = ""
  /// The condition of a query, or of a change by condition; `nil` for other operations.
  public var condition: Condition?
  /// The order of a query; `nil` for other operations.
  public var ordering: Ordering?
  /// The number of matching documents that a query skips.
  public var offset = 0
  /// The maximum number of documents of a query; `nil` if there is no limit.
  public var limit: Int?
  /// What a query groups by, and what it computes for each group; `nil` for other operations.
  public var grouping: (by: [FieldPath], aggregates: [Aggregate])?
  /// The number of documents whose bytes were read.
  public var documentsRead = 0
  /// The number of documents that were written or deleted, or that a query found, or of the groups.
  public var documentsAffected = 0
  /// The number of documents that a grouping put into no group, because an object or an empty array is no value.
  public var documentsWithoutGroup = 0
  /// The plan of a query; `nil` for other operations.
  public var plan: QueryPlan?
  /// The time that the operation took.
  public var duration: Duration = .zero
  /// The error that ended the operation, as text; `nil` if it succeeded.
  public var error: String?

  /// Creates the trace of an operation that has done nothing yet.
  public init(operation: Operation, collection: String) {
    self.operation = operation
    self.collection = collection
  }

  mutating func record(_ request: QueryRequest) {
    condition = request.condition
    ordering = request.ordering
    offset = request.offset
    limit = request.limit
  }

  /// The query as text: `where age > 30 group by city count order by name limit 20`; empty for other operations.
  ///
  /// - Parameter redactsValues: Whether the values of the condition are replaced by `?`.
  public func queryText(redactsValues: Bool = false) -> String {
    var words: [String] = []
    if let condition, condition != .always {
      words.append("where \(redactsValues ? condition.redacted : condition.description)")
    }
    if let grouping {
      if !grouping.by.isEmpty { words.append("group by \(grouping.by.map(\.description).joined(separator: ", "))") }
      words.append(grouping.aggregates.map(\.description).joined(separator: ", "))
    }
    if let ordering, !ordering.terms.isEmpty { words.append("order by \(ordering)") }
    if offset > 0 { words.append("offset \(offset)") }
    if let limit { words.append("limit \(limit)") }
    return words.joined(separator: " ")
  }
}

/// A callback for the operations of a store of documents: `options.trace = Tracer { print($0.queryText()) }`.
///
/// It is called on the thread of each operation after the operation has ended, so it should return quickly.
public struct Tracer: Sendable {
  /// The duration below which operations are not reported.
  public let threshold: Duration
  private let report: @Sendable (Trace) -> Void

  /// Creates a tracer.
  ///
  /// - Parameters:
  ///   - threshold: The duration below which operations are not reported; a failed operation always is.
  ///   - report: Receives an operation.
  public init(over threshold: Duration = .zero, _ report: @escaping @Sendable (Trace) -> Void) {
    self.threshold = threshold
    self.report = report
  }

  /// A tracer that reports to both.
  public static func both(_ a: Tracer, _ b: Tracer) -> Tracer {
    Tracer { trace in
      a(trace)
      b(trace)
    }
  }

  /// Reports an operation that is slow enough.
  public func callAsFunction(_ trace: Trace) {
    if trace.duration >= threshold || trace.error != nil { report(trace) }
  }
}
