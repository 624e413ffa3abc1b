/// From messages to changes: what of all that the kernel says means that the network came back, or went away.
///
/// *It came back* when something is there that was not there before, through which a server may be reached:
///
/// - an interface other than loopback is up and has a carrier (the system calls it running) and was not, as far as is known;
/// - an address that is valid beyond its link was added: what a DHCP server, a router or a person gave. An IPv6 address counts
///   once it was found to be nobody else's. Only renewed, it is no news;
/// - a route to somewhere was added or replaced, of any kind: to the subnet, by default, through a tunnel;
/// - messages were lost: any of these may have been among them.
///
/// What does not count: loopback, addresses within the machine or the link, routes to the machine itself, multicast and broadcast,
/// routes that refuse, cached routes, the ports of a bridge, and whatever else is said of an interface that runs, such as that it
/// looks for wireless networks.
///
/// *It went away* when an interface that ran does not any more, or an address or a route of those above is gone.
///
/// Nothing is asked of the kernel at the beginning. So the first message of an interface or an address that was there before counts
/// once, though it may have been renewed only: that costs one attempt, where one was wanted anyway. Whether a server is behind all
/// that only an attempt tells.
struct NetworkTracker: Sendable {
  /// More than a machine beside a scanner has; with more, what is known is forgotten, and counts again.
  static let maximumInterfaces = 1024
  static let maximumAddresses = 4096
  /// The index that the kernel gives loopback in each network namespace (LOOPBACK_IFINDEX).
  private static let loopback: UInt32 = 1

  /// Bits of the kernel's flags: IFF_UP, IFF_LOOPBACK and IFF_RUNNING of an interface, IFA_F_DADFAILED and IFA_F_TENTATIVE of an
  /// address, RTM_F_CLONED of a route.
  private enum Flag {
    static let isUp: UInt32 = 0x1
    static let isLoopback: UInt32 = 0x8
    static let isRunning: UInt32 = 0x40
    static let isUnusable: UInt8 = 0x08 | 0x40
    static let isCached: UInt32 = 0x200
  }

  /// RT_SCOPE_LINK; what is valid further has a smaller number.
  private static let linkScope: UInt8 = 253
  /// RTN_UNICAST.
  private static let routeToSomewhere: UInt8 = 1
  /// RT_TABLE_LOCAL.
  private static let localTable: UInt32 = 255

  /// Interfaces that run, and addresses, as far as was said.
  private(set) var interfaces: Set<UInt32> = []
  private(set) var addresses: Set<NetworkAddress> = []

  /// Takes in the messages of a datagram.
  mutating func note(_ messages: [RouteMessage], isDamaged: Bool) -> NetworkChange {
    var change: NetworkChange = []
    for message in messages { change.formUnion(note(message)) }
    return isDamaged ? change.union(lose()) : change
  }

  /// Messages were lost.
  mutating func lose() -> NetworkChange {
    interfaces = []
    addresses = []
    return .cameBack
  }

  private mutating func note(_ message: RouteMessage) -> NetworkChange {
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
