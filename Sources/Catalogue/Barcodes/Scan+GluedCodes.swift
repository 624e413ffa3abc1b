extension Scan {
  /// The ways in which the payload may be several numbers of products that came in one transmission, each with a right
  /// check digit: digits that follow each other, or are apart by blanks, control characters or symbology identifiers.
  ///
  /// Digits may be cut in several ways, so a matcher should take the one whose numbers it knows. There are none for
  /// nearly all scans; chance alone makes one of about a hundred long serial numbers look like this.
  ///
  /// - Returns: At most 16 ways, each of at least two numbers as they were sent.
  /// - Complexity: Linear in the length of the payload, of which only the first 256 bytes count.
  public var possibleGluedCodes: [[String]] {
    let bytes = Array(payload.utf8)
    guard (16...Self.maximumGluedByteCount).contains(bytes.count), addOn == nil, ASCII.isDigit(bytes[0]) else {
      return []
    }
    var cutter = GluedCodeCutter(bytes: bytes)
    cutter.cut(from: 0, [])
    return cutter.ways
  }

  /// The greatest number of bytes of a payload that is cut.
  private static let maximumGluedByteCount = 256
}

/// The search for the ways to cut a text into numbers.
private struct GluedCodeCutter {
  let bytes: [UInt8]
  private(set) var ways: [[String]] = []
  /// The offsets from which the rest cannot be cut, so that each is tried once.
  private var deadEnds: Set<Int> = []

  /// The greatest number of ways.
  private static let maximumCount = 16

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
    // The most common length first.
    for count in [13, 12, 8, 14] where offset + count <= bytes.count {
      let code = bytes[offset..<offset + count]
      guard GTIN(utf8: code) != nil else { continue }
      let next = afterSeparators(offset + count)
      if cut(from: next, codes + [String(decoding: code, as: UTF8.self)]) { found = true }
    }
    if !found, ways.count < Self.maximumCount { deadEnds.insert(offset) }
    return found
  }

  /// Returns the offset after blanks, control characters and a symbology identifier at `offset`.
  private func afterSeparators(_ offset: Int) -> Int {
    var next = offset
    while next < bytes.count, bytes[next] <= ASCII.blank { next += 1 }
    if SymbologyIdentifier(startOf: bytes[next...]) != nil { next += SymbologyIdentifier.byteCount }
    return next
  }
}
