import Bytes
import DocumentFormat
public import Documents
public import Essentials

/// A durable outbound queue, stored in a document store, of uploads that wait until a server has accepted them.
///
///     let queue = try UploadQueue(in: documents)
///     try await queue.enqueue(scan, kind: "scan", orderKey: scan.input)
///     let worker = UploadWorker(queue) { upload in try await send(upload) }
///     try await worker.run()
///
/// The queue consists of a few collections of the store, whose names are reserved. It has no log of its own, so one
/// `DocumentTransaction` can contain a document and its upload: after a crash either both are stored or neither. Both
/// cost one sync instead of two.
///
/// Any number of threads and processes may use a queue, and several may run workers.
/// `Documentation/Format/UploadQueue.md` describes the guarantees at each step.
public final class UploadQueue: Sendable {
  let tables: QueueTables
  let options: QueueOptions
  let environment: QueueEnvironment
  let group: GroupCommit

  /// The name of a queue if the caller gives none.
  public static let defaultName = "uploads"

  /// Opens the queue with this name. A new queue is created by its first upload.
  ///
  /// - Parameters:
  ///   - store: The store that contains the queue. Queues with different names are independent.
  ///   - name: The queue's name: 1 to 100 bytes, without a slash or a character below U+0020.
  ///   - options: The limits and the trace callback. They apply to this instance only and are not stored.
  ///   - isReadOnly: Whether opening the queue writes nothing. For tools that only inspect it.
  /// - Throws: `UploadQueueError.name`; any error of a commit.
  public convenience init(
    in store: DocumentStore, name: String = UploadQueue.defaultName, options: QueueOptions = QueueOptions(),
    isReadOnly: Bool = false
  ) throws {
    try self.init(in: store, name: name, options: options, environment: .live, isReadOnly: isReadOnly)
  }

  /// Opens the queue with this name, with a clock and a random number generator from the caller.
  public init(
    in store: DocumentStore, name: String = UploadQueue.defaultName, options: QueueOptions = QueueOptions(),
    environment: QueueEnvironment, isReadOnly: Bool = false
  ) throws {
    tables = try QueueTables(store, name: name, declares: !isReadOnly)
    self.options = options
    self.environment = environment
    group = GroupCommit(tables, options, environment)
  }

  /// The queue's name within the store.
  public var name: String { tables.name }
  /// The store that contains the queue.
  public var store: DocumentStore { tables.store }

  /// The names of the queues in a store, in bytewise order.
  public static func names(in store: DocumentStore) throws -> [String] { QueueTables.names(in: try store.snapshot()) }

  // MARK: Enqueuing

  /// Adds an upload at the end of the queue, and returns when it is durable.
  ///
  /// Calls that arrive while a commit runs share the next commit.
  ///
  /// - Parameters:
  ///   - payload: The value to send, stored as a document.
  ///   - files: Files to send in the same request. They are not copied.
  ///   - kind: The application's name for this kind of upload: 1 to 200 bytes.
  ///   - orderKey: A key that groups uploads. Uploads with the same key are sent one after another, in the order of
  ///     enqueuing.
  ///   - replaceKey: A key that identifies the upload's subject. An earlier upload with the same key is removed in the
  ///     same commit, unless it is being sent.
  ///   - priority: The priority among uploads that are ready to be sent. Within an order key, the order decides.
  ///   - notBefore: The earliest time at which it is sent. Later uploads under its order key wait for it too.
  ///   - timeToLive: The time from now until it expires. An expired upload is dropped, and counted.
  /// - Returns: The upload's ID, unique across all processes.
  /// - Throws: `UploadQueueError.full`, `.payloadTooLarge`, `.text`; any encoding error; any error of a commit. After
  ///   `StoreError.io` it is unknown whether the upload is in the queue.
  @discardableResult
  public func enqueue(
    _ payload: some Encodable, files: [UploadFile] = [], kind: String, orderKey: String? = nil,
    replaceKey: String? = nil, priority: UploadPriority = .normal, notBefore: Date? = nil, timeToLive: Duration? = nil
  ) async throws -> UploadID {
    try await enqueue(
      payload: Self.payload(payload, files), kind: kind, orderKey: orderKey, replaceKey: replaceKey, priority: priority,
      notBefore: notBefore, timeToLive: timeToLive)
  }

  /// Adds a file, JSON text, or a value that is already a document, like
  /// ``enqueue(_:files:kind:orderKey:replaceKey:priority:notBefore:timeToLive:)``.
  @discardableResult
  public func enqueue(
    payload: UploadPayload, kind: String, orderKey: String? = nil, replaceKey: String? = nil,
    priority: UploadPriority = .normal, notBefore: Date? = nil, timeToLive: Duration? = nil
  ) async throws -> UploadID {
    let request = try UploadRequest(
      payload, kind: kind, orderKey: orderKey, replaceKey: replaceKey, priority: priority,
      notBefore: notBefore?.microseconds, timeToLive: timeToLive?.microseconds, options)
    return try await group.perform(byteCount: request.byteCount) { try $0.enqueue(request) }
  }

  /// Adds an upload as a part of a transaction of the queue's store. It is in the queue once the transaction commits.
  ///
  /// Does not block. Observers see the commit, but ``QueueOptions/trace`` is not called, because the transaction
  /// may still fail. A refusal is not counted: the caller decides whether to end the transaction.
  ///
  /// The other parameters are the same as for
  /// ``enqueue(_:files:kind:orderKey:replaceKey:priority:notBefore:timeToLive:)``.
  ///
  /// - Precondition: `transaction` belongs to the queue's own store.
  /// - Throws: `UploadQueueError.full`, `.payloadTooLarge`, `.text`, `.format`; any encoding error. The transaction is
  ///   then unchanged and can continue.
  @discardableResult
  public func enqueue(
    _ payload: some Encodable, files: [UploadFile] = [], kind: String, orderKey: String? = nil,
    replaceKey: String? = nil, priority: UploadPriority = .normal, notBefore: Date? = nil, timeToLive: Duration? = nil,
    in transaction: DocumentTransaction
  ) throws -> UploadID {
    try enqueue(
      payload: Self.payload(payload, files), kind: kind, orderKey: orderKey, replaceKey: replaceKey, priority: priority,
      notBefore: notBefore, timeToLive: timeToLive, in: transaction)
  }

  /// Adds a file, JSON text, or a value that is already a document, as a part of a transaction, like
  /// ``enqueue(_:files:kind:orderKey:replaceKey:priority:notBefore:timeToLive:in:)``.
  @discardableResult
  public func enqueue(
    payload: UploadPayload, kind: String, orderKey: String? = nil, replaceKey: String? = nil,
    priority: UploadPriority = .normal, notBefore: Date? = nil, timeToLive: Duration? = nil,
    in transaction: DocumentTransaction
  ) throws -> UploadID {
    let request = try UploadRequest(
      payload, kind: kind, orderKey: orderKey, replaceKey: replaceKey, priority: priority,
      notBefore: notBefore?.microseconds, timeToLive: timeToLive?.microseconds, options)
    // A group commit of this queue writes the state once, for all calls that share it.
    if let change = transaction.attachment as? QueueChange, change.tables.isSame(as: tables) {
      return try change.enqueue(request)
    }
    let change = try QueueChange(tables, transaction, options, environment)
    let id = try change.enqueue(request)
    try change.finish()
    return id
  }

  /// Changes any documents of the store in one commit, and returns when it is durable. Uploads that `body` enqueues
  /// with ``enqueue(_:files:kind:orderKey:replaceKey:priority:notBefore:timeToLive:in:)`` are a part of it.
  ///
  /// Calls that arrive while a commit runs share the next commit with calls of the other methods and with workers. In
  /// contrast, each `DocumentStore.transaction(_:)` makes its own sync and blocks a thread.
  ///
  /// - Parameter body: The changes to make. It runs on a thread of the queue, and may run more than once, each time in
  ///   another transaction. If it throws, its changes are rolled back; other calls that share the commit are not
  ///   affected.
  /// - Returns: The result of `body`.
  /// - Throws: Any error that `body` throws; any error of the commit. After `StoreError.io` it is unknown whether the
  ///   changes are durable.
  public func commit<Result: Sendable>(
    _ body: @escaping @Sendable (DocumentTransaction) throws -> Result
  ) async throws -> Result {
    try await group.commit([body])[0].get()
  }

  /// Runs several bodies in this order, each like `commit(_:)` with one body.
  ///
  /// - Returns: The result of each body, once all are durable or have failed.
  public func commit<Value: Sendable>(
    _ bodies: [@Sendable (DocumentTransaction) throws -> Value]
  ) async -> [Result<Value, any Error>] {
    await group.commit(bodies)
  }

  private static func payload(_ payload: some Encodable, _ files: [UploadFile]) throws -> UploadPayload {
    let value: DocumentValue
    if let payload = payload as? DocumentValue {
      value = payload
    } else {
      let bytes = try DocumentEncoder().encode(payload)
      value = try DocumentValue(documentBytes: bytes.rawSpan)
    }
    return files.isEmpty ? .value(value) : .document(value, files: files)
  }
}
