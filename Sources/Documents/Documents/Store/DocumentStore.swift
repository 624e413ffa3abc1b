import Bytes
public import LogStore
import Synchronization

/// An embedded document store: any number of collections in one file. A commit may change any of them.
///
///     let store = try DocumentStore.open(location)
///     let members = try store.collection("members", of: Member.self, indexes: [Index(\.user.name)])
///     try members.insert(member)
///     let online = try members.query(\.user.status.isOnline == true).order(by: \.user.name).results()
///
/// Any number of threads may use one store. Writers wait for each other, across all processes; the lock is held for one
/// commit. Calls that change documents return when the change is durable, so they block for a disk sync.
public final class DocumentStore: Sendable {
  /// The options of a store.
  public struct Options: Sendable {
    /// The longest time that a change waits for a writer in another process.
    public var lockTimeout = Duration.seconds(2)
    /// When to compact the file, which rewrites it without dead records.
    public var compaction = CompactionPolicy.standard
    /// The interval at which observers poll for commits of other processes.
    public var pollInterval = Duration.milliseconds(100)
    /// A callback for every operation; `nil` costs nothing.
    public var trace: Tracer?
    /// A callback for the progress of filling a new index: the number of documents done, and the total.
    public var onReindex: (@Sendable (_ collection: String, _ done: Int, _ total: Int) -> Void)?

    /// Creates the default options.
    public init() {}
  }

  package let location: StoreLocation
  let options: Options
  let observers: Observers

  /// The last snapshot that was read, and its reader.
  private struct View {
    var reader: StoreReader?
    var snapshot: DocumentSnapshot
    var isClosed = false
  }

  /// Guards the newest snapshot that this store has read. Held during a refresh.
  private let view: Mutex<View>
  /// The writer between commits. It keeps the file open without holding the lock. A writer must be used by one thread
  /// at a time; here, by the thread that holds the mutex.
  private struct IdleWriter: @unchecked Sendable {
    var writer: StoreWriter?
  }

  /// Held by the one thread of this process that writes.
  private let writing = Mutex(IdleWriter())

  private init(_ location: StoreLocation, _ options: Options) throws {
    self.location = location
    self.options = options
    let reader = try StoreReader.open(location)
    view = Mutex(View(reader: reader, snapshot: try DocumentSnapshot(reader?.snapshot)))
    observers = Observers(interval: options.pollInterval)
  }

  /// Opens a store and migrates it to a version of the application's schema. A new store is created by its first
  /// commit.
  ///
  /// - Throws: `DocumentStoreError.newerSchema`, `.migration`, `.unknownState`; `StoreError`.
  /// - Complexity: About ten system calls, for any number of documents; plus the work of the migrations.
  public static func open(
    _ location: StoreLocation, schemaVersion: Int = 0, migrations: [Migration] = [], options: Options = Options()
  ) throws -> DocumentStore {
    let store = try DocumentStore(location, options)
    try store.migrate(to: schemaVersion, migrations)
    return store
  }

  /// Opens a store without migrating it, whatever its schema version. For tools that do not know the Swift types.
  public static func inspect(_ location: StoreLocation, options: Options = Options()) throws -> DocumentStore {
    try DocumentStore(location, options)
  }

  /// The path of the store's file.
  public var path: String { location.path }

  /// Closes the store. A running change is finished, and existing snapshots and results stay readable. Later calls on
  /// the store or its collections throw ``DocumentStoreError/closed(path:)``. Sequences that observe the store end.
  ///
  /// Does not wait, and may be called from any thread and more than once.
  public func close() {
    // Release the last references outside the lock.
    let old = view.withLock { view in
      let old = view
      view.reader = nil
      view.isClosed = true
      return old
    }
    withExtendedLifetime(old) {}
    // If a writer is running, its call closes the file.
    writing.withLockIfAvailable { $0.writer = nil }
    observers.finish()
  }

  /// Checks that the store is open.
  ///
  /// - Throws: `DocumentStoreError.closed`.
  func checkOpen() throws(DocumentStoreError) {
    if view.withLock({ $0.isClosed }) { throw .closed(path: path) }
  }

  /// Returns a snapshot of all documents at the last commit of any process.
  ///
  /// - Throws: `DocumentStoreError.closed`, `.unknownState`; `StoreError`.
  /// - Complexity: One system call if there is no new commit.
  public func snapshot() throws -> DocumentSnapshot {
    try view.withLock { view in
      if view.isClosed { throw DocumentStoreError.closed(path: path) }
      if let reader = view.reader {
        // A compaction has no new content, but it creates another file.
        let shown = view.snapshot.store
        do throws(StoreError) { try reader.refresh() } catch {
          // A person has put an older file in its place, such as a backup. That file is the store now.
          guard case .replaced = error, let other = try StoreReader.open(location) else { throw error }
          view.snapshot = try DocumentSnapshot(other.snapshot, reusing: view.snapshot, isReplacement: true)
          view.reader = other
          return view.snapshot
        }
        let newest = reader.snapshot
        if newest !== shown { view.snapshot = try DocumentSnapshot(newest, reusing: view.snapshot) }
      } else if let reader = try StoreReader.open(location) {
        view = View(reader: reader, snapshot: try DocumentSnapshot(reader.snapshot))
      }
      return view.snapshot
    }
  }

  /// Changes documents in one commit. If `body` throws, nothing is changed. If it changes nothing, there is no commit.
  ///
  /// The body must change the store only through its transaction.
  ///
  /// - Returns: The result of `body`, once its changes are durable.
  /// - Throws: Any error that `body` throws; `StoreError`.
  @discardableResult
  public func transaction<Result>(_ body: (DocumentTransaction) throws -> Result) throws -> Result {
    try commit(body)
  }

  /// Like ``transaction(_:)``.
  @discardableResult
  func commit<Result>(_ body: (DocumentTransaction) throws -> Result) throws -> Result {
    try write { writer in
      let transaction = try writer.begin()
      do {
        let earlier = view.withLock { $0.snapshot }
        let changes = DocumentTransaction(transaction, try DocumentSnapshot(transaction.base, reusing: earlier))
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

  /// Runs `body` with the writer, then compacts the file if it is due, and notifies the observers.
  func write<Result>(_ body: (StoreWriter) throws -> Result) throws -> Result {
    let result = try withWriter { writer in
      let result = try body(writer)
      // The commit is durable, whether or not the compaction succeeds.
      if let snapshot = writer.snapshot, (try? options.compaction.isDue(in: snapshot)) == true {
        _ = try? writer.compact()
      }
      return result
    }
    observers.notify()
    return result
  }

  /// The size of the file in bytes; 0 if no commit has created it.
  ///
  /// - Complexity: One system call if there is no new commit.
  public func fileByteCount() throws -> Int { try snapshot().store?.statistics().fileByteCount ?? 0 }

  /// Compacts the file now: rewrites it without dead records.
  ///
  /// - Throws: `StoreError.noRoom` if the disk has too little room; nothing has changed then.
  public func compact() throws { try withWriter { writer in _ = try writer.compact() } }

  /// Runs `body` with the writer, while holding the store's lock.
  private func withWriter<Result>(_ body: (StoreWriter) throws -> Result) throws -> Result {
    try writing.withLock { idle in
      try checkOpen()
      let writer: StoreWriter
      if let idleWriter = idle.writer, try idleWriter.resume(lockTimeout: options.lockTimeout) {
        writer = idleWriter
      } else {
        idle.writer = nil
        writer = try StoreWriter(location, schema: Schema([]), lockTimeout: options.lockTimeout)
        // If the file was replaced, the snapshots of transactions have to say so.
        _ = try? snapshot()
      }
      // Each commit is durable. The header slot that marks the last commit becomes durable with the next one, because a
      // separate sync would double the time of a commit.
      defer {
        writer.rest()
        idle.writer = view.withLock { $0.isClosed } ? nil : writer
      }
      return try body(writer)
    }
  }

  /// Runs an operation and calls the trace callback.
  func traced<Result>(
    _ operation: Trace.Operation, _ collection: String, _ body: (inout Trace) throws -> Result
  ) rethrows -> Result {
    var trace = Trace(operation: operation, collection: collection)
    guard let tracer = options.trace else { return try body(&trace) }
    trace.store = path
    let clock = ContinuousClock()
    let start = clock.now
    defer {
      trace.duration = clock.now - start
      tracer(trace)
    }
    do { return try body(&trace) } catch {
      trace.error = "\(error)"
      throw error
    }
  }
}
