import TextFormat

/// A GS1 Digital Link: a web address that contains a GTIN and other GS1 element strings (GS1 Digital Link Standard: URI
/// Syntax).
///
///     https://id.gs1.org/any/prefix/01/09506000134352/10/LOT?17=270617&utm=x#top
///                                   └── key ────────┘└ qual ┘ └ attribute ┘
///
/// Any host and any path prefix are accepted. Scheme and host are case-insensitive, the path is not. The GTIN may have
/// 8, 12, 13 or 14 digits, as in older links, and is padded to 14.
public struct DigitalLink: Hashable, Sendable {
  /// The key, its qualifiers and the attributes, in the order of the address. The first element is AI (01).
  public let elements: ElementString

  /// Parses a web address.
  ///
  /// Returns `nil` if `address` is not a web address or contains no `/01/` followed by digits of a GTIN's length. An
  /// address whose GTIN has a wrong check digit is still a Digital Link, with a fault in ``elements``.
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
    var elements = ElementString()
    guard let key = Self.keyIndex(in: parts) else { return nil }
    Self.append("01", parts[key + 1], to: &elements)
    var index = key + 2
    while index + 1 < parts.count {
      guard Self.append(parts[index], parts[index + 1], to: &elements) else { break }
      index += 2
    }

    if pathEnd < end {
      for attribute in bytes[(pathEnd + 1)..<end].split(whereSeparator: Self.isAttributeSeparator) {
        guard let equals = attribute.firstIndex(of: UInt8(ascii: "=")) else { continue }
        let name = attribute[..<equals]
        // Other names belong to the web site: identifiers are numeric.
        guard !name.isEmpty, name.allSatisfy(ASCII.isDigit) else { continue }
        Self.append(name, attribute[(equals + 1)...], to: &elements)
      }
    }
    self.elements = elements
  }

  private static func isAttributeSeparator(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "&") || byte == UInt8(ascii: ";")
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

  /// Returns the index of the first path component that is `01` and is followed by digits of a GTIN's length.
  private static func keyIndex(in parts: [ArraySlice<UInt8>]) -> Int? {
    for index in parts.indices.dropFirst().dropLast() where parts[index].elementsEqual("01".utf8) {
      let part = parts[index + 1]
      guard let value = PercentEncoding.decoded(part.span), let run = DigitRun(value) else { continue }
      if run.hasLengthOfGTIN { return index }
    }
    return nil
  }

  @discardableResult
  private static func append(
    _ identifier: some Collection<UInt8>,
    _ encodedValue: ArraySlice<UInt8>,
    to elements: inout ElementString
  ) -> Bool {
    let name = Array(identifier)
    guard let format = ApplicationIdentifier(at: 0, in: name), format.digitCount == name.count else {
      // A path may end in a slash or a component of the site's own, so an empty name is not a fault.
      if !name.isEmpty { elements.record(.unknownIdentifier(text: ElementString.excerpt(of: name, at: 0)), at: 0) }
      return false
    }
    guard var value = PercentEncoding.decoded(encodedValue.span) else {
      elements.record(.wrongCharacter(ai: String(decoding: name, as: UTF8.self)), at: 0)
      return false
    }
    let isGTIN = name.elementsEqual("01".utf8) || name.elementsEqual("02".utf8)
    if isGTIN, let run = DigitRun(value), run.hasLengthOfGTIN {
      value.insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: 14 - value.count), at: 0)
    }
    return elements.append(format, name[...], value: ASCII.trimmed(value[...]), offset: 0)
  }

  private static func append(
    _ identifier: String,
    _ encodedValue: ArraySlice<UInt8>,
    to elements: inout ElementString
  ) {
    append(Array(identifier.utf8), encodedValue, to: &elements)
  }
}
