import Bytes
import DocumentFormat
import LogStore

/// Sorts documents by their sort keys, and keeps only as many as are needed.
struct DocumentSorter {
  private let request: QueryRequest
  private var sorter: RowKeySorter

  /// Creates a sorter for the documents of a query.
  init(_ request: QueryRequest) {
    self.request = request
    sorter = RowKeySorter(wanted: max(1, request.wanted ?? .max))
  }

  mutating func add(_ found: FoundDocument, _ document: borrowing DocumentView, id: RawSpan) throws(DocumentError) {
    let start = sorter.keys.count
    if try request.appendSortKey(of: document, id: id, to: &sorter.keys) {
      sorter.add(number: found.number, keyAt: start)
    } else {
      sorter.keys.removeLast(sorter.keys.count - start)
    }
  }

  /// The sorted documents, up to the maximum.
  mutating func documents() -> [FoundDocument] { sorter.numbers().map(FoundDocument.init) }
}

extension QueryRequest {
  /// Appends the sort key of a document to `keys`. Documents of pages with equal sort keys are in the order of their
  /// IDs, instead of that of the file.
  ///
  /// - Returns: Whether the document comes after the position at which the page begins.
  func appendSortKey(
    of document: borrowing DocumentView, id: RawSpan, to keys: inout [UInt8]
  ) throws(DocumentError) -> Bool {
    let start = keys.count
    try ordering.appendSortKey(of: document, to: &keys)
    guard isPaged else { return true }
    keys.append(id)
    return after.map { $0.position.lexicographicallyPrecedes(keys[start...]) } ?? true
  }
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
