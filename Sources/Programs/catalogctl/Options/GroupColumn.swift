import DocumentFormat
import JSONFormat

/// A column of a table of groups.
enum GroupColumn: Equatable {
  /// A field that is grouped by.
  case key(String)
  case count
  /// An aggregate of a field: `sum`, `min`, `max` or `avg`.
  case aggregate(String, of: String)

  /// The name as in SQL: `brand`, `count`, `sum(weight)`.
  var name: String {
    switch self {
    case .key(let field): field
    case .count: "count"
    case .aggregate(let word, let field): "\(word)(\(field))"
    }
  }

  /// A group as JSON: `{"group":{"brand":"GREE"},"count":3,"sum":{"weight":23.75}}`, with only those columns.
  static func json(_ columns: [GroupColumn], _ values: [DocumentValue]) -> JSONText {
    var fields: [(name: String, values: [(String, JSONText)])] = []
    func add(_ name: String, _ field: String, _ value: DocumentValue) {
      let index = fields.firstIndex { $0.name == name } ?? fields.count
      if index == fields.count { fields.append((name, [])) }
      fields[index].values.append((field, .document(value)))
    }
    for (column, value) in zip(columns, values) {
      switch column {
      case .key(let field): add("group", field, value)
      case .count: add("count", "", value)
      case .aggregate(let word, let field): add(word, field, value)
      }
    }
    return .object(fields.map { ($0.name, $0.name == "count" ? $0.values[0].1 : .object($0.values)) })
  }
}
