/// Normalization of the ways in which scanners send FNC1.
enum Separators {
  /// Returns `data` with every occurrence of a text of `separators` replaced by GS. If two match, the first in the list
  /// is used.
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

  /// Returns the offset in `data`, from its start, of the byte that has this offset in ``normalized(_:_:)``.
  static func originalOffset(of offset: Int, in data: ArraySlice<UInt8>, _ separators: [String]) -> Int {
    let patterns = separators.map { Array($0.utf8) }.filter { !$0.isEmpty }
    var rest = data
    for _ in 0..<offset where !rest.isEmpty {
      let pattern = patterns.first { rest.starts(with: $0) }
      rest.removeFirst(pattern?.count ?? 1)
    }
    return rest.startIndex - data.startIndex
  }
}
