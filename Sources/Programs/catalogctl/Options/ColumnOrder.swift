import DocumentFormat

/// An order of groups by the columns of their table: `count desc, -sum(weight), brand`.
struct ColumnOrder {
  private(set) var terms: [(column: Int, isDescending: Bool)] = []

  /// Parses the value of `--order`.
  ///
  /// - Parameter columns: The names of the columns.
  /// - Throws: `Failure` with exit code 64 for a name that is not a column, shown at its position.
  init(parsing text: String, _ columns: [String]) throws {
    var position = 1
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let start = part.unicodeScalars.prefix { $0.properties.isWhitespace }.count
      var words = part.split(whereSeparator: \.isWhitespace)
      var isDescending = false
      if words.count > 1, let direction = words.last?.lowercased(), ["asc", "desc"].contains(direction) {
        isDescending = direction == "desc"
        words.removeLast()
      }
      var name = words.joined(separator: " ")
      if name.hasPrefix("-") {
        isDescending = true
        name.removeFirst()
      }
      guard let column = columns.firstIndex(of: name) else {
        throw ExpressionArgument.failure(
          "--order", text, "column \(position + start): " + Self.unknown(name, columns), position + start)
      }
      terms.append((column, isDescending))
      position += part.unicodeScalars.count + 1
    }
  }

  /// The message about a name that is not a column.
  static func unknown(_ name: String, _ columns: [String]) -> String {
    let name = name.count > 60 ? name.prefix(60) + "…" : name
    return "the groups have no column '\(name)'; they have \(columns.joined(separator: ", "))"
  }

  /// The rows in this order. Equal rows keep their order.
  func sorted(_ rows: [[DocumentValue]]) -> [[DocumentValue]] {
    let keys = rows.map { row in
      terms.map { column, isDescending in
        let key = row[column].sortKey
        return isDescending ? key.map { ~$0 } : key
      }
    }
    return rows.indices.sorted { a, b in
      for (mine, other) in zip(keys[a], keys[b]) where mine != other { return mine.lexicographicallyPrecedes(other) }
      return a < b
    }.map { rows[$0] }
  }
}
