import Documents

/// A paged reader of the uploads of one commit, in the order of enqueuing. It keeps a bounded number of entries in
/// memory, whatever the length of the queue.
package struct UploadPages: Sendable {
  private let tables: QueueTables
  private let snapshot: DocumentSnapshot
  /// Finds a limited number of entries at once, and visits those of all selected uploads to find them.
  private let query: Query<ScheduleEntry>
  /// The entries that were read and not returned yet.
  private var entries: ArraySlice<ScheduleEntry> = []
  private var cursor: QueryCursor?
  private var isAtEnd = false

  /// - Parameter entryCount: The maximum number of entries in memory.
  /// - Throws: `UploadQueueError.format`; `StoreError`.
  init(_ tables: QueueTables, _ state: UploadState?, entryCount: Int) throws {
    self.tables = tables
    snapshot = try tables.store.snapshot()
    _ = try tables.state(in: snapshot)
    let selected = state.map { tables.schedule.query(.in(\.state, [$0])) } ?? tables.schedule.query()
    query = selected.order(by: \.id).limit(entryCount)
  }

  /// Returns the next uploads, at most `limit` of them; none at the end.
  ///
  /// - Throws: `StoreError` if the queue cannot be read.
  /// - Complexity: Reads each upload once, and the selected entries each time that the entries in memory are used up.
  package mutating func next(_ limit: Int) throws -> [Upload] {
    precondition(limit > 0, "limit: at least 1")
    var uploads: [Upload] = []
    while uploads.count < limit {
      if entries.isEmpty {
        if isAtEnd { break }
        let page = try query.page(after: cursor, in: snapshot)
        entries = try page.results.map { try $0.get() }[...]
        cursor = page.next
        isAtEnd = cursor == nil
        continue
      }
      if let upload = try tables.upload(entries.removeFirst(), in: snapshot) { uploads.append(upload) }
    }
    return uploads
  }
}
