import HTTPServer
import HTTPSupport

/// The parameters of a request.
struct StudioQuery: Sendable {
  private let values: [String: String]

  /// - Throws: `ErrorResponse` if the query is not percent-encoded UTF-8.
  init(_ query: String?) throws(ErrorResponse) {
    var values: [String: String] = [:]
    for item in QueryItem.items(of: Substring(query ?? "")) {
      guard let name = item.name, let value = item.value else {
        throw .badRequest("the query is not percent-encoded UTF-8")
      }
      if values[name] == nil { values[name] = value }
    }
    self.values = values
  }

  /// A text; `nil` if it is missing or empty.
  subscript(_ name: String) -> String? {
    guard let value = values[name], !value.isEmpty else { return nil }
    return value
  }

  /// The names of the parameters, in no order.
  var names: [String] { Array(values.keys) }

  /// Refuses parameters with other names, which would be left out silently.
  func refuse(butFor names: [String]) throws(ErrorResponse) {
    let others = values.keys.filter { !names.contains($0) }.sorted()
    guard let other = others.first else { return }
    throw .badRequest("\(other): there is no such parameter; there are \(names.joined(separator: ", "))")
  }

  /// A whole number in a range; `standard` if it is missing.
  func number(_ name: String, in range: ClosedRange<Int>, standard: Int) throws(ErrorResponse) -> Int {
    guard let text = self[name] else { return standard }
    guard let number = Int(text), range.contains(number) else {
      throw .badRequest("\(name): a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// The number of a commit; `nil` if it is missing.
  func sequence(_ name: String) throws(ErrorResponse) -> UInt64? {
    guard let text = self[name] else { return nil }
    guard let number = UInt64(text) else { throw .badRequest("\(name): the number of a commit") }
    return number
  }

  /// A truth value; `nil` if it is missing.
  func bool(_ name: String) throws(ErrorResponse) -> Bool? {
    switch self[name] {
    case nil: return nil
    case "true": return true
    case "false": return false
    default: throw .badRequest("\(name): true or false")
    }
  }
}
