/// The names, besides those of this machine, that a server answers to: names of hosts, without a port. Behind a proxy these
/// are the names that browsers know.
package struct HostNames: Sendable, Equatable {
  /// In the form of ``normalized(_:)``.
  private let names: Set<String>

  /// - Parameter names: The names in the form of ``normalized(_:)``.
  package init(_ names: Set<String> = []) { self.names = names }

  /// Whether there are no names.
  package var isEmpty: Bool { names.isEmpty }

  /// Whether a request's `Host`, with or without a port, is one of the names.
  package func contains(authority: String) -> Bool {
    guard !names.isEmpty, let name = Self.name(of: authority) else { return false }
    return names.contains(name)
  }

  /// Whether an `Origin` is an http or https page of one of the names, on any port.
  package func contains(origin: String) -> Bool {
    guard !names.isEmpty, let separator = origin.firstRange(of: "://"),
      ["http", "https"].contains(origin[..<separator.lowerBound].lowercased())
    else { return false }
    return contains(authority: String(origin[separator.upperBound...]))
  }

  /// The name in a request's `Host`, in lower case and without the port; `nil` if it is not a host and a port.
  package static func name(of authority: String) -> String? {
    Loopback.host(of: authority[...]).map { withoutFinalDot($0.lowercased()) }
  }

  /// A name as browsers send it: in lower case, without the dot at its end, an IPv6 address in brackets.
  ///
  /// - Returns: The name; `nil` if `text` is not a single host name or address, for example `*`, or a name with a scheme or
  ///   a port.
  package static func normalized(_ text: String) -> String? {
    let name = withoutFinalDot(text.lowercased())
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    let address = isBracketed ? String(name.dropFirst().dropLast()) : name
    if isBracketed || address.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1 {
      let isAddress = address.contains(":") && address.utf8.allSatisfy { isHexadecimal($0) || ":.".utf8.contains($0) }
      return isAddress ? "[\(address)]" : nil
    }
    guard (1...253).contains(name.utf8.count), name.utf8.allSatisfy({ isLetterOrDigit($0) || "-._".utf8.contains($0) }),
      !name.hasPrefix("."), !name.contains("..")
    else { return nil }
    return name
  }

  private static func withoutFinalDot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
