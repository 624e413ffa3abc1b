/// The different ways in which readers write FNC1.
enum Separators {
  /// `data` with every text of `separators` replaced by GS. Where two fit, the one named first is taken.
  static func normalized(_ data: ArraySlice<UInt8>, _ separators: [String]) -> [UInt8] {
    let patterns = separators.map { Array($0.utf8) }.filter { !$0.isEmpty }
    guard !patterns.isEmpty else { return Array(data) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count)
    var rest = data
    while let first = rest.first {
      if let pattern = patterns.first(where: { rest.starts(with: $0) }) {
        bytes.append(ASCII.groupSeparator)
        rest.removeFirst(pattern.count)
      } else {
        bytes.append(first)
        rest.removeFirst()
      }
    }
    return bytes
  }

  /// True for the envelope of ISO/IEC 15434, `[)>` and RS: it uses GS too, but for data that are not GS1's.
  static func isEnvelope(_ bytes: [UInt8]) -> Bool {
    bytes.starts(with: [UInt8(ascii: "["), UInt8(ascii: ")"), UInt8(ascii: ">"), 0x1E])
  }
}
