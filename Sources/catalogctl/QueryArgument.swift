import DocumentFormat

/// A condition, an order or assignments on the command line.
enum QueryArgument {
  /// The condition of `--where`.
  static func condition(_ text: String) throws -> Condition {
    try parsed("--where", text) { text throws(QuerySyntaxError) in try Condition(parsing: text) }
  }

  /// The order of `--order`.
  static func ordering(_ text: String) throws -> Ordering {
    try parsed("--order", text) { text throws(QuerySyntaxError) in try Ordering(parsing: text) }
  }

  /// The result of `parse` for an argument. A syntax error is shown at its position, and ends the command.
  static func parsed<Value>(
    _ option: String, _ text: String, _ parse: (String) throws(QuerySyntaxError) -> Value
  ) throws -> Value {
    do { return try parse(text) } catch {
      Console.say("catalogctl: \(option): \(error)")
      let (line, column) = excerpt(of: text, around: error.column)
      Console.say("  " + line)
      Console.say("  " + String(repeating: " ", count: column) + "^")
      throw Failure(.usage)
    }
  }

  /// The part of `text` around a column, which is counted in scalars from 1, and the column's position in that part.
  private static func excerpt(of text: String, around column: Int) -> (line: String, column: Int) {
    let scalars = Array(text.unicodeScalars)
    let start = max(0, min(column - 1, scalars.count) - 40)
    let end = min(scalars.count, start + 80)
    func shown(_ range: Range<Int>) -> String { String(String.UnicodeScalarView(scalars[range])).shown }
    let mark = start > 0 ? "…" : ""
    let before = shown(start..<max(start, min(column - 1, end)))
    return (mark + shown(start..<end) + (end < scalars.count ? "…" : ""), mark.count + Table.width(before))
  }
}
