import HTTPServer
import HTTPTypes
import NIOCore
import ScanDaemon

/// The function from requests to responses: it checks access, finds the route, and reads the body.
///
/// The hot path is `GET /v1/scan/{code}`: the path is split and looked up in a table, the access control compares a few
/// bytes, the code is looked up in mapped memory on the thread that read the request, and the response is written once,
/// as bytes together with its head. It uses no coder, no log line and no other thread.
struct RequestHandler: Sendable {
  private let routes: [Route]
  private let table: RouteTable
  let accessControl: AccessControl
  /// The pages of the studio and their data; `nil` if they are not served.
  let studio: StudioFront?
  /// The publication's files; `nil` if they are not served.
  let publication: PublicationFront?
  let events: EventStreams
  let maximumBodyByteCount: Int
  let metrics: ServerMetrics
  /// The problems that responses with status 500 are reported to. This limits how often they are logged.
  let problems: Problems

  init(
    routes: [Route], accessControl: AccessControl, studio: StudioFront?, publication: PublicationFront?,
    events: EventStreams,
    maximumBodyByteCount: Int, metrics: ServerMetrics, problems: Problems
  ) {
    self.routes = routes
    table = RouteTable(routes.map { ($0.method, $0.path) })
    self.accessControl = accessControl
    self.studio = studio
    self.publication = publication
    self.events = events
    self.maximumBodyByteCount = maximumBodyByteCount
    self.metrics = metrics
    self.problems = problems
  }

  private enum Outcome {
    case answer(Response)
    case events(EventStreams.Subscription)
  }

  func respond(
    to request: HTTPRequest, _ body: RequestBody, _ writer: consuming ResponseWriter, _ channel: any Channel
  ) async throws {
    if let studio, StudioFront.takes(request) {
      return try await respond(with: studio, to: request, body, writer, channel)
    }
    if let publication, PublicationFront.takes(request) {
      return try await respond(with: publication, to: request, writer, channel)
    }
    let outcome: Outcome
    var path = ServerMetrics.noRoute
    do {
      let (route, call) = try admit(request, channel, &path)
      switch route?.work {
      case nil: outcome = .answer(options(request, allowed: call.parameter))
      case .immediate(let work)?: outcome = .answer(try work(call))
      case .events?: outcome = .events(try events.subscription(call, request.headerFields))
      case .answer(let work)?:
        var call = call
        if let route, route.body != .none { call.body = try await members(of: request, body, route) }
        outcome = .answer(try await work(call))
      }
    } catch let error as ErrorResponse {
      outcome = .answer(Response(error))
    } catch let error as BodyInterrupted {
      // The connection is gone, so no response can be sent.
      throw error
    } catch {
      let errorResponse = ErrorResponse(ofDaemon: error)
      if errorResponse.status == .internalServerError {
        problems.report(.requestsFailing, "\(error)", about: "\(request.method) \(path)", endsAfter: .seconds(60))
      }
      outcome = .answer(Response(errorResponse))
    }
    let headers = accessControl.crossOrigin.fields(request) ?? HTTPFields()
    switch outcome {
    case .answer(let answer):
      metrics.count(request.method, route: path, status: answer.status)
      write(answer, headers, writer)
    case .events(let subscription):
      metrics.count(request.method, route: path, status: .ok)
      try await events.serve(subscription, body, isHead: request.method == .head, writer, headers: headers)
    }
  }

  /// Answers a request with the studio, which checks host, origin and token itself.
  private func respond(
    with studio: StudioFront, to request: HTTPRequest, _ body: RequestBody, _ writer: consuming ResponseWriter,
    _ channel: any Channel
  ) async throws {
    do throws(ErrorResponse) {
      try accessControl.admit(
        toStudio: request, caller: Caller.name(channel), now: Double(NIODeadline.now().uptimeNanoseconds) / 1e9)
    } catch {
      metrics.count(request.method, route: Self.studioRoute, status: error.status)
      return write(Response(error), HTTPFields(), writer)
    }
    let listens = request.method != .head && StudioFront.listens(request)
    if listens, !events.enter() {
      let refusal = events.refusal
      metrics.count(request.method, route: Self.studioRoute, status: refusal.status)
      return write(Response(refusal), HTTPFields(), writer)
    }
    defer { if listens { events.leave() } }
    let response = try await studio.respond(to: request, body)
    metrics.count(request.method, route: Self.studioRoute, status: response.status)
    guard listens, case .stream(let write) = response.body else { return try await writer.send(response) }
    // A listener that has gone makes room for another one at once.
    let bodyWriter = writer.begin(response.head)
    try await body.cancellingWhenClientCloses { try await write(bodyWriter) }
    bodyWriter.finish()
  }

  /// Answers a request for a file of the publication, which needs no token.
  private func respond(
    with publication: PublicationFront, to request: HTTPRequest, _ writer: consuming ResponseWriter,
    _ channel: any Channel
  ) async throws {
    let response: Response
    do {
      try accessControl.admit(
        toPublication: request, caller: Caller.name(channel), now: Double(NIODeadline.now().uptimeNanoseconds) / 1e9)
      response = try await publication.respond(to: request)
    } catch {
      let errorResponse = error as? ErrorResponse ?? ErrorResponse(ofDaemon: error)
      if errorResponse.status == .internalServerError {
        problems.report(
          .requestsFailing, "\(error)", about: "\(request.method) \(PublicationFront.route)", endsAfter: .seconds(60))
      }
      metrics.count(request.method, route: PublicationFront.route, status: errorResponse.status)
      return write(Response(errorResponse), HTTPFields(), writer)
    }
    metrics.count(request.method, route: PublicationFront.route, status: response.status)
    try await writer.send(response)
  }

  /// The name of the studio's requests in metrics.
  static let studioRoute = "/studio"

  /// Returns the route of a request that is allowed; `nil`, with the allowed methods as the call's parameter, for
  /// `OPTIONS`.
  ///
  /// - Parameter path: Set to the path of the matching routes, if any.
  private func admit(
    _ head: HTTPRequest, _ channel: any Channel, _ path: inout String
  ) throws(ErrorResponse) -> (Route?, RouteCall) {
    let target: RequestTarget
    do throws(ErrorResponse) {
      target = try RequestTarget(head.path ?? "")
    } catch {
      try admit(head, nil, channel)
      // RFC 9110, 9.3.7: a request for the options of the server itself.
      if head.method == .options, head.path == "*" { return (nil, RouteCall(parameters: ["GET, HEAD, OPTIONS"])) }
      throw error
    }
    guard let match = table.match(target.segments) else {
      try admit(head, nil, channel)
      throw .notFound("there is nothing at this path; GET /openapi.json lists what there is")
    }
    path = match.path
    let route = match[head.method].map { routes[$0] }
    try admit(head, route?.access, channel)
    if let route {
      try route.check(target.query)
      return (route, RouteCall(parameters: match.parameters, query: target.query))
    }
    if head.method == .options { return (nil, RouteCall(parameters: [match.allowed])) }
    throw ErrorResponse(
      .methodNotAllowed, "methodNotAllowed", "this path knows \(match.allowed)", headers: [.allow: match.allowed])
  }

  private func admit(_ head: HTTPRequest, _ access: Route.Access?, _ channel: any Channel) throws(ErrorResponse) {
    try accessControl.admit(
      head, to: access, caller: Caller.name(channel),
      now: Double(NIODeadline.now().uptimeNanoseconds) / 1e9)
  }

  // MARK: Bodies

  private struct BodyInterrupted: Error {}

  private func bodyLength(_ request: HTTPRequest) -> Int? { request.headerFields[.contentLength].flatMap(Int.init) }

  /// The members of a request's body.
  private func members(of request: HTTPRequest, _ body: RequestBody, _ route: Route) async throws -> BodyMembers {
    if let type = request.headerFields[.contentType], !AccessRules.isJSON(type) {
      throw ErrorResponse(
        .unsupportedMediaType, "unsupportedMediaType", "send JSON, with Content-Type: application/json or without one")
    }
    if let encoding = request.headerFields[.contentEncoding], encoding.lowercased() != "identity" {
      throw ErrorResponse(
        .unsupportedMediaType, "unsupportedContentEncoding", "send the body as it is, without Content-Encoding",
        headers: [.acceptEncoding: "identity"])
    }
    let tooLarge = ErrorResponse.bodyTooLarge(limit: maximumBodyByteCount)
    var isTooLarge = bodyLength(request) ?? 0 > maximumBodyByteCount
    // A client that waits for `100 Continue` sends no body now.
    if isTooLarge, Self.waits(request) { throw tooLarge }
    var bytes: [UInt8] = []
    var count = 0
    do {
      // A body can be read only once. A body that is too large is received nevertheless, up to a limit, so that its
      // sender reads the response and not a reset.
      while let buffer = try await body.next() {
        count += buffer.readableBytes
        isTooLarge = isTooLarge || count > maximumBodyByteCount
        if !isTooLarge {
          bytes += buffer.readableBytesView
        } else if count > Self.skipByteLimit {
          throw BodyInterrupted()
        } else {
          bytes = []
        }
      }
    } catch {
      throw BodyInterrupted()
    }
    if isTooLarge { throw tooLarge }
    if bytes.isEmpty {
      if route.body == .optional { return BodyMembers() }
      throw ErrorResponse.badRequest("the body is empty; send a JSON object")
    }
    let members = try JSONBody(bytes).members()
    try route.check(members)
    return members
  }

  /// The maximum number of bytes of a body to receive and discard. A body with a larger announced size never arrives
  /// here.
  static let skipByteLimit = 16 << 20

  /// Whether the client sends the body only after `100 Continue`.
  private static func waits(_ request: HTTPRequest) -> Bool {
    request.headerFields[.expect]?.lowercased() == "100-continue"
  }

  // MARK: Writing

  /// - Parameter crossOrigin: The fields to add to each response.
  private func write(_ answer: Response, _ crossOrigin: HTTPFields, _ writer: consuming ResponseWriter) {
    var headers = answer.headers
    for field in crossOrigin { headers.append(field) }
    headers[.cacheControl] = "no-store"
    writer.send(HTTPResponse(status: answer.status, headerFields: headers), body: answer.bytes)
  }

  /// The response to `OPTIONS` for a path.
  private func options(_ head: HTTPRequest, allowed: String) -> Response {
    var answer = Response.noContent
    if CrossOrigin.isPreflight(head) {
      answer.headers = accessControl.crossOrigin.preflightFields(head, methods: allowed)
    }
    answer.headers[.allow] = allowed
    return answer
  }
}
