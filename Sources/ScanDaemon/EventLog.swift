/// Something that happened, for those who listen.
public struct DaemonEvent: Sendable, Equatable {
  public let id: EventID
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
  /// Events are gone that the listener did not get: too old, or of an earlier run.
  case gap
}

/// Where an event stands: `RUN-NUMBER`. Numbers of one run of the daemon grow by one; runs are told apart by a random part.
public struct EventID: Sendable, Hashable, LosslessStringConvertible {
  public let run: UInt64
  public let number: UInt64

  init(run: UInt64, number: UInt64) {
    self.run = run
    self.number = number
  }

  public init?(_ text: String) { fatalError("being built") }
  public var description: String { fatalError("being built") }
}

/// The last events of a daemon. Any number of threads.
///
/// Listeners read from one ring; one who is too slow finds a gap, and holds up nobody.
public final class EventLog: Sendable {
  public init(capacity: Int = 1000) { fatalError("being built") }

  @discardableResult
  public func publish(_ kind: EventKind, _ data: [UInt8]) -> EventID { fatalError("being built") }

  /// The events behind one, and those to come, until ``finish()``. Without an id only those to come. Where events behind the id are
  /// gone, or it is of another run, the first element is a gap, and then all that are kept.
  public func events(after id: EventID?) -> AsyncStream<DaemonEvent> { fatalError("being built") }

  /// Ends all streams once they have given what there is.
  public func finish() { fatalError("being built") }
}
