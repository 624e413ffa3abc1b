import Bytes
import DocumentFormat
import LogStore
import Synchronization

extension DocumentTable {
  /// Appends the keys of a document in an ordered index, in the format of `KeyList`. Returns whether it has exactly one
  /// value there.
  func appendOrderedKeys(
    of document: RawSpan, _ key: RawSpan, _ index: CollectionIndex, to list: inout [UInt8]
  ) throws(DocumentStoreError) -> Bool {
    do { return try DocumentView(document).appendOrderedKeys(at: index.description.paths, to: &list) } catch {
      throw DocumentStoreError.document(collection: name, id: Self.text(ofKey: key), reason: error)
    }
  }

  /// Adds an ordered index to the engine's table, and enters all documents of the snapshot.
  ///
  /// - Parameter report: A progress callback, called after every thousand documents with their number.
  /// - Returns: Whether every document has exactly one value in the index.
  /// - Throws: `DocumentStoreError.document` if a document is invalid; `StoreError`.
  func addOrderedIndex(
    _ index: CollectionIndex, to transaction: Transaction, _ number: Int, _ report: (Int) -> Void
  ) throws -> Bool {
    // The engine calls the function on this thread; the lock is for the compiler.
    let seen = Mutex((count: 0, isSingleValued: true, failure: DocumentStoreError?.none))
    let described = Schema.OrderedIndex(index.orderedName) { [self] (record, receive) throws(StoreError) in
      var keys: [UInt8] = []
      let result = Result { () throws(DocumentStoreError) in
        try appendOrderedKeys(of: record.body, record.key(0), index, to: &keys)
      }
      seen.withLock { seen in
        seen.count += 1
        switch result {
        case .success(let isSingle): seen.isSingleValued = seen.isSingleValued && isSingle
        case .failure(let error): seen.failure = seen.failure ?? error
        }
      }
      var list = KeyList(keys.rawSpan)
      while let key = list.next() { receive(key) }
    }
    try transaction.addOrderedIndex(number, described)
    let result = seen.withLock { $0 }
    if let failure = result.failure { throw failure }
    report(result.count)
    return result.isSingleValued
  }
}

extension CollectionIndex {
  /// The ordered index as the engine knows it. A document with invalid bytes has no keys; `verify` reports it.
  var schema: Schema.OrderedIndex {
    let paths = description.paths
    return Schema.OrderedIndex(orderedName) { (record, receive) throws(StoreError) in
      var keys: [UInt8] = []
      _ = try? DocumentView(record.body).appendOrderedKeys(at: paths, to: &keys)
      var list = KeyList(keys.rawSpan)
      while let key = list.next() { receive(key) }
    }
  }
}
