import Bytes
import DocumentFormat
import LogStore

/// How a collection lies in a store: a table with the documents by id, and by the keys of all indexes.
///
/// An id is its value as a document has it. A key in the list of a row is the number of the index, two bytes, and the
/// index's key.
struct DocumentTable: Hashable, Sendable {
  /// The collection's name.
  let name: String
  /// What the engine calls the table.
  let tableName: String

  static let maximumNameByteCount = 200
  private static let prefix = "documents/"

  init(_ name: String) throws(DocumentStoreError) {
    guard (1...Self.maximumNameByteCount).contains(name.utf8.count) else { throw .name(name) }
    self.name = name
    tableName = Self.prefix + name
  }

  /// The collection that a table of a store is; `nil` for another table.
  init?(tableNamed tableName: String) {
    guard tableName.hasPrefix(Self.prefix) else { return nil }
    name = String(tableName.dropFirst(Self.prefix.count))
    self.tableName = tableName
  }

  var schema: Schema.Table {
    Schema.Table(
      tableName, keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("values", isList: true)])
  }

  static func ids(_ table: Int) -> KeySpaceID { KeySpaceID(table: table, index: 0) }
  static func values(_ table: Int) -> KeySpaceID { KeySpaceID(table: table, index: 1) }

  /// The bytes of an id.
  static func key(_ id: some Encodable) throws -> [UInt8] { try DocumentEncoder().encode(id) }

  /// An id as people read it.
  static func text(ofKey key: [UInt8]) -> String { text(ofKey: key.rawSpan) }

  static func text(ofKey key: RawSpan) -> String {
    guard let value = try? DocumentValue(documentBytes: key) else { return "(\(key.byteCount) bytes)" }
    if case .text(let text) = value { return text }
    return value.json
  }

  /// The index that a key in a row's list belongs to; `nil` for what is no key.
  static func number(ofKey key: RawSpan) -> UInt16? { key.byteCount > 2 ? key.u16(at: 0) : nil }

  /// Fills `draft` with a row for a document.
  func fill(_ draft: inout RecordDraft, key: [UInt8], document: [UInt8], _ indexes: [CollectionIndex]) throws {
    draft.reset()
    draft.addKey(key.rawSpan)
    draft.body = document
    try draft.addKeys { try appendKeys(of: document.rawSpan, key.rawSpan, indexes, to: &$0) }
  }

  /// Appends the keys under which `indexes` find a document, in the form of `KeyList`.
  func appendKeys(
    of document: RawSpan, _ key: RawSpan, _ indexes: [CollectionIndex], to list: inout [UInt8]
  ) throws(DocumentStoreError) {
    let view = DocumentView(document)
    do {
      for index in indexes {
        try view.appendIndexKeys(
          at: index.description.path, withPrefixes: index.description.hasPrefixes, behind: index.keyHead, to: &list)
      }
    } catch {
      throw DocumentStoreError.document(collection: name, id: Self.text(ofKey: key), reason: error)
    }
  }
}
