import Bytes
import LogStore

/// A fingerprint of the documents of a store: collections by name, documents by id and content; not where they lie, when
/// they came, or which indexes are declared, and nothing of reserved collections. See `Documentation/Format/Digests.md`.
public struct DocumentDigest: Sendable, Equatable, CustomStringConvertible {
  package let content: ContentDigest
  /// Documents in all collections but reserved ones.
  public let count: Int

  /// The digest of a store without documents.
  public init() {
    content = ContentDigest().closed(count: 0)
    count = 0
  }

  /// - Throws: `StoreError.damaged`.
  /// - Complexity: reads every document once.
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

  /// The digest of a catalogue and these documents: that of the catalogue alone if there are no documents.
  package func covering(catalogue: ContentDigest) -> ContentDigest {
    count == 0 ? catalogue : catalogue.joined(with: content)
  }

  /// 32 hexadecimal digits.
  public var description: String { content.description }
}

extension [UInt8] {
  /// Appends a length in four bytes, and so many bytes.
  fileprivate mutating func appendPart(_ part: RawSpan) {
    var length = ByteWriter()
    length.put(UInt32(clamping: part.byteCount))
    append(contentsOf: length.bytes)
    append(part)
  }
}
