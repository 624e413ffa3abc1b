import DocumentFormat
import LogStore
import RecordFormat

/// How a collection lies in a store: a table with the documents by id, and by the keys of all indexes.
///
/// An id is its value as a document has it. A key in the list of a row is the number of the index, two bytes, and the
/// index's key.
struct DocumentTable: Hashable, Sendable {
  /// The collection's name.
  let name: String

  static let maximumNameByteCount = 200
  private static let prefix = "documents/"

  init(_ name: String) throws(DocumentStoreError) {
    guard (1...Self.maximumNameByteCount).contains(name.utf8.count) else { throw .name(name) }
    self.name = name
  }

  /// The collection that a table of a store is; `nil` for another table.
  init?(tableNamed tableName: String) {
    guard tableName.hasPrefix(Self.prefix) else { return nil }
    name = String(tableName.dropFirst(Self.prefix.count))
  }

  var tableName: String { Self.prefix + name }

  var schema: Schema.Table {
    Schema.Table(
      tableName, keySpaces: [Schema.KeySpace("id", isUnique: true), Schema.KeySpace("values", isList: true)])
  }

  static func ids(_ table: Int) -> KeySpaceID { KeySpaceID(table: table, index: 0) }
  static func values(_ table: Int) -> KeySpaceID { KeySpaceID(table: table, index: 1) }

  /// The bytes of an id.
  static func key(_ id: some Encodable) throws -> [UInt8] { try DocumentEncoder().encode(id) }

  /// An id as people read it.
  static func text(ofKey key: [UInt8]) -> String {
    guard let value = try? DocumentValue(documentBytes: key.rawSpan) else { return "(\(key.count) bytes)" }
    if case .text(let text) = value { return text }
    return value.json
  }

  /// The key in a row's list for `key` of index `number`.
  static func key(_ number: UInt16, _ key: IndexKey) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)] + key.bytes
  }

  /// The index that a key in a row's list belongs to; `nil` for what is no key.
  static func number(ofKey key: RawSpan) -> UInt16? { key.byteCount > 2 ? key.u16(at: 0) : nil }

  /// Fills `draft` with a row for a document.
  func fill(_ draft: inout RecordDraft, key: [UInt8], document: [UInt8], _ indexes: [DeclaredIndex]) throws {
    draft.reset()
    draft.addKey(key.rawSpan)
    draft.addKeys(try keys(of: document, key, indexes))
    draft.body = document
  }

  /// The keys under which `indexes` find a document.
  func keys(of document: [UInt8], _ key: [UInt8], _ indexes: [DeclaredIndex]) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    do {
      let view = DocumentView(document.rawSpan)
      for index in indexes {
        guard let description = index.description else { continue }
        try view.forEachIndexKey(at: description.path, withPrefixes: description.hasPrefixes) {
          keys.append(Self.key(index.number, $0))
        }
      }
    } catch {
      throw DocumentStoreError.document(collection: name, id: Self.text(ofKey: key), reason: error)
    }
    return keys
  }
}
