import NIOCore
import Synchronization

/// A limit on the number of a server's connections, in total and per address.
///
/// At a limit, a new connection replaces the one that has waited longest for its peer: an idle one, or one whose
/// request arrives slowly. If no connection can be closed, because all are being answered or are new, the new one goes
/// to a small reserve, in which only ``Protection/healthPaths`` are answered. A new connection in a full reserve replaces
/// the one that has waited longest, however short that is; the replaced one is read for a moment more
/// (``RequestGuard/replacedHeadTimeout``). So another connection can always query the server's health.
package final class ConnectionLimiter: Sendable {
  /// How a server's connections are divided.
  package struct Limits: Sendable, Equatable {
    /// The number of connections that may request anything.
    package let ordinary: Int
    /// The number of further connections, which may only request ``Protection/healthPaths``.
    package let reserve: Int
    /// The number of ordinary connections per address.
    package let perAddress: Int

    /// Divides a number of connections. One sixteenth is the reserve, and another sixteenth is left for connections
    /// that are about to end.
    ///
    /// - Parameters:
    ///   - maximum: The number of all connections. Below 4 there is no reserve.
    ///   - perAddress: The number for one address; `nil` for three quarters of `maximum`.
    package init(maximum: Int, perAddress: Int?) {
      let reserve = maximum < 4 ? 0 : max(1, maximum / 16)
      self.reserve = reserve
      ordinary = max(1, maximum - 2 * reserve)
      self.perAddress = max(1, min(ordinary, perAddress ?? maximum * 3 / 4))
    }
  }

  /// The limiter's state of one connection.
  final class Connection: Sendable {
    /// The requests that a connection may make.
    enum Admission: Sendable {
      case anything
      /// Only ``Protection/healthPaths``.
      case health
      /// No request: the reserve is full of requests that are being answered.
      case nothing
    }

    let admission: Admission
    let caller: String?
    /// The time from which the connection may be closed for another one, in nanoseconds of the system's uptime; `.max`
    /// while it is being answered. Relaxed, because the limiter needs only a recent value, and no other memory depends
    /// on it.
    private let closableFrom: Atomic<UInt64>
    fileprivate let end: @Sendable () -> Void

    fileprivate init(_ admission: Admission, _ caller: String?, now: NIODeadline, end: @escaping @Sendable () -> Void) {
      self.admission = admission
      self.caller = caller
      closableFrom = Atomic((now + ConnectionLimiter.headGrace).uptimeNanoseconds)
      self.end = end
    }

    fileprivate var deadline: UInt64 { closableFrom.load(ordering: .relaxed) }

    /// The connection waits for a request.
    func waits(now: NIODeadline = .now()) {
      closableFrom.store((now + ConnectionLimiter.headGrace).uptimeNanoseconds, ordering: .relaxed)
    }

    /// The connection waits for the rest of a request's body.
    func receives(now: NIODeadline = .now()) {
      closableFrom.store((now + ConnectionLimiter.bodyGrace).uptimeNanoseconds, ordering: .relaxed)
    }

    /// A complete request has arrived.
    func answers() { closableFrom.store(.max, ordering: .relaxed) }
  }

  /// How long a connection without a request is protected from being closed for another one.
  static let headGrace: TimeAmount = .seconds(1)
  /// How long a connection with an incomplete request is protected from being closed for another one.
  static let bodyGrace: TimeAmount = .seconds(10)

  package let limits: Limits
  private let state = Mutex(State())
  /// Called for each connection that was closed or refused because of a limit.
  private let onRefusal: @Sendable () -> Void

  private struct State {
    var ordinary: [ObjectIdentifier: Connection] = [:]
    var reserve: [ObjectIdentifier: Connection] = [:]
    /// The number of ordinary connections of each address.
    var counts: [String: Int] = [:]

    mutating func remove(_ connection: Connection) {
      if ordinary.removeValue(forKey: ObjectIdentifier(connection)) != nil {
        guard let caller = connection.caller, let count = counts[caller] else { return }
        counts[caller] = count > 1 ? count - 1 : nil
      } else {
        reserve.removeValue(forKey: ObjectIdentifier(connection))
      }
    }

    mutating func add(_ connection: Connection) {
      if connection.admission == .health { return reserve[ObjectIdentifier(connection)] = connection }
      ordinary[ObjectIdentifier(connection)] = connection
      if let caller = connection.caller { counts[caller, default: 0] += 1 }
    }
  }

  package init(_ limits: Limits, onRefusal: @escaping @Sendable () -> Void = {}) {
    self.limits = limits
    self.onRefusal = onRefusal
  }

  /// The current number of connections, including the reserve.
  var count: Int { state.withLock { $0.ordinary.count + $0.reserve.count } }

  /// Admits a new connection, which may close another one. O(*n*) in the number of connections at a limit, O(1) below.
  ///
  /// - Parameters:
  ///   - caller: The peer's address; `nil` for peers without an address, which the limit per address does not apply to.
  ///   - end: Ends the connection. Called at most once, from any thread, without a lock held.
  func admit(
    _ caller: String?, now: NIODeadline = .now(), end: @escaping @Sendable () -> Void
  ) -> Connection {
    let (connection, ended) = state.withLock { state -> (Connection, Connection?) in
      var ended: Connection?
      let isAddressFull = caller.map { state.counts[$0, default: 0] >= limits.perAddress } ?? false
      if isAddressFull || state.ordinary.count >= limits.ordinary {
        ended = state.ordinary.values.filter {
          $0.deadline <= now.uptimeNanoseconds && (!isAddressFull || $0.caller == caller)
        }.min { $0.deadline < $1.deadline }
        if ended == nil {
          if limits.reserve > 0, state.reserve.count >= limits.reserve {
            ended = state.reserve.values.filter { $0.deadline < .max }.min { $0.deadline < $1.deadline }
          }
          if limits.reserve == 0 || (ended == nil && state.reserve.count >= limits.reserve) {
            return (Connection(.nothing, caller, now: now, end: end), nil)
          }
        }
      }
      let isFull = isAddressFull || state.ordinary.count >= limits.ordinary
      let isReserved = ended.map { $0.admission == .health } ?? isFull
      if let ended { state.remove(ended) }
      let connection = Connection(isReserved ? .health : .anything, caller, now: now, end: end)
      state.add(connection)
      return (connection, ended)
    }
    if ended != nil || connection.admission != .anything { onRefusal() }
    ended?.end()
    return connection
  }

  /// Removes a connection that has ended or was refused. Does nothing if it was already removed.
  func release(_ connection: Connection) { state.withLock { $0.remove(connection) } }
}
