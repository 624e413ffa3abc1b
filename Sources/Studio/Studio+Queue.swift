import Hummingbird
import JSONFormat
import Storage
import UploadQueue

extension Studio {
  func addQueue(to router: Router<BasicRequestContext>) {
    add(router, .get, "studio/api/queue") { asked in
      let state = try Self.state(asked.query)
      let limit = try asked.query.number("limit", in: 1...1000, standard: 100)
      let queue = try queue()
      let counts = try queue?.counts()
      let uploads = try queue?.uploads(state, limit: limit) ?? []
      return .object([
        (
          "counts",
          .object([
            ("waiting", .int(counts?.waiting ?? 0)), ("sending", .int(counts?.sending ?? 0)),
            ("parked", .int(counts?.parked ?? 0)),
          ])
        ), ("uploads", .array(uploads.map(\.json))),
      ])
    }
    addAsync(router, .get, "studio/api/queue.ndjson") { asked in
      let state = try Self.state(asked.query)
      guard let queue = try await BlockingThread.run({ try queue() }) else { return Self.stream(.ndjson) { _ in } }
      let ids = try await BlockingThread.run { try Self.ids(of: queue, state) }
      return Self.stream(.ndjson) { write in
        for start in stride(from: 0, to: ids.count, by: 100) {
          let part = ids[start..<min(start + 100, ids.count)]
          // Uploads that were delivered in the meantime are left out.
          let bytes = try await BlockingThread.run {
            Self.lines(try part.compactMap { id in try queue.upload(id)?.json })
          }
          try await write(bytes)
        }
      }
    }
    add(router, .get, "studio/api/live") { _ in try uploadsByTarget() }
    addAsync(router, .post, "studio/api/queue/{id}/retry") { asked in
      try checkDecidesUploads()
      let isRetried = try await withQueue { try await $0.retry(Self.uploadID(asked)) }
      return Response(.object([("retried", .bool(isRetried))]))
    }
    addAsync(router, .post, "studio/api/queue/{id}/drop") { asked in
      try checkDecidesUploads()
      try await withQueue { try await $0.drop(Self.uploadID(asked)) }
      return Response(.object([("dropped", .bool(true))]))
    }
  }

  /// The largest number of uploads that are counted by target.
  private static var countLimit: Int { 10_000 }

  /// The uploads of each target by state, of the first ones of a long queue.
  private func uploadsByTarget() throws -> JSONText {
    var counts: [String: [UploadState: Int]] = [:]
    var names = stores.daemon?.targets ?? []
    var counted = 0
    var isComplete = true
    try queue()?.forEach { upload in
      if counted == Self.countLimit {
        isComplete = false
        return false
      }
      counted += 1
      if !names.contains(upload.kind) { names.append(upload.kind) }
      counts[upload.kind, default: [:]][upload.state, default: 0] += 1
      return true
    }
    let targets = names.map { name in
      JSONText.object(
        [("name", .text(name))]
          + [UploadState.waiting, .sending, .parked].map { ($0.rawValue, .int(counts[name]?[$0] ?? 0)) })
    }
    return .object([("targets", .array(targets)), ("complete", .bool(isComplete))])
  }

  /// The ids of all uploads in a state, which are few bytes each, unlike their payloads.
  private static func ids(of queue: UploadQueue, _ state: UploadState?) throws -> [UploadID] {
    var ids: [UploadID] = []
    try queue.forEach(state) { upload in
      ids.append(upload.id)
      return true
    }
    return ids
  }

  private static func state(_ query: StudioQuery) throws(StudioError) -> UploadState? {
    guard let text = query["state"] else { return nil }
    guard let state = UploadState(rawValue: text) else { throw .badRequest("state: waiting, sending or parked") }
    return state
  }

  /// Calls `body` with the queue, for decisions: the daemon's own, or one that is opened for it.
  private func withQueue<Result>(_ body: (UploadQueue) async throws -> Result) async throws -> Result {
    if let daemon = stores.daemon { return try await body(BlockingThread.run { try daemon.queue() }) }
    let documents = try stores.writableDocuments()
    defer { documents.close() }
    return try await body(UploadQueue(in: documents))
  }

  /// The queue, for reading; `nil` if there is none yet.
  private func queue() throws -> UploadQueue? {
    guard let documents = try stores.documents(),
      try UploadQueue.names(in: documents).contains(UploadQueue.defaultName)
    else { return nil }
    return try UploadQueue(in: documents, isReadOnly: true)
  }

  private static func uploadID(_ asked: Asked) throws -> UploadID {
    guard let id = UploadID(asked.name("id")) else {
      throw StudioError.notFound("there is no upload \(asked.name("id").debugDescription)")
    }
    return id
  }
}
