public import DocumentFormat

/// What one operation on a collection did and cost.
public struct Trace: Sendable {
  /// What was asked for.
  public enum Operation: String, Sendable, CaseIterable {
    case get, insert, upsert, update, delete, deleteAll, query, count, reindex
  }

  public var operation: Operation
  public var collection: String
  /// Documents whose bytes were read.
  public var documentsRead = 0
  /// Documents that were written or deleted, or that a query found.
  public var documentsAffected = 0
  /// How a query found its documents; `nil` for other operations.
  public var plan: QueryPlan?
  public var duration: Duration = .zero
}
