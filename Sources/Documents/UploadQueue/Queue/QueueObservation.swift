import Documents

/// An asynchronous sequence of a value read from a queue: its current value, then a new value after each commit, of any
/// process, that changes it.
public struct QueueObservation<Element: Equatable & Sendable>: AsyncSequence, Sendable {
  private let queue: UploadQueue
  private let read: @Sendable (DocumentSnapshot) throws -> Element

  init(_ queue: UploadQueue, _ read: @escaping @Sendable (DocumentSnapshot) throws -> Element) {
    self.queue = queue
    self.read = read
  }

  /// Begins an iteration whose first element is the current value.
  public func makeAsyncIterator() -> Iterator { Iterator(queue.store, read) }

  /// An iterator that waits for the next commit that changes the value.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: DocumentStore
    private let read: @Sendable (DocumentSnapshot) throws -> Element
    private var signals: AsyncStream<Void>.Iterator
    private var last: Element?

    init(_ store: DocumentStore, _ read: @escaping @Sendable (DocumentSnapshot) throws -> Element) {
      self.store = store
      self.read = read
      signals = store.signals().makeAsyncIterator()
    }

    /// The next value; `nil` when the task is cancelled or the store is closed.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
    public mutating func next() async throws -> Element? {
      while await signals.next() != nil {
        let now = try read(store.snapshot())
        if now == last { continue }
        last = now
        return now
      }
      return nil
    }
  }
}

extension UploadQueue {
  /// The counts of the queue, now and after each change. Changes between two calls of `next()` are merged.
  package var observedCounts: QueueObservation<QueueCounts> {
    QueueObservation(self) { [tables] in try tables.state(in: $0).counts }
  }

  /// The reasons why the queue is paused, now and after each change.
  package var observedPauses: QueueObservation<Set<PauseReason>> {
    QueueObservation(self) { [tables] in try tables.state(in: $0).pauses }
  }

  /// The state of an upload, now and after each change; `nil` once it has left the queue.
  package func observedState(of id: UploadID) -> QueueObservation<UploadState?> {
    QueueObservation(self) { [tables] snapshot in
      _ = try tables.state(in: snapshot)
      guard let stored = try tables.uploads.get(id, in: snapshot) else { return nil }
      return try tables.schedule.get(stored.ordinal, in: snapshot)?.state
    }
  }
}
