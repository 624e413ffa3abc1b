import DocumentFormat
import LogStore

/// Sorts documents by their sort keys, and keeps only as many as are needed.
struct DocumentSorter {
  private let ordering: Ordering
  private var sorter: RowKeySorter

  /// Creates a sorter.
  ///
  /// - Parameter wanted: The maximum number of documents; at least one.
  init(_ ordering: Ordering, wanted: Int) {
    self.ordering = ordering
    sorter = RowKeySorter(wanted: wanted)
  }

  mutating func add(_ found: FoundDocument, _ document: borrowing DocumentView) throws(DocumentError) {
    let start = sorter.keys.count
    try ordering.appendSortKey(of: document, to: &sorter.keys)
    sorter.add(number: found.number, keyAt: start)
  }

  /// The sorted documents, up to the maximum. Those with equal sort keys keep the order of the file.
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
