import DocumentFormat
import Documents

/// The collections of one queue. Their names begin with a reserved prefix, which applications cannot use.
struct QueueTables: Sendable {
  let name: String
  let store: DocumentStore
  /// Entries by ordinal, with an index on the state, so a search for waiting uploads does not read parked ones.
  let schedule: DocumentCollection<ScheduleEntry>
  /// Payloads by ID.
  let uploads: DocumentCollection<StoredUpload>
  /// The latest upload of each replace key, by key.
  let replacements: DocumentCollection<Replacement>
  let states: DocumentCollection<QueueState>

  /// Opens a queue's collections.
  ///
  /// - Parameter declares: Whether to create a missing index.
  /// - Throws: `UploadQueueError.name`.
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

  /// The names of the queues in a store, in bytewise order.
  static func names(in snapshot: DocumentSnapshot) -> [String] {
    let prefix = DocumentStore.reservedPrefix + "queue/"
    return snapshot.allCollectionNames.compactMap { name in
      guard name.hasPrefix(prefix), name.hasSuffix("/schedule") else { return nil }
      return String(name.dropFirst(prefix.count).dropLast("/schedule".count))
    }
  }

  /// Reads the queue's state.
  ///
  /// - Throws: `UploadQueueError.format`.
  func state(in snapshot: DocumentSnapshot) throws -> QueueState {
    try validated(states.get(QueueState.theID, in: snapshot))
  }

  /// Reads the queue's state as the transaction has changed it.
  ///
  /// - Throws: `UploadQueueError.format`.
  func state(in transaction: DocumentTransaction) throws -> QueueState {
    try validated(transaction.get(QueueState.theID, from: states))
  }

  /// Checks the format version. A queue with an unknown one is neither read nor written, because its meaning is
  /// unknown.
  private func validated(_ state: QueueState?) throws -> QueueState {
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
