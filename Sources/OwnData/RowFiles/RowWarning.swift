internal import JSONFormat

/// What a person should know about rows that were taken, or left out, as the mapping says: how many there are, and
/// where the first is.
package struct RowWarning: Sendable, Equatable {
  /// What is the matter.
  enum Kind: Sendable, Equatable {
    /// The id begins or ends with blanks. The rule for the id, if a mapping has one.
    case paddedID(RowMapping.Rule?)
    /// A value was compared with a number, and is none. The separator of decimals that it would have as one.
    case noNumber(decimal: Character?)
    /// A further row of a product has another value than the first one, which is on this line.
    case groupDifference(firstLine: Int)
    /// The first row of a product has another quantity than 1.
    case groupQuantity
  }

  var kind: Kind
  /// The number of rows.
  package var count = 1
  /// The line of the first one, from 1.
  package var line: Int
  /// Its number in its JSON array, from 1; `nil` for rows that have lines of their own.
  package var element: Int?
  /// The column or key.
  package var column: String
  /// The value of the first one.
  package var value: String

  /// What is the matter, where, and what to do.
  package var message: String {
    let place =
      "the first: line \(line)" + (element.map { ", row \($0)" } ?? "") + ", column \(column), value"
      + " \"\(value.count > 60 ? value.prefix(60) + "…" : value[...])\""
    switch kind {
    case .paddedID(let rule):
      let ids = count == 1 ? "1 id begins or ends" : "\(count) ids begin or end"
      return "\(ids) with blanks or invisible characters, which belong to the id (\(place)); the step trim of a mapping"
        + " (--map) removes them" + remedy(rule)
    case .noNumber(let decimal):
      let rows = count == 1 ? "1 row has a text" : "\(count) rows have a text"
      return "\(rows) where the condition of the mapping (rows) compares with a number, so that no comparison holds"
        + " (\(place)); \(remedy(decimal))"
    case .groupDifference(let firstLine):
      let rows = count == 1 ? "1 value" : "\(count) values"
      return "\(rows) of further rows of a product (group) left out, as the product's first row has another one"
        + " (\(place); the first row of this product is line \(firstLine)); correct them, or give the rows ids of their own"
    case .groupQuantity:
      let products = count == 1 ? "1 product has" : "\(count) products have"
      return
        "\(products) a quantity other than 1 in the first row (group), whose barcode counts as one piece all the same"
        + " (\(place)); put the row of the single piece first"
    }
  }

  private func remedy(_ rule: RowMapping.Rule?) -> String {
    if let rule, !rule.steps.isEmpty { return ": write \"trim\" before the other steps of the field id" }
    let columns = rule?.columns ?? [column]
    let names = columns.map(Self.quoted).joined(separator: ", ")
    return ", in the place of --column, as in {\"fields\": {\"id\": {\"columns\": "
      + (columns.count == 1 ? names : "[\(names)]")
      + (rule?.separator.map { ", \"join\": " + Self.quoted($0) } ?? "")
      + (rule?.split.map { ", \"split\": " + Self.quoted($0) } ?? "") + ", \"steps\": [\"trim\"]}}}"
  }

  private func remedy(_ decimal: Character?) -> String {
    if let decimal { return "give the separator of decimals: --decimal \(decimal)" }
    let name = "'" + column.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    let comparison = "compare with a text, as in \(name) != ''"
    if value.contains(where: \.isNumber) { return comparison }
    return NullWords.remedy(value) + ", or " + comparison
  }

  private static func quoted(_ text: String) -> String {
    var json: [UInt8] = []
    JSONWriter.append(text: text, to: &json)
    return String(decoding: json, as: UTF8.self)
  }
}
