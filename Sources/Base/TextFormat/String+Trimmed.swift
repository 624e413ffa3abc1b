extension StringProtocol {
  /// The text without white space and line breaks at both ends.
  package var trimmed: String { String(trimmed(while: \.isWhitespace)) }

  /// The text without the characters at both ends for which `isTrimmed` is true.
  package func trimmed(while isTrimmed: (Character) -> Bool) -> SubSequence {
    let start = drop(while: isTrimmed)
    guard let last = start.lastIndex(where: { !isTrimmed($0) }) else { return start[start.endIndex...] }
    return start[...last]
  }
}
