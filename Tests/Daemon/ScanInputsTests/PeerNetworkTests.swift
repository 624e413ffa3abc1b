import Testing

@testable import ScanInputs

@Suite struct PeerNetworkTests {
  @Test(arguments: [
    ("10.0.0.5", "10.0.0.5", true), ("10.0.0.5", "10.0.0.6", false), ("10.0.0.0/24", "10.0.0.255", true),
    ("10.0.0.0/24", "10.0.1.0", false), ("10.0.0.0/23", "10.0.1.255", true), ("0.0.0.0/0", "192.0.2.1", true),
    ("0.0.0.0/0", "::1", false), ("10.0.0.4/31", "10.0.0.5", true), ("10.0.0.4/31", "10.0.0.6", false),
    ("10.0.0.5", "::ffff:10.0.0.5", true), ("::ffff:0.0.0.0/96", "::ffff:10.0.0.5", true),
    ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::", false), ("::/0", "fe80::1", true),
    ("::1", "0:0:0:0:0:0:0:1", true), ("::1", "127.0.0.1", false), ("::1/128", "::1", true), ("10.0.0.5", "", false),
    ("10.0.0.5", "no address", false),
  ])
  func `an address is of a network`(network: String, address: String, isMember: Bool) throws {
    #expect(try PeerNetwork(network).contains(address) == isMember)
  }

  @Test(arguments: [
    "", "10.0.0", "10.0.0.256", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "::/129",
    "scanner", "10.0.0.0/99999999999999999999", "10.0.0.5\0", " 10.0.0.5", "10.0.0.0 /8", "fe80::1%eth0", "[::1]",
  ])
  func `everything else is refused`(text: String) {
    #expect(throws: PeerNetwork.Problem.self) { try PeerNetwork(text) }
  }

  @Test func `a network is not an address in it`() {
    #expect {
      try PeerNetwork("10.0.1.5/23")
    } throws: {
      "\($0)" == "has bits after its prefix of 23: the network is 10.0.0.0/23"
    }
  }
}
