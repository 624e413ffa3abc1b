/// The network that an IPv6 address is of: its first 64 bits. Whoever has one address has all of its network.
enum IPv6Network {
  /// - Parameter address: as `inet_ntop` writes it, with or without a zone.
  static func name(_ address: String) -> String {
    let text = address.prefix { $0 != "%" }
    guard let gap = text.firstRange(of: "::") else { return name(groups: text.split(separator: ":").map(String.init)) }
    let head = text[..<gap.lowerBound].split(separator: ":").map(String.init)
    let tail = text[gap.upperBound...].split(separator: ":").map(String.init)
    // A dotted IPv4 part stands for two groups.
    let width = head.count + tail.count + (tail.last?.contains(".") == true ? 1 : 0)
    return name(groups: head + Array(repeating: "0", count: max(0, 8 - width)) + tail)
  }

  private static func name(groups: [String]) -> String { groups.prefix(4).joined(separator: ":") + "::/64" }
}
