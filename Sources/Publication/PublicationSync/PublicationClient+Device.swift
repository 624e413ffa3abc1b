import Essentials

extension PublicationClient {
  /// The id of a device, the same for its whole life: of the machine and the user.
  package static func deviceID(ofUser user: String) -> String {
    let machine = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
    return "\(machine ?? ProcessInfo.processInfo.hostName)\n\(user)"
  }

  /// When a device asks for news: its share of the interval, 0 to less than 1. It does not depend on the device's ring.
  package static func pollPhase(of id: String) -> Double {
    ((try? deviceNumber(of: "poll \(id)")) ?? 0) / 100
  }
}
