import Bytes
import DocumentFormat
import LogStore

/// The difference of a collection between two commits.
public enum CollectionChange<ID: Hashable & Sendable>: Sendable, Equatable {
  /// The IDs of documents that were added or changed, and of documents that were deleted.
  case changed(upserted: [ID], deleted: [ID])
  /// The file was compacted between the commits, so any document may have changed.
  case everything
}

/// An asynchronous sequence of changes to a collection, one after each commit of any process. Commits between two calls
/// of `next()` are merged.
///
/// It begins after the last commit at the time of `makeAsyncIterator()`.
public struct CollectionChanges<Document: Codable & Identifiable & Sendable>: AsyncSequence, Sendable
where Document.ID: Codable & Sendable {
  /// The IDs that changed, or the notice that all documents may have changed.
  public typealias Element = CollectionChange<Document.ID>

  let collection: DocumentCollection<Document>

  /// Begins an iteration after the last commit, so it yields only changes that are made later.
  public func makeAsyncIterator() -> Iterator {
    Iterator(collection, collection.store.observers.signals().makeAsyncIterator())
  }

  /// An iterator that waits for the next commit that changes the collection.
  public struct Iterator: AsyncIteratorProtocol {
    private let collection: DocumentCollection<Document>
    private var signals: AsyncStream<Void>.Iterator
    private var seen: DocumentSnapshot?

    init(_ collection: DocumentCollection<Document>, _ signals: AsyncStream<Void>.Iterator) {
      self.collection = collection
      self.signals = signals
      seen = try? collection.store.snapshot()
    }

    /// The next change.
    ///
    /// - Returns: `nil` when the store was closed.
    /// - Throws: `StoreError` if the store cannot be read.
    public mutating func next() async throws -> Element? {
      while await signals.next() != nil {
        let now: DocumentSnapshot
        do { now = try collection.store.snapshot() } catch DocumentStoreError.closed { return nil }
        defer { seen = now }
        guard let seen, now.isLater(than: seen) else { continue }
        if let change = try collection.change(from: seen, to: now) { return change }
      }
      return nil
    }
  }
}

extension DocumentCollection {
  /// The changes of this collection from now on; see ``CollectionChanges``.
  public var changes: CollectionChanges<Document> { CollectionChanges(collection: self) }

  /// The difference between two commits; `nil` if nothing changed.
  func change(from old: DocumentSnapshot, to new: DocumentSnapshot) throws -> CollectionChange<Document.ID>? {
    guard let store = new.store, let index = new.index(of: table) else { return nil }
    guard let earlier = old.store else { return new.count(table) == 0 ? nil : .everything }
    // If a backup was put in the place of the file, its commits may differ from those that were shown.
    guard store.sequence >= earlier.sequence, try store.descends(from: earlier) else { return .everything }
    let changes = try store.changes(since: earlier)
    var upserted: [[UInt8]] = []
    var kept: Set<[UInt8]> = []
    for row in changes.added[index] {
      let scope = ScratchScope(store)
      defer { scope.end() }
      guard let record = try store.record(row, table: index) else { continue }
      let key = record.key(0).copied()
      kept.insert(key)
      // A row that was rewritten with the same content, for example for a new index, has not changed.
      let isSame = try old.withDocument(table, key) { $0.hasSameBytes(as: record.body) } ?? false
      if !isSame { upserted.append(key) }
    }
    var deleted: [[UInt8]] = []
    for row in changes.removed[index] {
      let scope = ScratchScope(earlier)
      defer { scope.end() }
      guard let record = try earlier.record(row, table: index) else { continue }
      let key = record.key(0).copied()
      if !kept.contains(key) { deleted.append(key) }
    }
    if upserted.isEmpty, deleted.isEmpty { return nil }
    return .changed(upserted: try upserted.map(id), deleted: try deleted.map(id))
  }

  private func id(_ key: [UInt8]) throws -> Document.ID {
    do { return try DocumentDecoder().decode(Document.ID.self, from: key) } catch {
      throw DocumentStoreError.document(collection: name, id: DocumentTable.text(ofKey: key), reason: error)
    }
  }
}

/// An asynchronous sequence of query results: the current ones, then new ones after each commit that changed the
/// collection.
public struct QueryValues<Document: Codable & Identifiable & Sendable>: AsyncSequence, Sendable
where Document.ID: Codable & Sendable {
  /// The results of the query at one commit.
  public typealias Element = QueryResults<Document>

  let query: Query<Document>

  /// Begins an iteration whose first element is the current results.
  public func makeAsyncIterator() -> Iterator { Iterator(query) }

  /// An iterator that runs the query again after each commit that changes the collection.
  public struct Iterator: AsyncIteratorProtocol {
    private let query: Query<Document>
    private var changes: CollectionChanges<Document>.Iterator
    private var isFirst = true

    init(_ query: Query<Document>) {
      self.query = query
      changes = query.collection.changes.makeAsyncIterator()
    }

    /// Returns the next results. Waits for a change of the collection unless this is the first call; `nil` when the
    /// store was closed.
    ///
    /// - Throws: The error that prevents the query from being run.
    public mutating func next() async throws -> Element? {
      if isFirst {
        isFirst = false
        return try query.results()
      }
      guard try await changes.next() != nil else { return nil }
      return try query.results()
    }
  }
}

extension Query {
  /// The results now and after each change; see ``QueryValues``.
  public var values: QueryValues<Document> { QueryValues(query: self) }
}
