/// The network of an IPv6 address: its first 64 bits. A client that has one address has all of its network.
enum IPv6Network {
  /// - Parameter address: The address in the format of `inet_ntop`, with or without a zone.
  static func name(_ address: String) -> String {
    let text = address.prefix { $0 != "%" }
    guard let gap = text.firstRange(of: "::") else { return name(groups: text.split(separator: ":").map(String.init)) }
    let head = text[..<gap.lowerBound].split(separator: ":").map(String.init)
    let tail = text[gap.upperBound...].split(separator: ":").map(String.init)
    // A dotted IPv4 part is two groups wide.
    let width = head.count + tail.count + (tail.last?.contains(".") == true ? 1 : 0)
    return name(groups: head + Array(repeating: "0", count: max(0, 8 - width)) + tail)
  }

  private static func name(groups: [String]) -> String { groups.prefix(4).joined(separator: ":") + "::/64" }
}
