import HTTPServer
import JSONFormat
import ScanDaemon

extension DaemonAPI {
  /// The maximum length of a session's name in bytes.
  static let nameByteLimit = 200

  var sessionRoutes: [Route] {
    [
      Route(method: .get, path: "/v1/sessions", parameters: ["limit"], work: .answer(sessions)),
      Route(
        method: .post, path: "/v1/sessions", body: .optional, members: ["name", "input"], work: .answer(openSession)),
      Route(method: .get, path: "/v1/sessions/{id}", work: .answer(session)),
      Route(method: .delete, path: "/v1/sessions/{id}", work: .answer(removeSession)),
      Route(
        method: .post, path: "/v1/sessions/{id}/scans", body: .required, members: ["code", "codes"],
        work: .answer(addScans)),
      Route(method: .post, path: "/v1/sessions/{id}/close", work: .answer(closeSession)),
    ]
  }

  @Sendable private func sessions(_ call: RouteCall) async throws -> Response {
    let limit = try call.query.limit()
    return try await aside {
      let sessions = try daemon.sessions.list()
      return try Self.list("sessions") { add in
        for session in sessions.prefix(limit) where try !add(session.json) { break }
      }
    }
  }

  @Sendable private func openSession(_ call: RouteCall) async throws -> Response {
    let name = try call.body.text("name")
    let input = try call.body.text("input")
    if let name, name.utf8.count > Self.nameByteLimit {
      throw ErrorResponse.badRequest("name: at most \(Self.nameByteLimit) bytes")
    }
    if let input { try Self.check(input: input) }
    let session = try await daemon.sessions.open(name: name, input: input)
    var answer = try await aside { Response(session.json, status: .created) }
    // Relative to the path of the request, which a proxy may have shortened.
    answer.headers[.location] = "sessions/\(session.id)"
    return answer
  }

  @Sendable private func session(_ call: RouteCall) async throws -> Response {
    try await aside { Response(try daemon.sessions.session(call.parameter).json) }
  }

  @Sendable private func addScans(_ call: RouteCall) async throws -> Response {
    let codes: [String]
    switch (try call.body.text("code"), try call.body.texts("codes")) {
    case (let code?, nil): codes = [code]
    case (nil, let list?): codes = list
    default: throw ErrorResponse.badRequest("one of code (a text) and codes (an array of text)")
    }
    try Self.check(count: codes.count, "codes")
    for code in codes { try Self.check(code) }
    let session = try await daemon.sessions.add(codes, to: call.parameter)
    return try await aside { Response(session.json) }
  }

  @Sendable private func closeSession(_ call: RouteCall) async throws -> Response {
    let session = try await daemon.sessions.close(call.parameter)
    return try await aside { Response(session.json) }
  }

  @Sendable private func removeSession(_ call: RouteCall) async throws -> Response {
    try await daemon.sessions.remove(call.parameter)
    return .noContent
  }
}
