import HTTPTypes
import Hummingbird
import JSONFormat

/// The bytes and the fields that a request is answered with.
struct Answer: Sendable {
  var status = HTTPResponse.Status.ok
  var body: [UInt8]
  /// `nil` for an answer without a body.
  var contentType: String? = Answer.json
  var headers = HTTPFields()

  static let json = "application/json"

  /// An answer of bytes that are JSON.
  init(json: [UInt8], status: HTTPResponse.Status = .ok) {
    self.status = status
    body = json
  }

  init(_ value: JSONText, status: HTTPResponse.Status = .ok) { self.init(json: value.bytes, status: status) }

  /// The answer without a body.
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

extension Answer: ResponseGenerator {
  func response(from request: Request, context: some RequestContext) -> Response {
    var fields = headers
    if let contentType { fields.append(HTTPField(name: .contentType, value: contentType)) }
    fields.append(HTTPField(name: .cacheControl, value: "no-store"))
    var response = Response(
      status: status, headers: fields, body: body.isEmpty ? .init() : .init(byteBuffer: ByteBuffer(bytes: body)))
    // An answer without content has no length (RFC 9110, 8.6).
    if status == .noContent { response.headers[.contentLength] = nil }
    return response
  }
}
