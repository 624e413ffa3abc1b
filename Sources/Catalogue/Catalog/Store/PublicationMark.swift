import Bytes
package import LogStore

/// What a catalogue knows of the publication that it follows. It changes together with the rows, so that no older state
/// of a publication, and none of another one, is ever taken for news.
package struct PublicationMark: Equatable, Sendable {
  /// The id of the published catalogue.
  package var catalogue: String
  /// The sequence number of the published state that the rows are, or were before something else changed them.
  package var sequence: UInt64
  /// The version of the list of keys that was trusted last.
  package var keysVersion: UInt64
  /// The root key that vouches for the list of keys, as signify has it: 8 bytes of its number, 32 of the key.
  package var rootKey: [UInt8]
  /// The two words of ``CatalogRowSum``; `nil` once something other than the publication has changed rows.
  package var rowSum: RowSum?

  /// The two words of a ``CatalogRowSum``.
  package struct RowSum: Equatable, Sendable {
    package var first: UInt64
    package var second: UInt64

    package init(_ sum: CatalogRowSum) {
      (first, second) = sum.words
    }

    fileprivate init(first: UInt64, second: UInt64) {
      self.first = first
      self.second = second
    }
  }

  /// The longest id of a catalogue in bytes.
  package static let maximumIDLength = 255

  package init(catalogue: String, sequence: UInt64, keysVersion: UInt64, rootKey: [UInt8], rowSum: RowSum? = nil) {
    self.catalogue = catalogue
    self.sequence = sequence
    self.keysVersion = keysVersion
    self.rootKey = rootKey
    self.rowSum = rowSum
  }

  /// The same mark for a commit of something else than the publication.
  var withoutSum: PublicationMark {
    var mark = self
    mark.rowSum = nil
    return mark
  }

  /// Appends the mark: 2 bytes length of what follows; a byte that is 1 if there is a sum; sequence, version of the
  /// keys, both words of the sum; a byte length and the root key; the catalogue's id.
  func append(to writer: inout ByteWriter) {
    let id = Array(catalogue.utf8)
    writer.put(UInt16(1 + 4 * 8 + 1 + rootKey.count + id.count))
    writer.put(rowSum == nil ? 0 : 1 as UInt8)
    writer.put(sequence)
    writer.put(keysVersion)
    writer.put(rowSum?.first ?? 0)
    writer.put(rowSum?.second ?? 0)
    writer.put(UInt8(rootKey.count))
    writer.put(rootKey)
    writer.put(id)
  }

  init?(_ reader: inout ByteReader) {
    guard let length = reader.u16().map(Int.init), reader.remaining >= length else { return nil }
    let end = reader.offset + length
    guard let hasSum = reader.u8(), hasSum <= 1, let sequence = reader.u64(), let keysVersion = reader.u64(),
      let first = reader.u64(), let second = reader.u64(), let keyLength = reader.u8().map(Int.init),
      let rootKey = reader.bytes(keyLength), reader.offset <= end, let catalogue = reader.text(end - reader.offset)
    else { return nil }
    self.init(
      catalogue: catalogue, sequence: sequence, keysVersion: keysVersion, rootKey: rootKey,
      rowSum: hasSum == 1 ? RowSum(first: first, second: second) : nil)
  }
}

extension CatalogSnapshot {
  /// The publication that the catalogue follows; `nil` if it never followed one.
  package var publication: PublicationMark? { state.publication }

  /// The sum of the hashes of all rows.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Constant if the last commit was of a publication; else reads every row once.
  package func rowSum() throws(StoreError) -> CatalogRowSum {
    guard let sum = state.publication?.rowSum else { return try CatalogRowSum(self) }
    return CatalogRowSum((sum.first, sum.second), of: self)
  }
}

extension UpdateReport {
  /// The report of the last commit of a catalogue, for an update that wrote nothing; `nil` if there is no commit.
  package init?(ofLast snapshot: CatalogSnapshot) {
    guard let store = snapshot.store else { return nil }
    var state = snapshot.state
    state.counts = UpdateCounts()
    self.init(state, store)
  }
}
