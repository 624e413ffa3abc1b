import HTTPTypes

/// Why a request is not granted: a status, a name for programs, and words that say what to do.
struct Refusal: Error, Sendable, Equatable {
  var status: HTTPResponse.Status
  var code: String
  var message: String
  /// Headers that belong to the status, such as `Allow`.
  var headers = HTTPFields()

  init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
    self.status = status
    self.code = code
    self.message = message
    self.headers = headers
  }
}

extension Refusal {
  /// An invalid request.
  static func badRequest(_ message: String) -> Refusal { Refusal(.badRequest, "badRequest", message) }

  static func notFound(_ message: String) -> Refusal { Refusal(.notFound, "notFound", message) }

  static func conflict(_ code: String, _ message: String) -> Refusal { Refusal(.conflict, code, message) }

  static func unavailable(_ code: String, _ message: String) -> Refusal {
    Refusal(.serviceUnavailable, code, message)
  }
}
