package import Bytes
public import LogStore

/// A digest of the documents of a store. It covers the collections' names and the documents' IDs and contents, but not
/// their offsets, times or declared indexes, and no reserved collections. See `Documentation/Format/Digests.md`.
public struct DocumentDigest: Sendable, Equatable, CustomStringConvertible {
  package let content: ContentDigest
  /// The number of documents in all collections except reserved ones.
  public let count: Int

  /// The digest of a store without documents.
  public init() {
    content = ContentDigest().closed(count: 0)
    count = 0
  }

  /// Computes the digest of a snapshot.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Reads every document once.
  public init(_ snapshot: DocumentSnapshot) throws(StoreError) {
    var sum = ContentDigest()
    var number = 0
    var text: [UInt8] = []
    for (table, name) in (snapshot.store?.tableNames ?? []).enumerated() {
      guard let collection = DocumentTable(tableNamed: name),
        !collection.name.hasPrefix(DocumentStore.reservedPrefix)
      else { continue }
      let name = Array(collection.name.utf8)
      try snapshot.store?.scan(table) { (record) throws(StoreError) in
        number += 1
        text.removeAll(keepingCapacity: true)
        text.appendPart(name.rawSpan)
        text.appendPart(record.key(0))
        text.append(record.body)
        sum.add(text.rawSpan)
      }
    }
    content = sum.closed(count: number)
    count = number
  }

  /// The digest of a catalogue and these documents; the catalogue's own digest if there are no documents.
  package func covering(catalogue: ContentDigest) -> ContentDigest {
    count == 0 ? catalogue : catalogue.joined(with: content)
  }

  /// The digest as 32 hexadecimal digits.
  public var description: String { content.description }
}

extension [UInt8] {
  /// Appends a byte count in four bytes, then the bytes.
  fileprivate mutating func appendPart(_ part: RawSpan) {
    var length = ByteWriter()
    length.put(UInt32(clamping: part.byteCount))
    append(contentsOf: length.bytes)
    append(part)
  }
}
