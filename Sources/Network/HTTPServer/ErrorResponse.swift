package import HTTPTypes
package import JSONFormat
import Platform

/// The refusal of a request: a status, a code for programs, and a message that says what to do.
package struct ErrorResponse: Error, Sendable, Equatable {
  package var status: HTTPResponse.Status
  package var code: String
  package var message: String
  /// Fields that belong to the status, for example `Allow`.
  package var headers = HTTPFields()

  package init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
    self.status = status
    self.code = code
    self.message = message
    self.headers = headers
  }

  /// The response to a request that fails with an error: what the error itself says as a `ProgramError`, else status 500.
  package init(_ error: any Error) {
    switch error {
    case let error as ErrorResponse: self = error
    case is RequestBodyError:
      self.init(.contentTooLarge, "bodyTooLarge", "the body is larger than is taken")
    case let error as JSONError: self = .badRequest("the body is not JSON: \(error)")
    case let error as any ProgramError:
      self.init(.init(code: error.refusal.status), error.refusal.code, "\(error)")
    default: self.init(.internalServerError, "internal", "\(error)")
    }
  }
}

extension ErrorResponse {
  /// The response to an invalid request.
  package static func badRequest(_ message: String) -> ErrorResponse {
    ErrorResponse(.badRequest, "badRequest", message)
  }

  package static func notFound(_ message: String) -> ErrorResponse { ErrorResponse(.notFound, "notFound", message) }

  package static func conflict(_ code: String, _ message: String) -> ErrorResponse {
    ErrorResponse(.conflict, code, message)
  }

  package static func unavailable(_ code: String, _ message: String) -> ErrorResponse {
    ErrorResponse(.serviceUnavailable, code, message)
  }

  package static func bodyTooLarge(limit: Int) -> ErrorResponse {
    ErrorResponse(
      .contentTooLarge, "bodyTooLarge", "the body has more than \(limit) bytes; send less at once",
      headers: [.connection: "close"])
  }
}

extension ErrorResponse {
  /// The body of the response: `{"error": {"code": …, "message": …}}`.
  package var json: JSONText {
    .object([("error", .object([("code", .text(code)), ("message", .text(message))]))])
  }
}

extension Response {
  /// A response with JSON.
  package init(_ json: JSONText, status: HTTPResponse.Status = .ok) { self.init(json: json.bytes, status: status) }

  /// A response with bytes that are valid JSON.
  package init(json: [UInt8], status: HTTPResponse.Status = .ok) {
    self.init(status: status, headers: [.contentType: "application/json"], body: .bytes(json))
  }

  /// The response to a request that is refused.
  package init(_ error: ErrorResponse) {
    self.init(error.json, status: error.status)
    for field in error.headers { headers.append(field) }
  }

  /// A response with status 204 and no body.
  package static var noContent: Response { Response(status: .noContent) }

  /// The bytes of the body; empty if it is a stream.
  package var bytes: [UInt8] {
    if case .bytes(let bytes) = body { bytes } else { [] }
  }
}
