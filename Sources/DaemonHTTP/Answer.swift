import HTTPTypes
import JSONFormat

/// What a request is answered with.
struct Answer: Sendable {
  var status = HTTPResponse.Status.ok
  var body: [UInt8]
  /// `nil` where there is no body.
  var contentType: String? = Answer.json
  var headers = HTTPFields()

  static let json = "application/json"

  /// Bytes that are JSON.
  init(json: [UInt8], status: HTTPResponse.Status = .ok) {
    self.status = status
    body = json
  }

  init(_ value: JSONText, status: HTTPResponse.Status = .ok) { self.init(json: value.bytes, status: status) }

  /// Done, and nothing to say.
  static var noContent: Answer {
    var answer = Answer(json: [], status: .noContent)
    answer.contentType = nil
    return answer
  }

  init(_ refusal: Refusal) {
    self.init(
      .object([("error", .object([("code", .text(refusal.code)), ("message", .text(refusal.message))]))]),
      status: refusal.status)
    headers = refusal.headers
  }
}
