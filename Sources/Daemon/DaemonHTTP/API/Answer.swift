import HTTPTypes
import JSONFormat

/// The response to a request.
struct Answer: Sendable {
  var status = HTTPResponse.Status.ok
  var body: [UInt8]
  /// The content type; `nil` for a response without a body.
  var contentType: String? = Answer.json
  var headers = HTTPFields()

  static let json = "application/json"

  /// Creates a response from bytes that are valid JSON.
  init(json: [UInt8], status: HTTPResponse.Status = .ok) {
    self.status = status
    body = json
  }

  init(_ value: JSONText, status: HTTPResponse.Status = .ok) { self.init(json: value.bytes, status: status) }

  /// A response with status 204 and no body.
  static var noContent: Answer {
    var answer = Answer(json: [], status: .noContent)
    answer.contentType = nil
    return answer
  }

  init(_ errorResponse: ErrorResponse) {
    self.init(
      .object([("error", .object([("code", .text(errorResponse.code)), ("message", .text(errorResponse.message))]))]),
      status: errorResponse.status)
    headers = errorResponse.headers
  }
}
