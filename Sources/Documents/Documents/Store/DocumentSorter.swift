import Bytes
import DocumentFormat
import LogStore

/// Sorts documents by their sort keys, and keeps only as many as are needed.
struct DocumentSorter {
  private let ordering: Ordering
  /// Whether documents with equal sort keys are in the order of their IDs, instead of that of the file.
  private let isByID: Bool
  /// The sort key and ID of the document after which those that are wanted begin.
  private let after: [UInt8]?
  private var sorter: RowKeySorter

  /// Creates a sorter for the documents of a query.
  init(_ request: QueryRequest) {
    ordering = request.ordering
    isByID = request.isPaged
    after = request.after?.position
    sorter = RowKeySorter(wanted: max(1, request.wanted ?? .max))
  }

  mutating func add(_ found: FoundDocument, _ document: borrowing DocumentView, id: RawSpan) throws(DocumentError) {
    let start = sorter.keys.count
    try ordering.appendSortKey(of: document, to: &sorter.keys)
    if isByID {
      sorter.keys.append(id)
      if let after, !after.lexicographicallyPrecedes(sorter.keys[start...]) {
        sorter.keys.removeLast(sorter.keys.count - start)
        return
      }
    }
    sorter.add(number: found.number, keyAt: start)
  }

  /// The sorted documents, up to the maximum.
  mutating func documents() -> [FoundDocument] { sorter.numbers().map(FoundDocument.init) }
}

extension FoundDocument {
  /// The bit that tells pending changes from rows, which are before them.
  private static let pendingBit: UInt64 = 1 << 63

  /// A number that orders the documents as they are ordered in the file after the commit.
  fileprivate var number: UInt64 {
    switch self {
    case .row(let row): row.number
    case .pending(let position): Self.pendingBit | UInt64(position)
    }
  }

  fileprivate init(number: UInt64) {
    self =
      number & Self.pendingBit == 0 ? .row(RowID(number: number)) : .pending(Int(number & ~Self.pendingBit))
  }
}
