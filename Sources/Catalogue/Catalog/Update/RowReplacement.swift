import Bytes
package import CatalogRows
package import LogStore

/// Final rows of a publication, which replace whatever the catalogue has of the same products.
///
/// Each *entry* is an id with all that the catalogue has of it afterwards: the product with this id or none, the
/// relations of the set with this id, and the codes of the product with this id. The last of several entries with the same id
/// counts. So entries that a catalogue has already change nothing, and several series of entries can be taken in one
/// commit.
///
/// It uses memory for the rows and their ids.
package struct RowReplacement {
  private struct Entry: BitwiseCopyable {
    /// The number of the last entry with this id, from 1.
    var number: UInt32 = 0
    /// The index of its product, from 1; 0 if it has none.
    var product: UInt32 = 0
  }

  private var ids = ByteStringTable<Entry>(
    seed: HashSeed(.random(in: .min ... .max), .random(in: .min ... .max)))
  private var products = RowBuffer()
  private var relations = RowBuffer()
  private var codes = RowBuffer()
  /// The entries that relations and codes belong to.
  private var relationEntries: [UInt32] = []
  private var codeEntries: [UInt32] = []
  private var entryCount: UInt32 = 0
  private var current = 0
  private var tally = RowTally(limits: nil)

  package init() {}

  /// The number of different ids.
  package var count: Int { ids.count }

  /// Begins an entry. The rows up to the next entry belong to it.
  package mutating func entry(_ id: RawSpan) {
    entryCount += 1
    current = ids.number(of: id, new: Entry())
    ids[current] = Entry(number: entryCount)
  }

  /// Adds the product of the entry.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package mutating func product(_ row: borrowing ProductRow) throws(StoreError) {
    _ = try tally.accepts(row)
    products.append(row)
    ids[current].product = UInt32(products.count)
  }

  /// Adds a relation of the entry.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package mutating func relation(_ row: borrowing RelationRow) throws(StoreError) {
    _ = try tally.accepts(row)
    relations.append(row)
    relationEntries.append(entryCount)
  }

  /// Adds a code of the entry.
  ///
  /// - Throws: `StoreError.tooLarge`.
  package mutating func code(_ row: borrowing CodeRow) throws(StoreError) {
    _ = try tally.accepts(row)
    codes.append(row)
    codeEntries.append(entryCount)
  }

  /// Replaces the rows in one commit, if the catalogue then has the digest that it should have.
  ///
  /// - Parameters:
  ///   - writer: The writer of the catalogue.
  ///   - cursor: The catalogue's new cursor.
  ///   - publication: What the catalogue knows of the publication from now on; its sum is computed.
  ///   - digest: The digest that the catalogue must have afterwards, as 32 hexadecimal digits.
  /// - Returns: The report of the commit, which is durable.
  /// - Throws: ``DigestMismatch``; `StoreError`. Nothing was changed in these cases.
  /// - Complexity: Proportional to the rows, whatever the size of the catalogue, if its last commit was of a publication.
  package consuming func commit(
    to writer: CatalogWriter, cursor: String, _ publication: PublicationMark, digest: String
  ) throws -> UpdateReport {
    try writer.replace(self, cursor: cursor, publication, digest: digest)
  }

  fileprivate consuming func commit(
    to writer: StoreWriter, _ old: CatalogSnapshot, _ state: inout CatalogState, digest: String
  ) throws -> Snapshot {
    var sum = try old.rowSum()
    let transaction = try writer.begin()
    do {
      state.counts = try removeOld(from: transaction, old, &sum)
      var encoder = ProductEncoder()
      try put(into: transaction, &encoder, &sum, &state.counts)
      state.hasExtra = encoder.hasExtra || old.state.hasExtra
      state.codeCount = max(0, old.codeCount + state.counts.codesWritten - state.counts.codesDeleted)
      state.publication?.rowSum = PublicationMark.RowSum(sum)
      let own = sum.digest(cursor: state.cursor).description
      if own != digest { throw DigestMismatch(own: own, published: digest) }
      transaction.state = state.encoded
    } catch {
      writer.discard(transaction)
      throw error
    }
    return try writer.commit(transaction)
  }

  /// Deletes what the catalogue has of the entries, except products that are replaced, and takes all of it out of the
  /// sum. Lookups are batched so that their cache misses overlap.
  private func removeOld(
    from transaction: Transaction, _ old: CatalogSnapshot, _ sum: inout CatalogRowSum
  ) throws(StoreError) -> UpdateCounts {
    var counts = UpdateCounts()
    var all = KeyBatch()
    var gone = KeyBatch()
    for id in 0..<ids.count {
      all.append(ids.text(id))
      if ids[id].product == 0 { gone.append(ids.text(id)) }
    }
    transaction.prefetch(CatalogSchema.productById, all)
    for id in 0..<ids.count {
      let text = ids.text(id)
      let scope = ScratchScope(old.store)
      defer { scope.end() }
      if let view = try old.view(id: text) { try sum.remove(view) }
      if old.relationCount > 0 {
        for relation in try old.relations(ofSet: text.string) { sum.remove(relation) }
      }
      if old.hasCodeTable {
        for code in try old.codes(ofProduct: text.string) {
          sum.remove(code)
          counts.codesDeleted += 1
        }
      }
    }
    counts.relationsDeleted = try transaction.delete(CatalogSchema.relationBySet, all)
    counts.productsDeleted = try transaction.delete(CatalogSchema.productById, gone)
    if old.hasCodeTable { try transaction.delete(CatalogSchema.codesByProduct, all) }
    return counts
  }

  private func put(
    into transaction: Transaction, _ encoder: inout ProductEncoder, _ sum: inout CatalogRowSum,
    _ counts: inout UpdateCounts
  ) throws(StoreError) {
    try products.forEachProduct { (index, row) throws(StoreError) in
      guard let id = ids.find(row.texts.raw(ProductText.id.rawValue)), ids[id].product == index + 1 else { return }
      try encoder.put(row, into: transaction)
      sum.add(row)
      counts.productsUpserted += 1
    }
    var relationEncoder = RelationEncoder()
    var index = 0
    try relations.forEachRelation { (row) throws(StoreError) in
      let entry = relationEntries[index]
      index += 1
      guard let id = ids.find(row.texts.raw(RelationText.productId.rawValue)), ids[id].number == entry else { return }
      try relationEncoder.put(row, into: transaction)
      sum.add(row)
      counts.relationsWritten += 1
    }
    var codeEncoder = CodeEncoder()
    index = 0
    try codes.forEachCode { (row) throws(StoreError) in
      let entry = codeEntries[index]
      index += 1
      guard let id = ids.find(row.texts.raw(CodeText.productId.rawValue)), ids[id].number == entry else { return }
      try codeEncoder.put(row, into: transaction)
      sum.add(row)
    }
    try codeEncoder.finish(into: transaction)
    counts.codesWritten = codeEncoder.count
  }
}

/// A catalogue would not have the digest of the published one. Nothing was changed.
package struct DigestMismatch: Error, Equatable, CustomStringConvertible {
  /// The digest that the catalogue would have, and the one that was published, as 32 hexadecimal digits.
  package let own: String
  package let published: String

  package init(own: String, published: String) {
    self.own = own
    self.published = published
  }

  package var description: String { "the rows would have the digest \(own), and \(published) was published" }
}

extension CatalogWriter {
  fileprivate func replace(
    _ rows: consuming RowReplacement, cursor: String, _ publication: PublicationMark, digest: String
  ) throws -> UpdateReport {
    let old = try snapshot()
    var state = CatalogState()
    state.cursor = cursor
    state.mode = .incremental
    state.publication = publication
    let new = try rows.commit(to: store, old, &state, digest: digest)
    return UpdateReport(state, new)
  }
}
