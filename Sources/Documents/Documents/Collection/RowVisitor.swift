import Bytes
import DocumentFormat
import LogStore

/// Tests rows against a condition, one by one. Its state is in one value, so that a visit needs no exclusivity check.
struct RowVisitor {
  /// The condition; `nil` if every row matches.
  let condition: CompiledCondition?
  /// The changes whose documents replace those of rows.
  let changes: PendingChanges
  private let hasChanges: Bool
  /// The number of rows that were tested.
  private(set) var readCount = 0
  /// Whether the visitor of the matches ended the query.
  private(set) var isEnded = false
  /// The error that ended the query, and the key of its document.
  private(set) var failure: (key: [UInt8], reason: any Error)?

  init(condition: CompiledCondition?, changes: PendingChanges) {
    self.condition = condition
    self.changes = changes
    hasChanges = !changes.entries.isEmpty
  }

  /// Calls `body` if the row matches. Returns whether to continue.
  mutating func visit(
    _ record: borrowing RecordView, _ body: (FoundDocument, borrowing DocumentView, RawSpan) throws -> Bool
  ) -> Bool {
    if hasChanges, changes[record.key(0).copied()] != nil { return true }
    readCount += 1
    do {
      let document = DocumentView(record.body)
      if try condition?.matches(document) ?? true, try !body(.row(record.rowID), document, record.key(0)) {
        isEnded = true
      }
      return !isEnded
    } catch {
      failure = (record.key(0).copied(), error)
      return false
    }
  }

  /// Throws the error that ended the query, if one did.
  func throwFailure(in table: DocumentTable) throws {
    guard let failure else { return }
    throw DocumentStoreError.document(
      collection: table.name, id: DocumentTable.text(ofKey: failure.key), reason: failure.reason)
  }
}
