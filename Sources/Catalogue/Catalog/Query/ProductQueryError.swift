import CatalogRows
public import DocumentFormat
import TextFormat

/// An error in the condition, the order or the columns of a query: nothing was read.
///
/// A column is counted in Unicode scalars from 1. It is `nil` if the query was not written as text.
public enum ProductQueryError: Error, Equatable, Sendable {
  /// The text is malformed.
  case syntax(QuerySyntaxError)
  /// No product has a field with this name.
  case unknownField(String, column: Int?)
  /// No product has a field with this name, but one with a name like it, which is a declared one of one's own.
  case otherField(String, suggestion: String, column: Int?)
  /// A list of fields names one of them twice.
  case repeatedField(ProductQueryField, column: Int?)
  /// A field is compared with a value of another kind, or used in a way that its kind does not allow. `problem` says
  /// what is wrong and what to write instead.
  case kind(ProductQueryField, problem: String, column: Int?)
}

extension ProductQueryError {
  /// The column of the error in the text; `nil` if the query was not written as text.
  public var column: Int? {
    switch self {
    case .syntax(let error): error.column
    case .unknownField(_, let column), .otherField(_, _, let column), .repeatedField(_, let column),
      .kind(_, _, let column):
      column
    }
  }
}

extension ProductQueryError: CustomStringConvertible {
  /// The column, what is wrong there, and what to write instead, for people.
  public var description: String {
    switch self {
    case .syntax(let error): "\(error)"
    case .unknownField(let name, let column): Self.at(column) + Self.unknown(name)
    case .otherField(let name, let suggestion, let column):
      Self.at(column) + "no field '\(name.shortened)' is declared; did you mean '\(suggestion)'?"
    case .repeatedField(let field, let column): Self.at(column) + "\(field.key) is in the list twice"
    case .kind(_, let problem, let column): Self.at(column) + problem
    }
  }

  private static func at(_ column: Int?) -> String { column.map { "column \($0): " } ?? "" }

  private static func unknown(_ name: String) -> String {
    let names = ProductField.allCases.map(\.key).sorted() + [ProductQueryField.codesName] + ProductQueryField.codeNames
    let guess = NearestName.of(name, among: names).map { "; did you mean '\($0)'?" } ?? "."
    return
      "no product has a field '\(name.shortened)'\(guess) The fields are \(names.joined(separator: ", ")), and extra.NAME for one of"
      + " one's own"
  }
}

extension String {
  /// The text, truncated after 60 characters: a message stays readable whatever it quotes.
  var shortened: String { count > 60 ? prefix(60) + "…" : self }
}
