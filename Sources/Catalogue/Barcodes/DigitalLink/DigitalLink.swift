import TextFormat

/// A GS1 Digital Link: a web address that contains a GS1 key and other GS1 element strings (GS1 Digital Link Standard:
/// URI Syntax).
///
///     https://id.gs1.org/any/prefix/01/09506000134352/10/LOT?17=270617&utm=x#top
///                                   └── key ────────┘└ qual ┘ └ attribute ┘
///     https://id.gs1.org/gtin/9506000134352/lot/LOT            older links: short names, fewer digits
///     https://id.gs1.org/CxFKk4XBoIdXg                         compressed
///
/// Any host and any path prefix are accepted. Scheme, host and short names are case-insensitive, the rest is not. A
/// GTIN may have 8, 12, 13 or 14 digits, as in older links, and is padded to 14.
public struct DigitalLink: Hashable, Sendable {
  /// The key, its qualifiers and the attributes, in the order of the address. The first element is the key.
  public let elements: ElementString

  /// What is wrong with the form of the address, in its order: qualifiers in the wrong order, an identifier where the
  /// standard does not allow it, a compressed part that cannot be read. What is wrong with values is found in
  /// ``elements``. Positions are offsets of identifiers in the address.
  public let issues: [ScanIssue]

  /// Whether the address is compressed, wholly or after its key (GS1 Digital Link Standard: Compression).
  public let isCompressed: Bool

  /// Parses a web address.
  ///
  /// Returns `nil` if `address` is not a web address or has no key: a component of the path such as `01` or `gtin`, and
  /// after it a value of the right form. An address whose GTIN has a wrong check digit is still a Digital Link, with a
  /// fault in ``elements``.
  ///
  /// - Complexity: Linear in the length of `address`.
  public init?(_ address: some StringProtocol) {
    self.init(Array(address.utf8), from: 0)
  }

  /// Returns whether `text` is a web address of any kind.
  public static func isWebAddress(_ text: some StringProtocol) -> Bool {
    endOfScheme(Array(text.utf8.prefix(8)), from: 0) != nil
  }

  init?(_ bytes: [UInt8], from start: Int) {
    guard let hostStart = Self.endOfScheme(bytes, from: start) else { return nil }
    let end = bytes[hostStart...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
    let pathEnd = bytes[hostStart..<end].firstIndex(of: UInt8(ascii: "?")) ?? end

    // The first component is the host.
    let parts = bytes[hostStart..<pathEnd].split(separator: ASCII.slash, omittingEmptySubsequences: false)
    var reading = Reading()
    if let key = DigitalLinkKey.find(in: parts) {
      reading.readPath(parts[key...])
    } else {
      guard reading.readCompressed(parts) else { return nil }
    }
    if pathEnd < end { reading.readQuery(bytes[(pathEnd + 1)..<end]) }
    elements = reading.elements
    issues = reading.issues.sorted { $0.position < $1.position }
    isCompressed = reading.isCompressed
  }

  /// Returns the offset of the host, after `http://` or `https://` in any case; `nil` if there is no such scheme.
  static func endOfScheme(_ bytes: [UInt8], from start: Int) -> Int? {
    for scheme in ["https://", "http://"] {
      let count = scheme.utf8.count
      guard bytes.count - start >= count else { continue }
      if zip(bytes[start...], scheme.utf8).allSatisfy({ ASCII.lowercased($0) == $1 }) { return start + count }
    }
    return nil
  }
}
