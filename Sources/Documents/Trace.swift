public import DocumentFormat

/// The result and cost of one operation on a collection.
public struct Trace: Sendable {
  /// The kind of operation.
  public enum Operation: String, Sendable, CaseIterable {
    case get, insert, upsert, update, delete, deleteAll, query, count, reindex
  }

  /// The kind of operation.
  public var operation: Operation
  /// The name of the collection.
  public var collection: String
  /// The number of documents whose bytes were read.
  public var documentsRead = 0
  /// The number of documents that were written or deleted, or that a query found.
  public var documentsAffected = 0
  /// The plan of a query; `nil` for other operations.
  public var plan: QueryPlan?
  /// The time that the operation took.
  public var duration: Duration = .zero
}
