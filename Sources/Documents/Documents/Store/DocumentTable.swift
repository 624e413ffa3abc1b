import Bytes
import DocumentFormat
import LogStore

/// The table of a collection: documents by ID, and by the keys of all indexes.
///
/// The key of an ID is its encoded value. An entry in a row's list of keys is the index's number, in two bytes,
/// followed by the index key.
struct DocumentTable: Hashable, Sendable {
  /// The collection's name.
  let name: String
  /// The engine's name of the table.
  let tableName: String

  static let maximumNameByteCount = 200
  private static let prefix = "documents/"

  init(_ name: String) throws(DocumentStoreError) {
    guard (1...Self.maximumNameByteCount).contains(name.utf8.count) else { throw .name(name) }
    self.name = name
    tableName = Self.prefix + name
  }

  /// The collection of a table; `nil` if the table does not belong to one.
  init?(tableNamed tableName: String) {
    guard tableName.hasPrefix(Self.prefix) else { return nil }
    name = String(tableName.dropFirst(Self.prefix.count))
    self.tableName = tableName
  }

  /// The table with the ordered ones of `indexes`.
  func schema(_ indexes: [CollectionIndex]) -> Schema.Table {
    Schema.Table(
      tableName, keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("values", isList: true)],
      orderedIndexes: indexes.filter(\.description.isOrdered).map(\.schema))
  }

  static func ids(_ table: Int) -> KeySpaceID { KeySpaceID(table: table, index: 0) }
  static func values(_ table: Int) -> KeySpaceID { KeySpaceID(table: table, index: 1) }

  /// The encoded bytes of an ID.
  static func key(_ id: some Encodable) throws -> [UInt8] { try DocumentEncoder().encode(id) }

  /// An ID as readable text.
  static func text(ofKey key: [UInt8]) -> String { text(ofKey: key.rawSpan) }

  static func text(ofKey key: RawSpan) -> String {
    guard let value = try? DocumentValue(documentBytes: key) else { return "(\(key.byteCount) bytes)" }
    if case .text(let text) = value { return text }
    return value.json
  }

  /// The number of the index that a key in a row's list belongs to; `nil` if the key is too short.
  static func number(ofKey key: RawSpan) -> UInt16? { key.byteCount > 2 ? key.u16(at: 0) : nil }

  /// Appends the keys of a document in those of `indexes` that are not ordered, in the format of `KeyList`.
  ///
  /// - Parameter listValued: Receives the numbers of the indexes in which the document has not exactly one value.
  func appendKeys(
    of document: RawSpan, _ key: RawSpan, _ indexes: [CollectionIndex], to list: inout [UInt8],
    listValued: inout Set<UInt16>
  ) throws(DocumentStoreError) {
    let view = DocumentView(document)
    do {
      for index in indexes where !index.description.isOrdered {
        let count = try view.appendIndexKeys(
          at: index.description.path, withPrefixes: index.description.hasPrefixes, behind: index.keyHead, to: &list)
        if count != 1 { listValued.insert(index.number) }
      }
    } catch {
      throw DocumentStoreError.document(collection: name, id: Self.text(ofKey: key), reason: error)
    }
  }
}
