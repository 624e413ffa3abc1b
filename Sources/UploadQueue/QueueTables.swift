import DocumentFormat
import Documents

/// The collections of one queue. Their names begin with what no application may name a collection by.
struct QueueTables: Sendable {
  let name: String
  let store: DocumentStore
  /// By ordinal, and by state: who looks for what waits does not pass what is parked.
  let schedule: DocumentCollection<ScheduleEntry>
  /// By id.
  let uploads: DocumentCollection<StoredUpload>
  /// By replace key.
  let replacements: DocumentCollection<Replacement>
  let states: DocumentCollection<QueueState>

  /// - Parameter declares: whether the index is made where it is missing.
  init(_ store: DocumentStore, name: String, declares: Bool) throws {
    guard (1...100).contains(name.utf8.count), !name.unicodeScalars.contains(where: { $0.value < 32 || $0 == "/" })
    else {
      throw UploadQueueError.name(name)
    }
    self.name = name
    self.store = store
    let prefix = DocumentStore.reservedPrefix + "queue/" + name + "/"
    schedule = try store.reservedCollection(prefix + "schedule", indexes: [Index(\.state)], declares: declares)
    uploads = try store.reservedCollection(prefix + "uploads")
    replacements = try store.reservedCollection(prefix + "replacements")
    states = try store.reservedCollection(prefix + "state")
  }

  /// Whether these are the collections of the same queue.
  func isSame(as other: QueueTables) -> Bool { store === other.store && name == other.name }

  /// The names of the queues of a store, bytewise.
  static func names(in snapshot: DocumentSnapshot) -> [String] {
    let prefix = DocumentStore.reservedPrefix + "queue/"
    return snapshot.allCollectionNames.compactMap { name in
      guard name.hasPrefix(prefix), name.hasSuffix("/schedule") else { return nil }
      return String(name.dropFirst(prefix.count).dropLast("/schedule".count))
    }
  }

  /// - Throws: `UploadQueueError.format`.
  func state(in snapshot: DocumentSnapshot) throws -> QueueState {
    try known(states.get(QueueState.theID, in: snapshot))
  }

  /// - Throws: `UploadQueueError.format`.
  func state(in transaction: DocumentTransaction) throws -> QueueState {
    try known(transaction.get(QueueState.theID, from: states))
  }

  /// What another form means nobody here knows, so nothing of such a queue is read or written.
  private func known(_ state: QueueState?) throws -> QueueState {
    let state = state ?? QueueState()
    guard (QueueState.plainFormat...QueueState.currentFormat).contains(state.format) else {
      throw UploadQueueError.format(queue: name, found: state.format)
    }
    return state
  }

  func upload(_ entry: ScheduleEntry, in snapshot: DocumentSnapshot) throws -> Upload? {
    try uploads.get(entry.upload, in: snapshot).map { Upload(entry, $0.payload) }
  }
}
