import TextFormat

/// A parameter of a URL's query, as it is written: `name=value`, or `name` alone for an empty value.
package struct QueryItem: Sendable {
  private let encodedName: Substring
  private let encodedValue: Substring

  /// The name; `nil` if an escape is invalid, or if it is not UTF-8.
  package var name: String? { PercentEncoding.decodedText(encodedName, plusIsBlank: true) }
  /// The value; `nil` if an escape is invalid, or if it is not UTF-8.
  package var value: String? { PercentEncoding.decodedText(encodedValue, plusIsBlank: true) }

  /// The parameters of a query, in order. Empty ones are left out.
  ///
  /// - Parameter query: What follows the question mark, up to a fragment.
  package static func items(of query: Substring) -> [QueryItem] {
    query.split(separator: "&").map { part in
      let equals = part.firstIndex(of: "=") ?? part.endIndex
      return QueryItem(
        encodedName: part[..<equals], encodedValue: equals < part.endIndex ? part[part.index(after: equals)...] : "")
    }
  }
}
