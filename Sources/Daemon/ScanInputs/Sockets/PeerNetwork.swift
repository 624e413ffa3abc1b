import Platform

/// An address or network of clients that may connect: `10.0.0.5`, `10.0.0.0/24`, `2001:db8::/32`.
public struct PeerNetwork: Sendable, Hashable, CustomStringConvertible {
  /// A text that is not a valid network.
  public struct Problem: Error, Sendable, CustomStringConvertible {
    /// What is wrong with the text, for people.
    public let description: String
  }

  /// The address: 4 or 16 bytes, with zero bits after the prefix.
  private let bytes: [UInt8]
  /// The length of the prefix in bits.
  private let bitCount: Int
  /// The source text.
  public let description: String

  /// Parses an address or network.
  ///
  /// - Throws: ``Problem`` if the text is neither an address nor a network in CIDR notation, or if the network has bits
  ///   after the prefix, which is probably a mistake.
  public init(_ text: String) throws(Problem) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let address = Self.bytes(parts[0]) else {
      throw Problem(description: "must be an address or a network, for example 10.0.0.5, 10.0.0.0/24 or 2001:db8::/32")
    }
    let longest = 8 * address.count
    var count = longest
    if parts.count > 1 {
      let digits = parts[1]
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits), number <= longest else {
        throw Problem(description: "the prefix of \(parts[0]) is to be a number from 0 to \(longest)")
      }
      count = number
    }
    bytes = Self.masked(address, count)
    bitCount = count
    description = text
    if bytes != address {
      throw Problem(description: "has bits after its prefix of \(count): the network is \(Self.text(bytes))/\(count)")
    }
  }

  /// Whether an address belongs to this network.
  ///
  /// - Parameter address: The address, as `inet_ntop` formats it. An IPv4-mapped IPv6 address (`::ffff:10.0.0.5`)
  ///   counts as IPv4.
  public func contains(_ address: String) -> Bool {
    guard var other = Self.bytes(address) else { return false }
    let isMapped = other.count == 16 && other[..<10].allSatisfy { $0 == 0 } && other[10] == 0xFF && other[11] == 0xFF
    if isMapped, bytes.count == 4 { other = Array(other[12...]) }
    return other.count == bytes.count && Self.masked(other, bitCount) == bytes
  }

  private static func masked(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let left = min(8, max(0, count - 8 * index))
      return byte & UInt8(truncatingIfNeeded: 0xFF00 >> left)
    }
  }

  private static func bytes(_ text: String) -> [UInt8]? {
    // A zero byte would end the C string.
    if text.utf8.contains(0) { return nil }
    // The arrays have as many bytes as the calls write.
    var four = [UInt8](repeating: 0, count: 4)
    if unsafe inet_pton(AF_INET, text, &four) == 1 { return four }
    var sixteen = [UInt8](repeating: 0, count: 16)
    return unsafe inet_pton(AF_INET6, text, &sixteen) == 1 ? sixteen : nil
  }

  private static func text(_ bytes: [UInt8]) -> String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // The address has 4 or 16 bytes, and the buffer has room for the longest text.
    guard unsafe inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
      return ""
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
