import Bytes
public import LogStore
import Synchronization

/// A store of documents: any number of collections in one file, one commit for changes to any of them.
///
///     let store = try DocumentStore.open(location)
///     let members = try store.collection("members", of: Member.self, indexes: [Index(\.user.name)])
///     try members.insert(member)
///     let online = try members.query(\.user.status.isOnline == true).order(by: \.user.name).results()
///
/// Any number of threads may use one. Who writes waits for others who do, in any process; the lock is held for one commit.
/// Calls that change something return when it is durable: they block for a sync of the disk.
public final class DocumentStore: Sendable {
  /// How a store is used.
  public struct Options: Sendable {
    /// How long a change waits for another process to finish one.
    public var waiting = Duration.seconds(2)
    /// When the file is written anew without what is dead.
    public var compaction = CompactionPolicy.standard
    /// How often commits of other processes are looked for while somebody observes.
    public var pollInterval = Duration.milliseconds(100)
    /// Is told of every operation; `nil` costs nothing.
    public var trace: (@Sendable (Trace) -> Void)?
    /// Is told how far the keys of a new index are: documents done, and of how many.
    public var onReindex: (@Sendable (_ collection: String, _ done: Int, _ total: Int) -> Void)?

    public init() {}
  }

  package let location: StoreLocation
  let options: Options
  let observers: Observers

  /// What was read last.
  private struct View {
    var reader: StoreReader?
    var snapshot: DocumentSnapshot
    var isClosed = false
  }

  /// Guards which snapshot is the newest that this store has seen; held for a refresh.
  private let view: Mutex<View>
  /// The writer between commits: it has the file open, and not the lock. A writer belongs to one thread at a time, which here is
  /// the one that holds the mutex.
  private struct Resting: @unchecked Sendable {
    var writer: StoreWriter?
  }

  /// Held by the one thread of this process that writes.
  private let writing = Mutex(Resting())

  private init(_ location: StoreLocation, _ options: Options) throws {
    self.location = location
    self.options = options
    let reader = try StoreReader.open(location)
    view = Mutex(View(reader: reader, snapshot: try DocumentSnapshot(reader?.snapshot)))
    observers = Observers(interval: options.pollInterval)
  }

  /// Opens a store, which comes into being with its first commit, and brings it to a version of the application's schema.
  ///
  /// - Throws: `DocumentStoreError.newerSchema`, `.migration`, `.unknownState`; `StoreError`.
  /// - Complexity: some ten system calls, whatever the number of documents; a migration takes what its steps take.
  public static func open(
    _ location: StoreLocation, schemaVersion: Int = 0, migrations: [Migration] = [], options: Options = Options()
  ) throws -> DocumentStore {
    let store = try DocumentStore(location, options)
    try store.migrate(to: schemaVersion, migrations)
    return store
  }

  /// Opens a store as it is, whatever its schema: for tools that know no Swift types.
  public static func inspect(_ location: StoreLocation, options: Options = Options()) throws -> DocumentStore {
    try DocumentStore(location, options)
  }

  var path: String { location.path }

  /// Lets go of the file. A change that has begun is finished, and snapshots and results that were taken stay readable; what
  /// is asked of the store or of a collection of it from now on throws ``DocumentStoreError/closed(path:)``. Who observes is
  /// told nothing more: the sequences end.
  ///
  /// Does not wait, and may be called from any thread and any number of times.
  public func close() {
    // What goes with the last reference goes when the lock is free.
    let old = view.withLock { view in
      let old = view
      view.reader = nil
      view.isClosed = true
      return old
    }
    withExtendedLifetime(old) {}
    // Where somebody writes, that call lets go of the file.
    writing.withLockIfAvailable { $0.writer = nil }
    observers.finish()
  }

  /// - Throws: `DocumentStoreError.closed`.
  func checkOpen() throws(DocumentStoreError) {
    if view.withLock({ $0.isClosed }) { throw .closed(path: path) }
  }

  /// All documents at the last commit of any process.
  ///
  /// - Throws: `DocumentStoreError.closed`, `.unknownState`; `StoreError`.
  /// - Complexity: with nothing new, one system call.
  public func snapshot() throws -> DocumentSnapshot {
    try view.withLock { view in
      if view.isClosed { throw DocumentStoreError.closed(path: path) }
      if let reader = view.reader {
        // A compaction has no new content, but it has another file.
        let shown = view.snapshot.store
        try reader.refresh()
        let newest = reader.snapshot
        if newest !== shown { view.snapshot = try DocumentSnapshot(newest, knowing: view.snapshot) }
      } else if let reader = try StoreReader.open(location) {
        view = View(reader: reader, snapshot: try DocumentSnapshot(reader.snapshot))
      }
      return view.snapshot
    }
  }

  /// Changes documents in one commit: all that `body` does, or nothing if it throws. A body without changes makes none.
  ///
  /// The body must not change the store but through its transaction.
  ///
  /// - Returns: what `body` returns, when its changes are durable.
  /// - Throws: what `body` throws; `StoreError`.
  @discardableResult
  public func transaction<Result>(_ body: (DocumentTransaction) throws -> Result) throws -> Result {
    try commit(body)
  }

  /// As ``transaction(_:)``.
  @discardableResult
  func commit<Result>(_ body: (DocumentTransaction) throws -> Result) throws -> Result {
    try write { writer in
      let transaction = try writer.begin()
      do {
        let known = view.withLock { $0.snapshot }
        let changes = DocumentTransaction(transaction, try DocumentSnapshot(transaction.base, knowing: known))
        let result = try body(changes)
        if try changes.finish() {
          _ = try writer.commit(transaction)
        } else {
          writer.discard(transaction)
        }
        return result
      } catch {
        writer.discard(transaction)
        throw error
      }
    }
  }

  /// Lends the writer, and compacts and tells the observers afterwards.
  func write<Result>(_ body: (StoreWriter) throws -> Result) throws -> Result {
    let result = try withWriter { writer in
      let result = try body(writer)
      // What was committed stays committed, whatever becomes of the compaction.
      if let snapshot = writer.snapshot, (try? options.compaction.isDue(in: snapshot)) == true {
        _ = try? writer.compact()
      }
      return result
    }
    observers.notify()
    return result
  }

  /// Writes the file anew without what is dead, now.
  ///
  /// - Throws: `StoreError.noRoom` where the disk has too little room; nothing changed then.
  public func compact() throws { try withWriter { writer in _ = try writer.compact() } }

  /// Runs `body` with the writer, under the lock of the store.
  private func withWriter<Result>(_ body: (StoreWriter) throws -> Result) throws -> Result {
    try writing.withLock { resting in
      try checkOpen()
      let writer: StoreWriter
      if let rested = resting.writer, try rested.resume(waiting: options.waiting) {
        writer = rested
      } else {
        resting.writer = nil
        writer = try StoreWriter(location, schema: Schema([]), waiting: options.waiting)
      }
      // Each commit is durable. The slot that vouches for the last one becomes durable with the next one: a sync of its own
      // would double the time of a commit.
      defer {
        writer.rest()
        resting.writer = view.withLock { $0.isClosed } ? nil : writer
      }
      return try body(writer)
    }
  }

  /// Runs an operation, and tells the tracer about it.
  func traced<Result>(
    _ operation: Trace.Operation, _ collection: String, _ body: (inout Trace) throws -> Result
  ) rethrows -> Result {
    var trace = Trace(operation: operation, collection: collection)
    guard let tell = options.trace else { return try body(&trace) }
    let clock = ContinuousClock()
    let start = clock.now
    defer {
      trace.duration = clock.now - start
      tell(trace)
    }
    return try body(&trace)
  }
}
