/// The search for the name that a mistyped one was meant to be.
package enum NearestName {
  /// A longer text is not a mistyped name, and comparing it would take time for nothing.
  private static let longestName = 64

  /// The name with the smallest edit distance from `name`, whatever the letter case; `nil` if more than a third of the
  /// letters differ, because it is another word then. Of several such names, the first one in alphabetical order.
  ///
  /// - Complexity: O(length of `name` · length of all names).
  package static func of(_ name: String, among names: some Sequence<String>) -> String? {
    let letters = Array(name.lowercased().unicodeScalars.prefix(longestName + 1))
    if letters.count > longestName { return nil }
    let ranked = Set(names).map { (distance(letters, Array($0.lowercased().unicodeScalars)), $0) }
    guard let best = ranked.min(by: { $0 < $1 }) else { return nil }
    return best.0 <= max(1, letters.count / 3) ? best.1 : nil
  }

  /// The edit distance from `a` to `b`: insertions, deletions, replacements, and swaps of adjacent letters (the
  /// restricted Damerau–Levenshtein distance).
  private static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var least = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { least = min(least, rows[i - 1][j - 1] + 1) }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
