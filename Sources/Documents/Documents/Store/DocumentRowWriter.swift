import Bytes
import DocumentFormat
import LogStore

/// Makes the rows of documents of one collection in one transaction, with their keys in all indexes. It is reused from
/// document to document.
struct DocumentRowWriter {
  private let transaction: Transaction
  private let table: DocumentTable
  private let indexes: [CollectionIndex]
  /// The ordered indexes, with their numbers in the engine's table.
  private let ordered: [(index: CollectionIndex, position: Int)]
  /// The number of the engine's table.
  let number: Int
  /// The numbers of the indexes in which a document that was written has not exactly one value.
  private(set) var listValued: Set<UInt16> = []
  private var draft = RecordDraft()
  private var keys: [UInt8] = []

  /// Creates a writer, and the engine's table if there is none.
  init(_ transaction: Transaction, _ table: DocumentTable, _ indexes: [CollectionIndex]) throws {
    self.transaction = transaction
    self.table = table
    self.indexes = indexes
    number = try transaction.table(table.schema(indexes))
    let names = transaction.orderedIndexes(of: number)
    ordered = indexes.filter(\.description.isOrdered).compactMap { index in
      names.firstIndex(of: index.orderedName).map { (index, $0) }
    }
  }

  /// Puts a document. It replaces the one with the same ID.
  mutating func put(_ key: [UInt8], _ document: [UInt8]) throws {
    try fill(key, document)
    try transaction.put(number, draft)
  }

  /// Puts a document that replaces `row`, which has the same ID.
  mutating func put(_ key: [UInt8], _ document: [UInt8], replacing row: RowID) throws {
    try fill(key, document)
    try transaction.put(number, draft, replacing: row)
  }

  private mutating func fill(_ key: [UInt8], _ document: [UInt8]) throws {
    draft.reset()
    draft.addKey(key.rawSpan)
    draft.body = document
    try draft.addKeys {
      try table.appendKeys(of: document.rawSpan, key.rawSpan, indexes, to: &$0, listValued: &listValued)
    }
    for (index, position) in ordered {
      keys.removeAll(keepingCapacity: true)
      if try !table.appendOrderedKeys(of: document.rawSpan, key.rawSpan, index, to: &keys) {
        listValued.insert(index.number)
      }
      // Of its own, so that the draft can be changed while its keys are read.
      let keys = keys
      var list = KeyList(keys.rawSpan)
      while let key = list.next() { draft.orderedKeys.add(position, key) }
    }
  }
}
