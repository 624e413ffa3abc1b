import HTTPServer
import JSONFormat
import ScanDaemon
import UploadQueue

extension DaemonAPI {
  var queueRoutes: [Route] {
    [
      Route(method: .get, path: "/v1/queue", work: .answer(queueState)),
      Route(method: .post, path: "/v1/queue/pause", work: .answer(pause)),
      Route(method: .post, path: "/v1/queue/resume", work: .answer(resume)),
      Route(method: .post, path: "/v1/queue/retry", body: .optional, members: ["states"], work: .answer(retry)),
      Route(method: .get, path: "/v1/queue/uploads", parameters: ["state", "limit"], work: .answer(uploads)),
      Route(method: .get, path: "/v1/queue/uploads/{id}", work: .answer(upload)),
      Route(method: .delete, path: "/v1/queue/uploads/{id}", work: .answer(dropUpload)),
      Route(method: .post, path: "/v1/queue/uploads/{id}/retry", work: .answer(retryUpload)),
    ]
  }

  @Sendable private func queueState(_ call: RouteCall) async throws -> Response {
    try await aside {
      let queue = try daemon.queue()
      return Response(try queue.counts().json(queue.pauses(), heldKeys: queue.heldKeys()))
    }
  }

  @Sendable private func pause(_ call: RouteCall) async throws -> Response {
    try await queue().pause()
    return try await queueState(call)
  }

  @Sendable private func resume(_ call: RouteCall) async throws -> Response {
    try await queue().resume()
    return try await queueState(call)
  }

  @Sendable private func retry(_ call: RouteCall) async throws -> Response {
    let names = try call.body.texts("states") ?? [UploadState.parked.rawValue]
    let states = names.compactMap { name in Self.retriedStates.first { $0.rawValue == name } }
    guard !states.isEmpty, states.count == names.count else {
      let all = Self.retriedStates.map(\.rawValue).joined(separator: ", ")
      throw ErrorResponse.badRequest("states: one or more of \(all)")
    }
    let uploads = try await queue()
    return Response(.object([("retried", .int(try await uploads.retryAll(Set(states))))]))
  }

  /// The states of uploads that can be retried by hand.
  private static let retriedStates: [UploadState] = [.parked, .waiting]

  @Sendable private func uploads(_ call: RouteCall) async throws -> Response {
    let limit = try call.query.limit()
    let states = UploadState.allCases.map(\.rawValue).joined(separator: ", ")
    let state = try call.query["state"].map { text in
      guard let state = UploadState(rawValue: text) else { throw ErrorResponse.badRequest("state: one of \(states)") }
      return state
    }
    return try await aside {
      let queue = try daemon.queue()
      return try Self.list("uploads") { add in
        var count = 0
        try queue.forEach(state) { upload in
          if count == limit { return false }
          count += 1
          return try add(upload.json)
        }
      }
    }
  }

  @Sendable private func upload(_ call: RouteCall) async throws -> Response {
    let id = try Self.uploadID(call)
    return try await aside {
      guard let upload = try daemon.queue().upload(id) else { throw UploadQueueError.unknown(id: id) }
      return Response(upload.json)
    }
  }

  @Sendable private func dropUpload(_ call: RouteCall) async throws -> Response {
    try await queue().drop(Self.uploadID(call))
    return .noContent
  }

  @Sendable private func retryUpload(_ call: RouteCall) async throws -> Response {
    try await queue().retry(Self.uploadID(call))
    return try await upload(call)
  }

  /// The signed-in user's queue; opening it may write.
  private func queue() async throws -> UploadQueue { try await aside { try daemon.queue() } }

  private static func uploadID(_ call: RouteCall) throws(ErrorResponse) -> UploadID {
    guard let id = UploadID(call.parameter) else {
      throw .notFound("\(call.parameter.debugDescription) is no id of an upload; GET /v1/queue/uploads lists them")
    }
    return id
  }
}
