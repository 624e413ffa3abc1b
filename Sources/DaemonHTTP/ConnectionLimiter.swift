import NIOCore
import Synchronization

/// Limits how many connections a server has: all together, and those of one address.
///
/// At a limit a new connection replaces the one that has waited longest for its peer: an idle one, or one whose request is slow to
/// arrive. If no connection can be closed, because all are being answered or are new, it goes to a small reserve, in which only
/// `/healthz` and `/readyz` are answered; a new connection there replaces the one that has waited longest, however short that is,
/// and the replaced one is read for a moment more (``RequestGuard/replacedHeadTimeout``). So there is always one more connection that
/// can ask how the daemon is.
final class ConnectionLimiter: Sendable {
  /// How a server's connections are divided.
  struct Limits: Sendable, Equatable {
    /// Connections that may ask for anything.
    let ordinary: Int
    /// Connections beyond these, for `/healthz` and `/readyz` alone.
    let reserve: Int
    /// Ordinary connections of one address.
    let perAddress: Int

    /// A sixteenth of all is the reserve, and as much is left for connections that are about to end.
    ///
    /// - Parameters:
    ///   - maximum: The number of all connections. Below 4 there is no reserve.
    ///   - perAddress: The number for one address; `nil` for three quarters of `maximum`.
    init(maximum: Int, perAddress: Int?) {
      let reserve = maximum < 4 ? 0 : max(1, maximum / 16)
      self.reserve = reserve
      ordinary = max(1, maximum - 2 * reserve)
      self.perAddress = max(1, min(ordinary, perAddress ?? maximum * 3 / 4))
    }
  }

  /// One connection, as the limiter sees it.
  final class Connection: Sendable {
    /// What a connection may ask for.
    enum Admission: Sendable {
      case anything
      /// `/healthz` and `/readyz`.
      case health
      /// Nothing: the reserve is full of requests that are being answered.
      case nothing
    }

    let admission: Admission
    let caller: String?
    /// From when on it may be closed for another one, in nanoseconds of the system's uptime; `.max` while it is being answered.
    /// The limiter needs no more than a recent value, and no other memory depends on it.
    private let closableFrom: Atomic<UInt64>
    fileprivate let end: @Sendable () -> Void

    fileprivate init(_ admission: Admission, _ caller: String?, now: NIODeadline, end: @escaping @Sendable () -> Void) {
      self.admission = admission
      self.caller = caller
      closableFrom = Atomic((now + ConnectionLimiter.headGrace).uptimeNanoseconds)
      self.end = end
    }

    fileprivate var deadline: UInt64 { closableFrom.load(ordering: .relaxed) }

    /// It waits for a request.
    func waits(now: NIODeadline = .now()) {
      closableFrom.store((now + ConnectionLimiter.headGrace).uptimeNanoseconds, ordering: .relaxed)
    }

    /// It waits for the rest of a request's body.
    func receives(now: NIODeadline = .now()) {
      closableFrom.store((now + ConnectionLimiter.bodyGrace).uptimeNanoseconds, ordering: .relaxed)
    }

    /// A whole request is there.
    func answers() { closableFrom.store(.max, ordering: .relaxed) }
  }

  /// For how long a connection without a request is not closed for another one.
  static let headGrace: TimeAmount = .seconds(1)
  /// For how long a connection with a part of a request is not closed for another one.
  static let bodyGrace: TimeAmount = .seconds(10)

  let limits: Limits
  private let state = Mutex(State())
  /// Told of each connection that was closed or refused because of a limit.
  private let onRefusal: @Sendable () -> Void

  private struct State {
    var ordinary: [ObjectIdentifier: Connection] = [:]
    var reserve: [ObjectIdentifier: Connection] = [:]
    /// Ordinary connections by address.
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

  init(_ limits: Limits, onRefusal: @escaping @Sendable () -> Void = {}) {
    self.limits = limits
    self.onRefusal = onRefusal
  }

  /// Connections now, those of the reserve included.
  var count: Int { state.withLock { $0.ordinary.count + $0.reserve.count } }

  /// Takes a new connection, which may end another one. O(number of connections) at a limit, O(1) below.
  ///
  /// - Parameters:
  ///   - caller: The peer's address; `nil` for peers that are not told apart, to which the limit of an address does not apply.
  ///   - end: Ends the connection. Called at most once, without a lock held, from any thread.
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

  /// Forgets a connection that has ended, or that has been refused. Once it is forgotten, this does nothing.
  func release(_ connection: Connection) { state.withLock { $0.remove(connection) } }
}
