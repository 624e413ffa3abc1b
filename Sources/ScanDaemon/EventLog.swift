import Synchronization

/// Something that happened, for those who listen.
public struct DaemonEvent: Sendable, Equatable {
  /// What a listener gives to come back behind it.
  public let id: EventID
  /// What happened.
  public let kind: EventKind
  /// One line of JSON.
  public let data: [UInt8]
}

/// What kind of event.
public enum EventKind: String, Sendable, CaseIterable {
  /// A scan was answered: the answer.
  case scan
  /// A set session changed: its state.
  case session
  /// A synchronisation ended, well or not.
  case sync
  /// Somebody signed in or out.
  case user
  /// An input opened, closed or refused a line.
  case input
  /// Events are gone that the listener did not get: too old, or of an earlier run. `missed` says how many, or null where nobody
  /// knows.
  case gap
}

/// The last events of a daemon. Any number of threads.
///
/// Listeners read from one ring; one who is too slow finds a gap, and holds up nobody. The ring keeps at most as many events as it
/// was made for, and of these the last 16 MiB.
public final class EventLog: Sendable {
  /// The most bytes of kept events; the last event is kept whatever its size.
  static let maximumByteCount = 16 << 20

  fileprivate struct State {
    /// The kept events are those with the numbers `oldest..<next`; one stands at its number modulo the count of places.
    var ring: [DaemonEvent?]
    var oldest: UInt64 = 1
    var next: UInt64 = 1
    var byteCount = 0
    var isFinished = false
    /// Who waits for the next event, by the listener's number.
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

  /// Listeners that have not ended.
  var listenerCount: Int { state.withLock { $0.listeners.count } }

  /// Adds an event, and wakes who waits. Waits for nobody.
  ///
  /// - Parameters:
  ///   - kind: what happened.
  ///   - data: one line of JSON, without a line feed.
  /// - Complexity: O(listeners that wait).
  @discardableResult
  public func publish(_ kind: EventKind, _ data: [UInt8]) -> EventID {
    let (id, waiting) = state.withLock { state in
      let id = EventID(run: run, number: state.next)
      let event = DaemonEvent(id: id, kind: kind, data: data)
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

  /// The events behind one, and those to come, until ``finish()``. Without an id only those to come. Where events behind the id are
  /// gone, or it is of another run, the first element is a gap, and then all that are kept.
  ///
  /// Events are taken from the ring when they are asked for: a listener that stops asking keeps nothing but its place. The stream
  /// is for one task.
  public func events(after id: EventID?) -> AsyncStream<DaemonEvent> {
    let listener = Listener(self, after: id)
    return AsyncStream { await listener.next() }
  }

  /// Ends all streams once they have given what there is.
  public func finish() {
    let waiting = state.withLock { state in
      state.isFinished = true
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume() }
  }

  // MARK: Listeners

  /// One who reads, and where.
  private final class Listener: Sendable {
    private let log: EventLog
    private let number: Int
    private struct Cursor {
      /// The number of the event that comes next.
      var next: UInt64
      /// Whether events are missing, and nobody knows how many.
      var isOfAnotherRun = false
    }
    private let cursor: Mutex<Cursor>

    init(_ log: EventLog, after id: EventID?) {
      self.log = log
      let (number, cursor) = log.state.withLock { state in
        state.nextListener += 1
        state.listeners.insert(state.nextListener)
        guard let id else { return (state.nextListener, Cursor(next: state.next)) }
        // What this run never published was published by another one, whatever its id says.
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
      // One task asks at a time, so nobody moves the cursor meanwhile.
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

  /// Says that events are missing. Who comes back for what is behind it gets what is kept.
  private func gap(_ missed: UInt64?, before oldest: UInt64) -> DaemonEvent {
    let data = #"{"missed":\#(missed.map(String.init) ?? "null")}"#
    return DaemonEvent(id: EventID(run: run, number: oldest - 1), kind: .gap, data: Array(data.utf8))
  }

  /// Returns when there is an event with this number, nothing more comes, or the task is cancelled.
  private func wait(_ listener: Int, beyond number: UInt64) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          // A cancellation that came before found nobody to wake; one that comes now waits for the lock.
          if state.next > number || state.isFinished || Task.isCancelled { return true }
          state.waiting[listener] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: listener) }?.resume()
    }
  }
}

extension EventLog.State {
  fileprivate func place(_ number: UInt64) -> Int { Int(number % UInt64(ring.count)) }

  /// - Precondition: an event is kept.
  fileprivate mutating func dropOldest() {
    let place = place(oldest)
    byteCount -= ring[place]?.data.count ?? 0
    ring[place] = nil
    oldest += 1
  }
}
