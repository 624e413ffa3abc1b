import DocumentFormat
import LogStore

/// Sorts rows by the sort keys of their documents, and keeps only as many as are needed.
struct RowSorter {
  private let ordering: Ordering
  private var sorter: RowKeySorter

  /// Creates a sorter.
  ///
  /// - Parameter wanted: The maximum number of rows; at least one.
  init(_ ordering: Ordering, wanted: Int) {
    self.ordering = ordering
    sorter = RowKeySorter(wanted: wanted)
  }

  mutating func add(_ row: RowID, _ document: borrowing DocumentView) throws(DocumentError) {
    let start = sorter.keys.count
    try ordering.appendSortKey(of: document, to: &sorter.keys)
    sorter.add(row, keyAt: start)
  }

  /// The sorted rows, up to the maximum. Documents with equal sort keys keep the order of the file.
  mutating func rows() -> [RowID] { sorter.rows() }
}
