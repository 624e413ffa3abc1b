import Hummingbird
import JSONFormat
import ScanDaemon
import UploadQueue

extension DaemonAPI {
  func addQueueRoutes(to routes: RouterGroup<DaemonContext>) {
    routes.get("v1/queue", use: queueState)
    routes.post("v1/queue/pause", use: pause)
    routes.post("v1/queue/resume", use: resume)
    routes.group().add(middleware: optionalBody).post("v1/queue/retry", use: retry)
    routes.get("v1/queue/uploads", use: uploads)
    routes.get("v1/queue/uploads/{id}", use: upload)
    routes.delete("v1/queue/uploads/{id}", use: dropUpload)
    routes.post("v1/queue/uploads/{id}/retry", use: retryUpload)
  }

  @Sendable private func queueState(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await aside {
      let queue = try daemon.queue()
      return Answer(try queue.counts().json(queue.pauses(), heldKeys: queue.heldKeys()))
    }
  }

  @Sendable private func pause(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await queue().pause()
    return try await queueState(request, context)
  }

  @Sendable private func resume(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await queue().resume()
    return try await queueState(request, context)
  }

  @Sendable private func retry(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let names = try context.body.texts("states") ?? [UploadState.parked.rawValue]
    let states = names.compactMap { name in Self.retriedStates.first { $0.rawValue == name } }
    guard !states.isEmpty, states.count == names.count else {
      let all = Self.retriedStates.map(\.rawValue).joined(separator: ", ")
      throw Refusal.badRequest("states: one or more of \(all)")
    }
    let uploads = try await queue()
    return Answer(.object([("retried", .int(try await uploads.retryAll(Set(states))))]))
  }

  /// The states that somebody can end by hand without dropping the upload.
  private static let retriedStates: [UploadState] = [.parked, .waiting]

  @Sendable private func uploads(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let limit = try context.query.limit()
    let states = UploadState.allCases.map(\.rawValue).joined(separator: ", ")
    let state = try context.query["state"].map { text in
      guard let state = UploadState(rawValue: text) else { throw Refusal.badRequest("state: one of \(states)") }
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

  @Sendable private func upload(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    let id = try Self.uploadID(context)
    return try await aside {
      guard let upload = try daemon.queue().upload(id) else { throw UploadQueueError.unknown(id: id) }
      return Answer(upload.json)
    }
  }

  @Sendable private func dropUpload(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await queue().drop(Self.uploadID(context))
    return .noContent
  }

  @Sendable private func retryUpload(_ request: Request, _ context: DaemonContext) async throws -> Answer {
    try await queue().retry(Self.uploadID(context))
    return try await upload(request, context)
  }

  /// The queue of who is signed in; opening it may write.
  private func queue() async throws -> UploadQueue { try await aside { try daemon.queue() } }

  private static func uploadID(_ context: DaemonContext) throws(Refusal) -> UploadID {
    guard let id = UploadID(context.parameter) else {
      throw .notFound("\(context.parameter.debugDescription) is no id of an upload; GET /v1/queue/uploads lists them")
    }
    return id
  }
}
