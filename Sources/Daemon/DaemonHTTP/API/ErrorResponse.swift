import Catalog
import HTTPTypes

/// An error response: a status, a code for programs, and a message that says what to do.
struct ErrorResponse: Error, Sendable, Equatable {
  var status: HTTPResponse.Status
  var code: String
  var message: String
  /// Headers that belong to the status, for example `Allow`.
  var headers = HTTPFields()

  init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
    self.status = status
    self.code = code
    self.message = message
    self.headers = headers
  }
}

extension ErrorResponse {
  /// An error response of an invalid request.
  static func badRequest(_ message: String) -> ErrorResponse { ErrorResponse(.badRequest, "badRequest", message) }

  /// An error response of an expression in a query parameter. The message names the parameter and the column.
  static func expression(_ parameter: String, _ error: ProductQueryError) -> ErrorResponse {
    ErrorResponse(.badRequest, "badExpression", "\(parameter): \(error)")
  }

  static func notFound(_ message: String) -> ErrorResponse { ErrorResponse(.notFound, "notFound", message) }

  static func conflict(_ code: String, _ message: String) -> ErrorResponse { ErrorResponse(.conflict, code, message) }

  static func unavailable(_ code: String, _ message: String) -> ErrorResponse {
    ErrorResponse(.serviceUnavailable, code, message)
  }
}
