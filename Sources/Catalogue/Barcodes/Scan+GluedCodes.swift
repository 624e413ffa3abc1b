extension Scan {
  /// Whether it is worth asking for ``possibleGluedCodes``: a plain number, a label and a text without digits at its
  /// start are one code.
  public var mayBeSeveralCodes: Bool {
    switch kind {
    case .gs1, .gs1Bad, .digitalLink: true
    case .digits, .text: payload.utf8.count >= 16 && payload.utf8.first.map(ASCII.isDigit) == true
    case .gtin, .rcn, .upcE, .url, .label, .empty: false
    }
  }

  /// The ways in which the payload may be several numbers of products that came in one transmission, each with a right
  /// check digit: digits that follow each other, or are apart by blanks, control characters or symbology identifiers.
  ///
  /// Digits may be cut in several ways, so a matcher should take the one whose numbers it knows. There are none for
  /// nearly all scans; chance alone makes one of about a hundred long serial numbers look like this.
  ///
  /// - Returns: At most 16 ways, each of at least two numbers as they were sent.
  /// - Complexity: Linear in the length of the payload, of which only the first 256 bytes count.
  public var possibleGluedCodes: [[String]] {
    guard addOn == nil, payload.utf8.count <= Self.maximumGluedByteCount else { return [] }
    switch kind {
    case .digits, .text: return gluedNumbers
    case .gs1, .gs1Bad: return gluedElements.map { [$0] } ?? (evidence == .digits ? gluedNumbers : [])
    case .digitalLink: return gluedAddresses.map { [$0] } ?? []
    case .gtin, .rcn, .upcE, .url, .label, .empty: return []
    }
  }

  /// The greatest number of bytes of a payload that is cut.
  private static let maximumGluedByteCount = 512

  private var gluedNumbers: [[String]] {
    let bytes = Array(payload.utf8)
    guard bytes.count >= 16, ASCII.isDigit(bytes[0]) else { return [] }
    var cutter = GluedCodeCutter(bytes: bytes)
    cutter.cut(from: 0, [])
    return cutter.ways
  }

  /// The GTINs of element strings that name several products, or the labels that follow each other with their symbology
  /// identifiers.
  private var gluedElements: [String]? {
    if let parts = parts(atEach: { SymbologyIdentifier(startOf: $0) != nil }) {
      let scans = parts.map { Scan($0, configuration: configuration) }
      if scans.allSatisfy({ $0.gtin != nil }) { return parts }
    }
    var codes: [String] = []
    for element in elements?.elements ?? [] where element.ai == "01" && GTIN(element.value) != nil {
      if !codes.contains(element.value) { codes.append(element.value) }
    }
    return codes.count > 1 ? codes : nil
  }

  /// The addresses that follow each other.
  private var gluedAddresses: [String]? {
    let parts = parts { rest in
      rest.first.map { ASCII.lowercased($0) == UInt8(ascii: "h") } == true
        && DigitalLink.endOfScheme(Array(rest.prefix(8)), from: 0) != nil
    }
    guard let parts, parts.allSatisfy({ Scan($0, configuration: configuration).gtin != nil }) else { return nil }
    return parts
  }

  /// Cuts the payload before each place that fits, if it is not an address in the value of another one.
  private func parts(atEach isStart: (ArraySlice<UInt8>) -> Bool) -> [String]? {
    let bytes = Array(payload.utf8)
    var parts: [String] = []
    var start = 0
    for index in bytes.indices.dropFirst() where isStart(bytes[index...]) {
      if ASCII.isAlphanumeric(bytes[index - 1]) || bytes[index - 1] <= ASCII.blank {
        parts.append(String(decoding: bytes[start..<index], as: UTF8.self))
        start = index
      }
    }
    if parts.isEmpty { return nil }
    return parts + [String(decoding: bytes[start...], as: UTF8.self)]
  }
}

/// The search for the ways to cut a text into numbers.
private struct GluedCodeCutter {
  let bytes: [UInt8]
  private(set) var ways: [[String]] = []
  /// The offsets from which the rest cannot be cut, so that each is tried once.
  private var deadEnds: Set<Int> = []

  /// The greatest number of ways.
  private static let maximumCount = 16
  /// The greatest number of bytes between two codes.
  private static let maximumGap = 12

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Cuts the rest from an offset on. Returns whether there is a way.
  @discardableResult
  mutating func cut(from offset: Int, _ codes: [String]) -> Bool {
    if offset == bytes.count {
      if codes.count > 1 { ways.append(codes) }
      return true
    }
    if deadEnds.contains(offset) || ways.count == Self.maximumCount { return false }
    var found = false
    // The most common length first. The last one is that of (01) with its GTIN.
    for count in [13, 12, 8, 14, 16] where offset + count <= bytes.count {
      let code = bytes[offset..<offset + count]
      let number = count == 16 ? code.dropFirst(2) : code
      guard count < 16 || code.starts(with: "01".utf8), GTIN(utf8: number) != nil else { continue }
      let next = afterGap(offset + count)
      if cut(from: next, codes + [String(decoding: code, as: UTF8.self)]) { found = true }
    }
    if !found, ways.count < Self.maximumCount { deadEnds.insert(offset) }
    return found
  }

  /// Returns the offset after what may be between two codes: signs, blanks, control characters and others that are no
  /// letters and digits, the names of line ends and separators, and symbology identifiers.
  private func afterGap(_ offset: Int) -> Int {
    var next = offset
    while next < bytes.count, next - offset < Self.maximumGap {
      let rest = bytes[next...]
      if SymbologyIdentifier(startOf: rest) != nil {
        next += SymbologyIdentifier.byteCount
      } else if let name = Self.names.first(where: { name in
        rest.count >= name.count && zip(rest, name).allSatisfy { ASCII.lowercased($0) == $1 }
      }) {
        next += name.count
      } else if !ASCII.isAlphanumeric(bytes[next]) {
        next += 1
      } else {
        break
      }
    }
    return next
  }

  private static let names = ["<cr>", "<lf>", "<tab>", "<gs>", "%0d", "%0a", "%1d", "{gs}", "(gs)"].map {
    Array($0.utf8)
  }
}
