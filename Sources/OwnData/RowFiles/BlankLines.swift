/// A count of the empty lines of a file, of which a small packed file can have billions: those that follow one another,
/// and all of them in relation to the rows. Of a JSON array, the same of the bytes of white space between its rows.
struct BlankLines {
  /// The number of empty lines for each row, if there are more than `RowRules.blankLineLimit` of them.
  static let rowLimit = 1000

  private var consecutive = 0
  private var all = 0

  /// Adds an empty line.
  ///
  /// - Parameter rows: The number of rows so far.
  /// - Returns: What is wrong if there are too many; `nil` otherwise.
  mutating func add(afterRows rows: Int) -> String? {
    consecutive += 1
    all += 1
    let limit = RowRules.blankLineLimit
    let rest = "; remove them, the rest of the file was not read"
    if consecutive > limit { return "more than \(limit) empty lines follow one another" + rest }
    if all > limit, all > rows * Self.rowLimit {
      return "there are more than \(limit) empty lines, and more than \(Self.rowLimit) for each row" + rest
    }
    return nil
  }

  /// Notes that a row follows.
  mutating func end() { consecutive = 0 }
}
