import Bytes
import DocumentFormat
public import Documents

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Uploads that wait in a store of documents until a server has them.
///
///     let queue = try UploadQueue(in: documents)
///     try await queue.enqueue(scan, kind: "scan", orderKey: scan.input)
///     let worker = UploadWorker(queue) { upload in try await send(upload) }
///     try await worker.run()
///
/// The queue is some collections of the store, whose names are reserved. It is no log of its own, so that one
/// `DocumentTransaction` holds a document and its upload: both are there after a crash, or neither. It costs a sync for both in
/// place of two.
///
/// Any number of threads and processes may use one queue, and several may have workers.
/// `Documentation/Format/UploadQueue.md` says what is promised at which moment.
public final class UploadQueue: Sendable {
  let tables: QueueTables
  let options: QueueOptions
  let environment: QueueEnvironment
  let group: GroupCommit

  /// The name of a queue that is not given one.
  public static let defaultName = "uploads"

  /// The queue of this name, which comes into being with its first upload.
  ///
  /// - Parameters:
  ///   - store: where it is kept. Queues with different names do not know of each other.
  ///   - name: 1 to 100 bytes, without a slash or a character below U+0020.
  ///   - options: what it holds at most, and who is told; for this value of the queue only, nothing of it is stored.
  ///   - isReadOnly: whether nothing may be written only to open it: for tools that look.
  /// - Throws: `UploadQueueError.name`; what a commit throws.
  public convenience init(
    in store: DocumentStore, name: String = UploadQueue.defaultName, options: QueueOptions = QueueOptions(),
    isReadOnly: Bool = false
  ) throws {
    try self.init(in: store, name: name, options: options, environment: .live, isReadOnly: isReadOnly)
  }

  /// As above, with a clock and chance of the caller's.
  public init(
    in store: DocumentStore, name: String = UploadQueue.defaultName, options: QueueOptions = QueueOptions(),
    environment: QueueEnvironment, isReadOnly: Bool = false
  ) throws {
    tables = try QueueTables(store, name: name, declares: !isReadOnly)
    self.options = options
    self.environment = environment
    group = GroupCommit(tables, options, environment)
  }

  /// Its name within the store.
  public var name: String { tables.name }
  /// Where it is kept.
  public var store: DocumentStore { tables.store }

  /// The names of the queues that a store has, bytewise.
  public static func names(in store: DocumentStore) throws -> [String] { QueueTables.names(in: try store.snapshot()) }

  // MARK: Enqueuing

  /// Adds an upload at the end, and returns when it is durable.
  ///
  /// Callers that come while a commit runs share the next one.
  ///
  /// - Parameters:
  ///   - payload: what is sent; kept as a document.
  ///   - files: files that go with it in one request; they stay where they are.
  ///   - kind: what it is: 1 to 200 bytes.
  ///   - orderKey: uploads with the same one go one after another, in this order.
  ///   - replaceKey: an earlier upload with the same one goes away in the same commit, unless it is being sent.
  ///   - priority: which goes first, among those that may go. Within an order key the order decides.
  ///   - notBefore: it does not go before, nor does what comes behind it under its order key.
  ///   - timeToLive: how long from now it is worth sending; what waits then is dropped, and counted.
  /// - Returns: its id, unique in all processes.
  /// - Throws: `UploadQueueError.full`, `.payloadTooLarge`, `.text`; what the encoding throws; what a commit throws. After
  ///   `StoreError.io` nobody knows whether it is in the queue.
  @discardableResult
  public func enqueue(
    _ payload: some Encodable, files: [UploadFile] = [], kind: String, orderKey: String? = nil,
    replaceKey: String? = nil, priority: UploadPriority = .normal, notBefore: Date? = nil, timeToLive: Duration? = nil
  ) async throws -> UploadID {
    try await enqueue(
      payload: Self.payload(payload, files), kind: kind, orderKey: orderKey, replaceKey: replaceKey, priority: priority,
      notBefore: notBefore, timeToLive: timeToLive)
  }

  /// Adds a file, JSON text, or a value that is a document already; as
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

  /// Adds an upload as a part of a transaction of the queue's store: it is there when the transaction is a commit.
  ///
  /// Blocks for nothing. Observers see the commit, but ``QueueOptions/trace`` is not told of it, as a transaction that fails
  /// never was. A refusal is not counted: it is the transaction's own to end.
  ///
  /// The other parameters are those of ``enqueue(_:files:kind:orderKey:replaceKey:priority:notBefore:timeToLive:)``.
  ///
  /// - Precondition: `transaction` is of the queue's own store.
  /// - Throws: `UploadQueueError.full`, `.payloadTooLarge`, `.text`, `.format`; what the encoding throws. The transaction is as it was
  ///   then, and may be gone on with.
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

  /// Adds a file, JSON text, or a value that is a document already, as a part of a transaction; as
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
    // In a commit of this queue the numbers are handed over once, for all who share it.
    if let change = transaction.attachment as? QueueChange, change.tables.isSame(as: tables) {
      return try change.enqueue(request)
    }
    let change = try QueueChange(tables, transaction, options, environment)
    let id = try change.enqueue(request)
    try change.finish()
    return id
  }

  /// Changes any documents of the store in one commit, and returns when it is durable. Uploads that `body` enqueues with
  /// ``enqueue(_:files:kind:orderKey:replaceKey:priority:notBefore:timeToLive:in:)`` are a part of it.
  ///
  /// Callers that come while a commit runs share the next one, with those of the other methods and with workers: in place of a
  /// `DocumentStore.transaction(_:)` of each of them, which syncs once each and blocks a thread.
  ///
  /// - Parameter body: Runs on a thread of the queue. It may run more than once, each time in another transaction. What it changed
  ///   before it throws is taken back, and others that share the commit do not notice.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; what the commit throws. After `StoreError.io` nobody knows whether it is durable.
  public func commit<Result: Sendable>(
    _ body: @escaping @Sendable (DocumentTransaction) throws -> Result
  ) async throws -> Result {
    try await group.commit([body])[0].get()
  }

  /// The same for several bodies, which run in this order.
  ///
  /// - Returns: What became of each, when all are durable or have failed.
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
