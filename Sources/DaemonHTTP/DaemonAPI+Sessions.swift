import Hummingbird
import JSONFormat
import ScanDaemon

extension DaemonAPI {
  /// The most bytes of a session's name.
  static let nameByteLimit = 200

  func addSessionRoutes(to routes: RouterGroup<DaemonContext>) {
    routes.get("v1/sessions", use: sessions)
    routes.group().add(middleware: optionalBody).post("v1/sessions", use: openSession)
    routes.get("v1/sessions/{id}", use: session)
    routes.delete("v1/sessions/{id}", use: removeSession)
    routes.group().add(middleware: requiredBody).post("v1/sessions/{id}/scans", use: addScans)
    routes.post("v1/sessions/{id}/close", use: closeSession)
  }

  @Sendable private func sessions(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let limit = try context.query.limit()
    return try await aside {
      let sessions = try daemon.sessions.list()
      return try Self.list("sessions") { add in
        for session in sessions.prefix(limit) where try !add(session.json) { break }
      }
    }
  }

  @Sendable private func openSession(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let name = try context.body.text("name")
    let input = try context.body.text("input")
    if let name, name.utf8.count > Self.nameByteLimit {
      throw Refusal.badRequest("name: at most \(Self.nameByteLimit) bytes")
    }
    if let input { try Self.check(input: input) }
    let session = try await daemon.sessions.open(name: name, input: input)
    var answer = try await aside { Answer(session.json, status: .created) }
    answer.headers[.location] = "/v1/sessions/\(session.id)"
    return answer
  }

  @Sendable private func session(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await aside { Answer(try daemon.sessions.session(context.parameter).json) }
  }

  @Sendable private func addScans(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let codes: [String]
    switch (try context.body.text("code"), try context.body.texts("codes")) {
    case (let code?, nil): codes = [code]
    case (nil, let list?): codes = list
    default: throw Refusal.badRequest("one of code (a text) and codes (an array of text)")
    }
    try Self.check(count: codes.count, "codes")
    for code in codes { try Self.check(code) }
    let session = try await daemon.sessions.add(codes, to: context.parameter)
    return try await aside { Answer(session.json) }
  }

  @Sendable private func closeSession(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let session = try await daemon.sessions.close(context.parameter)
    return try await aside { Answer(session.json) }
  }

  @Sendable private func removeSession(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await daemon.sessions.remove(context.parameter)
    return .noContent
  }
}
