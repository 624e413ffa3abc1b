import Catalog
package import CatalogRows
package import LogStore
import Synchronization

/// The rows of one answer and its cursor: a snapshot of the catalogue at the time of the request.
///
/// A full answer contains the catalogue's rows as they were in the files. An incremental one contains every product that
/// changed after the client's cursor, with all its relations and codes, and a tombstone for each that vanished. (Three
/// kinds of row are sent only in full answers, because the protocol has no increment for them: products that the file
/// itself marks with `delFlag`, and relations and codes whose product does not exist. None ever matches a scan.)
package struct OriginAnswer: Sendable {
  /// Whether the answer contains everything, and not only changes after a cursor.
  package var isFull: Bool { cursor == nil }
  /// The client's cursor; `nil` for a client that has nothing.
  private let cursor: Stamp?
  private let served: ServedRows
  private let stamps: OriginStamps
  private let marks: ArraySlice<OriginStamps.Mark>
  /// The products to send in addition to those with a mark: all of a full answer, and those that may be later than the
  /// cursor.
  private let products: [RowID]
  private let relations: [RowID]
  /// The records with codes of a full answer.
  private let codes: [RowID]
  /// Whether the answer has a list of codes. It has none as long as no client was sent any: a list is not needed then.
  package let hasCodes: Bool
  /// The products with a mark, if others are sent too.
  private let marked: Set<ByteText>

  /// - Throws: `StoreError.damaged`.
  init(_ served: ServedRows, _ stamps: OriginStamps, cursor: Stamp) throws(StoreError) {
    self.served = served
    self.stamps = stamps
    hasCodes = stamps.hasHadCodes || served.snapshot.codeCount > 0
    if cursor.isEmpty {
      self.cursor = nil
      marks = []
      marked = []
      (products, relations, codes) = try served.rowIDs()
    } else {
      self.cursor = cursor
      marks = stamps.marks(after: cursor)
      let hasMore = stamps.mayHaveUnmarked(after: cursor)
      marked = hasMore ? Set(stamps.marks.map(\.id)) : []
      products = hasMore ? try served.rowIDs().products : []
      relations = []
      codes = []
    }
  }

  /// The payload's `updateTime`.
  package var updateTime: String { stamps.newest.string }

  /// The number of indices for ``product(at:into:)``.
  package var productPlaceCount: Int { marks.count + products.count }
  /// The number of indices for ``relations(at:reusing:_:)``.
  package var relationPlaceCount: Int { isFull ? relations.count : productPlaceCount }
  /// The number of indices for ``codes(at:reusing:product:_:)``.
  package var codePlaceCount: Int { isFull ? codes.count : productPlaceCount }

  /// Reads the product at an index into a row that is reused.
  ///
  /// - Returns: Whether there is a product to send.
  /// - Throws: `StoreError.damaged`.
  package func product(at place: Int, into row: inout ProductRow) throws(StoreError) -> Bool {
    guard place < marks.count else {
      guard try served.snapshot.copy(products[place - marks.count], to: &row) else { return false }
      guard let cursor else { return true }
      let stamp = stamps.unmarkedStamp(updateTime: Stamp(row.bytes(of: .updateTime)))
      return stamp > cursor && !marked.contains(row.bytes(of: .id))
    }
    let mark = marks[marks.startIndex + place]
    if let lastSeen = mark.lastSeen {
      try served.readVanished(mark.id, lastSeen, into: &row)
      row.delFlag = 1
      row.texts.set(ProductText.updateTime.rawValue, mark.stamp.text.bytes.span)
      return true
    }
    guard let id = try served.snapshot.productRow(id: mark.id.bytes) else { return false }
    return try served.snapshot.copy(id, to: &row)
  }

  /// Passes on the relations at an index: one of a full answer, those of the product at the same index of an
  /// incremental one.
  ///
  /// - Throws: `StoreError.damaged`, and the errors of `body`.
  package func relations(
    at place: Int, reusing row: inout RelationRow, product: inout ProductRow,
    _ body: (borrowing RelationRow) throws -> Void
  ) throws {
    if isFull {
      if try served.snapshot.copy(relations[place], to: &row) { try body(row) }
      return
    }
    // A client ignores the relations of a product that an increment deletes.
    guard try self.product(at: place, into: &product), product.delFlag == 0 else { return }
    for relation in try served.snapshot.relations(ofSet: product[.id]) {
      relation.fill(&row)
      try body(row)
    }
  }
}

extension OriginAnswer {
  /// Passes on the codes at an index: those of one product, of an incremental answer those of the product at the same
  /// index.
  ///
  /// - Throws: `StoreError.damaged`, and the errors of `body`.
  package func codes(
    at place: Int, reusing row: inout CodeRow, product: inout ProductRow, _ body: (borrowing CodeRow) throws -> Void
  ) throws {
    let all: [ProductCode]
    if isFull {
      all = try served.snapshot.codes(inRecord: codes[place])
    } else {
      // A client ignores the codes of a product that an increment deletes.
      guard try self.product(at: place, into: &product), product.delFlag == 0 else { return }
      all = try served.snapshot.codes(ofProduct: product[.id])
    }
    for code in all {
      code.fill(&row)
      try body(row)
    }
  }
}

/// A commit of an origin's catalogue.
final class ServedRows: Sendable {
  let snapshot: CatalogSnapshot
  /// The commits that can be read, in which vanished products are found.
  private let history: CatalogHistory
  /// The rows of a full answer, once one was asked for.
  private let allRows = Mutex<(products: [RowID], relations: [RowID], codes: [RowID])?>(nil)
  /// The commit in which the last vanished product was found: those of one reload follow each other.
  private let lastEarlier = Mutex<(sequence: UInt64, snapshot: CatalogSnapshot?)?>(nil)

  init(_ history: CatalogHistory) {
    self.history = history
    snapshot = history.current
  }

  /// The rows of all products, relations and codes.
  func rowIDs() throws(StoreError) -> (products: [RowID], relations: [RowID], codes: [RowID]) {
    if let rows = allRows.withLock({ $0 }) { return rows }
    let rows = try snapshot.rowIDs()
    allRows.withLock { $0 = rows }
    return rows
  }

  /// Reads a product as it was before it vanished; of one that is no longer kept, only the id.
  func readVanished(_ id: ByteText, _ lastSeen: UInt64, into row: inout ProductRow) throws(StoreError) {
    if let earlier = earlier(lastSeen), let product = try earlier.productRow(id: id.bytes),
      try earlier.copy(product, to: &row)
    {
      return
    }
    row.reset()
    row.texts.set(ProductText.id.rawValue, id.bytes.span)
  }

  private func earlier(_ sequence: UInt64) -> CatalogSnapshot? {
    if let last = lastEarlier.withLock({ $0 }), last.sequence == sequence { return last.snapshot }
    // A commit that cannot be read is as good as one that is not kept.
    let snapshot = sequence == 0 ? nil : try? history.at(sequence)
    lastEarlier.withLock { $0 = (sequence, snapshot) }
    return snapshot
  }
}

extension ProductRow {
  /// The bytes of a text.
  func bytes(of field: ProductText) -> ByteText {
    texts.withText(field.rawValue) { text in
      var bytes: [UInt8] = []
      bytes.append(copying: text)
      return ByteText(bytes: bytes)
    }
  }
}
