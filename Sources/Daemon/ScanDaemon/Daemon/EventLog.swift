import Synchronization

/// An event that a daemon publishes to its listeners.
public struct DaemonEvent: Sendable, Equatable {
  /// The event's id. A listener that reconnects passes it to receive the events after it.
  public let id: EventID
  /// The kind of event.
  public let kind: EventKind
  /// The event's data, as one line of JSON.
  public let data: [UInt8]
  /// For a scan, the time from the reading to its answer, which includes what was recorded; `nil` for a second answer
  /// to the same scan, and for all other events.
  public let latency: Duration?
}

/// The kind of an event.
public enum EventKind: String, Sendable, CaseIterable {
  /// A scan was answered. The data is the answer.
  case scan
  /// A set session changed. The data is its state.
  case session
  /// A synchronisation succeeded or failed.
  case sync
  /// A user signed in or out.
  case user
  /// An input opened, closed or refused a line.
  case input
  /// The listener missed events, which are too old or belong to an earlier run. `missed` is their number, or null if it
  /// is unknown.
  case gap
}

/// A ring buffer of a daemon's latest events. Safe to use from any number of threads.
///
/// All listeners read from one ring. A listener that is too slow receives a gap and delays no other. The ring keeps at
/// most as many events as its capacity, and of these only the last 16 MiB.
public final class EventLog: Sendable {
  /// The maximum number of bytes of kept events. The last event is kept whatever its size.
  static let maximumByteCount = 16 << 20

  fileprivate struct State {
    /// The kept events have the numbers `oldest..<next`. An event's slot is its number modulo the slot count.
    var ring: [DaemonEvent?]
    var oldest: UInt64 = 1
    var next: UInt64 = 1
    var byteCount = 0
    var isFinished = false
    /// The continuations of listeners that wait for the next event, by listener number.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var listeners: Set<Int> = []
    var nextListener = 0
  }

  private let run: UInt64
  private let state: Mutex<State>

  /// Creates an empty log, which drops its oldest event when it is full.
  ///
  /// - Parameter capacity: events that are kept at most; at least one is.
  public convenience init(capacity: Int = 1000) {
    self.init(capacity: capacity, run: UInt64.random(in: .min ... .max))
  }

  init(capacity: Int, run: UInt64) {
    self.run = run
    state = Mutex(State(ring: Array(repeating: nil, count: max(1, capacity))))
  }

  /// The number of listeners that have not ended.
  var listenerCount: Int { state.withLock { $0.listeners.count } }

  /// Adds an event and wakes waiting listeners. Does not block.
  ///
  /// - Parameters:
  ///   - kind: The kind of event.
  ///   - data: One line of JSON, without a line feed.
  ///   - latency: The time that the answer to a scan took; `nil` if it is unknown.
  /// - Complexity: O(*n*), where *n* is the number of waiting listeners.
  @discardableResult
  package func publish(_ kind: EventKind, _ data: [UInt8], latency: Duration? = nil) -> EventID {
    let (id, waiting) = state.withLock { state in
      let id = EventID(run: run, number: state.next)
      let event = DaemonEvent(id: id, kind: kind, data: data, latency: latency)
      if state.next - state.oldest == UInt64(state.ring.count) { state.dropOldest() }
      state.ring[state.place(state.next)] = event
      state.next += 1
      state.byteCount += data.count
      while state.byteCount > Self.maximumByteCount, state.next - state.oldest > 1 { state.dropOldest() }
      defer { state.waiting = [:] }
      return (id, state.waiting)
    }
    for continuation in waiting.values { continuation.resume() }
    return id
  }

  /// Returns the events after the given one, and future events, until ``finish()``. Without an id, returns only future
  /// events. If events after the id are lost, or the id is from another run, the first element is a gap, and all kept
  /// events follow.
  ///
  /// Events are read from the ring on demand: for a listener that stops reading, only its position is kept. A stream
  /// must be used by one task only.
  public func events(after id: EventID?) -> AsyncStream<DaemonEvent> {
    let listener = Listener(self, after: id)
    return AsyncStream { await listener.next() }
  }

  /// Ends all streams after they have delivered the events already published.
  public func finish() {
    let waiting = state.withLock { state in
      state.isFinished = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  // MARK: Listeners

  /// A listener and its position.
  private final class Listener: Sendable {
    private let log: EventLog
    private let number: Int
    private struct Cursor {
      /// The number of the next event to deliver.
      var next: UInt64
      /// Whether an unknown number of events is missing.
      var isOfAnotherRun = false
    }
    private let cursor: Mutex<Cursor>

    init(_ log: EventLog, after id: EventID?) {
      self.log = log
      let (number, cursor) = log.state.withLock { state in
        state.nextListener += 1
        state.listeners.insert(state.nextListener)
        guard let id else { return (state.nextListener, Cursor(next: state.next)) }
        // An id that this run has not published belongs to another run, whatever its run part is.
        let isOurs = id.run == log.run && id.number < state.next
        let cursor = isOurs ? Cursor(next: id.number + 1) : Cursor(next: state.oldest, isOfAnotherRun: true)
        return (state.nextListener, cursor)
      }
      self.number = number
      self.cursor = Mutex(cursor)
    }

    deinit { log.state.withLock { _ = $0.listeners.remove(number) } }

    func next() async -> DaemonEvent? {
      while !Task.isCancelled {
        switch take() {
        case .event(let event): return event
        case .finished: return nil
        case .nothingYet: await log.wait(number, beyond: cursor.withLock { $0.next })
        }
      }
      return nil
    }

    private enum Taken { case event(DaemonEvent), finished, nothingYet }

    private func take() -> Taken {
      // Only one task reads at a time, so nothing moves the cursor in the meantime.
      let cursor = cursor.withLock { $0 }
      let (taken, next) = log.state.withLock { state in
        if cursor.isOfAnotherRun || cursor.next < state.oldest {
          let missed = cursor.isOfAnotherRun ? nil : state.oldest - cursor.next
          return (Taken.event(log.gap(missed, before: state.oldest)), state.oldest)
        }
        if cursor.next < state.next, let event = state.ring[state.place(cursor.next)] {
          return (.event(event), cursor.next + 1)
        }
        return (state.isFinished ? .finished : .nothingYet, cursor.next)
      }
      self.cursor.withLock { $0 = Cursor(next: next) }
      return taken
    }
  }

  /// Returns an event that reports missing events. A listener that resumes after it receives all kept events.
  private func gap(_ missed: UInt64?, before oldest: UInt64) -> DaemonEvent {
    let data = #"{"missed":\#(missed.map(String.init) ?? "null")}"#
    return DaemonEvent(id: EventID(run: run, number: oldest - 1), kind: .gap, data: Array(data.utf8), latency: nil)
  }

  /// Waits until an event with this number exists, the log is finished, or the task is cancelled.
  private func wait(_ listener: Int, beyond number: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let continues = state.withLock { state in
          // A cancellation that came earlier found no continuation to resume; one that comes now waits for the lock.
          if state.next > number || state.isFinished || Task.isCancelled { return true }
          state.waiting[listener] = continuation
          return false
        }
        if continues { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: listener) }?.resume()
    }
  }
}

extension EventLog.State {
  fileprivate func place(_ number: UInt64) -> Int { Int(number % UInt64(ring.count)) }

  /// - Precondition: At least one event is kept.
  fileprivate mutating func dropOldest() {
    let place = place(oldest)
    byteCount -= ring[place]?.data.count ?? 0
    ring[place] = nil
    oldest += 1
  }
}
