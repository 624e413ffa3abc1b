import Catalog
import DocumentFormat

/// Expressions in the values of options: conditions, orders, lists of fields.
enum ExpressionArgument {
  /// The condition of `--where` on documents.
  static func condition(_ text: String) throws -> Condition {
    try parsed("--where", text) { try Condition(parsing: text) }
  }

  /// The order of `--order` of documents.
  static func ordering(_ text: String) throws -> Ordering {
    try parsed("--order", text) { try Ordering(parsing: text) }
  }

  /// The result of `parse` for an argument. An error in it is shown at its position, and ends the command.
  ///
  /// - Throws: `Failure` with exit code 64 for a `QuerySyntaxError` or a `ProductQueryError`; any other error of
  ///   `parse`.
  static func parsed<Value>(_ option: String, _ text: String, _ parse: () throws -> Value) throws -> Value {
    do { return try parse() } catch let error as QuerySyntaxError {
      throw failure(option, text, "\(error)", error.column)
    } catch let error as ProductQueryError {
      throw failure(option, text, "\(error)", error.column)
    }
  }

  /// Shows an error in an argument.
  ///
  /// - Returns: The end of the command, with everything reported.
  static func failure(_ option: String, _ text: String, _ message: String, _ column: Int?) -> Failure {
    Console.say("catalogctl: \(option): \(message)")
    if let column {
      let (line, position) = excerpt(of: text, around: column)
      Console.say("  " + line)
      Console.say("  " + String(repeating: " ", count: position) + "^")
    }
    return Failure(.usage)
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
