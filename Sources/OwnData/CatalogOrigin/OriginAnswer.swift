package import CatalogRows

/// The rows of one answer and its cursor: a snapshot of the catalogue at the time of the request.
package struct OriginAnswer: Sendable {
  /// Whether the answer contains everything, and not only changes after a cursor.
  package let isFull: Bool
  let entries: ArraySlice<OriginCatalogue.Entry>
  let orphans: [UInt8]
  let newestStamp: Stamp

  /// The payload's `updateTime`.
  package var updateTime: String { newestStamp.string }

  /// The number of indices for ``product(at:into:)`` and ``relations(at:reusing:_:)``.
  package var placeCount: Int { entries.count + 1 }

  /// Unpacks the product at an index into a row that is reused.
  ///
  /// - Returns: Whether there is a product: a full answer has no tombstones, and the last index has only relations.
  package func product(at place: Int, into row: inout ProductRow) -> Bool {
    guard place < entries.count else { return false }
    let entry = entries[entries.startIndex + place]
    guard !(isFull && entry.isTombstone) else { return false }
    PackedRow.unpack(entry.packed, into: &row)
    if entry.isTombstone {
      row.delFlag = 1
      row.texts.set(ProductText.updateTime.rawValue, entry.stamp.text.bytes.span)
    }
    return true
  }

  /// Passes on the relations at an index: those of its product, or, at the last index, those without a product.
  package func relations<Failure: Error>(
    at place: Int, reusing row: inout RelationRow,
    _ body: (borrowing RelationRow) throws(Failure) -> Void
  ) throws(Failure) {
    guard place < entries.count else {
      return try PackedRow.forEachRelation(in: orphans, reusing: &row, body)
    }
    let entry = entries[entries.startIndex + place]
    // A client ignores the relations of a product that an increment deletes.
    guard isFull || !PackedRow.isDeleted(entry.packed) else { return }
    try PackedRow.forEachRelation(in: entry.relations, reusing: &row, body)
  }

  /// Passes all rows to a sink, products first.
  package func send(to sink: inout some RowSink) throws {
    var product = ProductRow()
    for place in 0..<placeCount where self.product(at: place, into: &product) { try sink.product(product) }
    var relation = RelationRow()
    for place in 0..<placeCount {
      try relations(at: place, reusing: &relation) { row in try sink.relation(row) }
    }
  }
}
