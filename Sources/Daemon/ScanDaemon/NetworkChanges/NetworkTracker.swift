/// A filter that decides which kernel messages mean that the network came back or went away.
///
/// *It came back* when something through which a server may be reached is newly there:
///
/// - An interface other than loopback is up and has a carrier (the system calls it running), and was not known to be
///   running before.
/// - An address that is valid beyond its link was added by a DHCP server, a router or a person. An IPv6 address counts
///   once duplicate address detection has succeeded. Renewing an address does not count.
/// - A route to a destination was added or replaced, whether to the subnet, by default or through a tunnel.
/// - Messages were lost: any of these may have been among them.
///
/// These do not count: loopback, addresses valid only within the machine or the link, routes to the machine itself,
/// multicast and broadcast, routes that reject packets, cached routes, the ports of a bridge, and other messages about
/// a running interface, for example that it scans for wireless networks.
///
/// *It went away* when a running interface stopped running, or one of the addresses or routes above was removed.
///
/// The tracker does not query the kernel at the start. The first message about an existing interface or address
/// therefore counts once, although it may only be a renewal; this costs one attempt, which was pending anyway. Only an
/// attempt shows whether a server is reachable.
struct NetworkTracker: Sendable {
  /// The maximum numbers of known interfaces and addresses, more than a machine next to a scanner has. Beyond them, all
  /// are forgotten and count again.
  static let maximumInterfaces = 1024
  static let maximumAddresses = 4096
  /// The index that the kernel gives loopback in each network namespace (LOOPBACK_IFINDEX).
  private static let loopback: UInt32 = 1

  /// Kernel flags: IFF_UP, IFF_LOOPBACK and IFF_RUNNING of an interface, IFA_F_DADFAILED and IFA_F_TENTATIVE of an
  /// address, RTM_F_CLONED of a route.
  private enum Flag {
    static let isUp: UInt32 = 0x1
    static let isLoopback: UInt32 = 0x8
    static let isRunning: UInt32 = 0x40
    static let isUnusable: UInt8 = 0x08 | 0x40
    static let isCached: UInt32 = 0x200
  }

  /// RT_SCOPE_LINK. Wider scopes have smaller numbers.
  private static let linkScope: UInt8 = 253
  /// RTN_UNICAST.
  private static let routeToSomewhere: UInt8 = 1
  /// RT_TABLE_LOCAL.
  private static let localTable: UInt32 = 255

  /// The running interfaces and the addresses that messages have reported.
  private(set) var interfaces: Set<UInt32> = []
  private(set) var addresses: Set<NetworkAddress> = []

  /// Processes the messages of a datagram.
  mutating func process(_ messages: [RouteMessage], isDamaged: Bool) -> NetworkChange {
    var change: NetworkChange = []
    for message in messages { change.formUnion(process(message)) }
    return isDamaged ? change.union(lose()) : change
  }

  /// Handles the loss of messages.
  mutating func lose() -> NetworkChange {
    interfaces = []
    addresses = []
    return .cameBack
  }

  private mutating func process(_ message: RouteMessage) -> NetworkChange {
    switch message {
    case .link(let index, let flags, let isGone):
      guard flags & Flag.isLoopback == 0, index != Self.loopback else { return [] }
      let runs = !isGone && flags & Flag.isUp != 0 && flags & Flag.isRunning != 0
      if !runs { return interfaces.remove(index) == nil ? [] : .wentAway }
      if interfaces.count >= Self.maximumInterfaces { interfaces = [] }
      return interfaces.insert(index).inserted ? .cameBack : []
    case .address(let address, let scope, let flags, let isGone):
      guard scope < Self.linkScope, address.interface != Self.loopback else { return [] }
      if isGone {
        addresses.remove(address)
        return .wentAway
      }
      if flags & Flag.isUnusable != 0 { return [] }
      if addresses.count >= Self.maximumAddresses { addresses = [] }
      return addresses.insert(address).inserted ? .cameBack : []
    case .route(let type, let table, let interface, let flags, let isGone):
      guard type == Self.routeToSomewhere, table != Self.localTable, interface != Self.loopback,
        flags & Flag.isCached == 0
      else { return [] }
      return isGone ? .wentAway : .cameBack
    }
  }
}
