import DocumentFormat
import HTTPServer
import JSONFormat
import Platform
import RowFiles
import UploadQueue

extension Studio {
  func addQueue(to router: StudioRoutes) {
    add(router, .get, "studio/api/queue") { call in
      let state = try Self.state(call.query)
      let limit = try call.query.number("limit", in: 1...1000, standard: 100)
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
    addAsync(router, .get, "studio/api/queue.ndjson") { call in
      try await export(call.query, .ndjson, header: []) { Self.lines($0.map(\.json)) }
    }
    addAsync(router, .get, "studio/api/queue.csv") { call in
      let names = [
        "id", "kind", "state", "priority", "orderKey", "replaceKey", "created", "notBefore", "expires", "attempts",
        "lastError", "parked", "holdsKey", "payload", "files",
      ]
      return try await export(call.query, .csv, header: SheetRows.header(names)) { uploads in
        var csv: [UInt8] = []
        for upload in uploads {
          SheetRows.append(try DocumentValue(json: upload.json.bytes.span), names, to: &csv)
        }
        return csv
      }
    }
    add(router, .get, "studio/api/live") { _ in try uploadsByTarget() }
    addAsync(router, .post, "studio/api/queue/{id}/retry") { call in
      try checkDecidesUploads()
      let isRetried = try await withQueue { try await $0.retry(Self.uploadID(call)) }
      return Response(.object([("retried", .bool(isRetried))]))
    }
    addAsync(router, .post, "studio/api/queue/{id}/drop") { call in
      try checkDecidesUploads()
      try await withQueue { try await $0.drop(Self.uploadID(call)) }
      return Response(.object([("dropped", .bool(true))]))
    }
  }

  /// The number of uploads of an export, with their payloads, that are in memory at once.
  private static var exportCount: Int { 100 }
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

  /// Streams the uploads of one commit in a state, or those that wait for a parked one.
  private func export(
    _ query: StudioQuery, _ format: StreamFormat, header: [UInt8],
    _ lines: @escaping @Sendable ([Upload]) throws -> [UInt8]
  ) async throws -> Response {
    let isHeld = query["state"] == "held"
    let state = isHeld ? .waiting : try Self.state(query)
    let found = try await BlockingThread.run {
      let queue = try queue()
      return (keys: isHeld ? Set(try queue?.heldKeys().map(\.orderKey) ?? []) : nil, pages: try queue?.pages(state))
    }
    return Self.stream(format) { write in
      try await write(header)
      var next = found.pages
      while let pages = next {
        let part = try await BlockingThread.run {
          var pages = pages
          let uploads = try pages.next(Self.exportCount)
          if uploads.isEmpty { return (bytes: [UInt8](), next: UploadPages?.none) }
          let shown = uploads.filter { upload in
            found.keys.map { keys in upload.orderKey.map(keys.contains) ?? false } ?? true
          }
          return (bytes: try lines(shown), next: pages)
        }
        try await write(part.bytes)
        next = part.next
      }
    }
  }

  private static func state(_ query: StudioQuery) throws(ErrorResponse) -> UploadState? {
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

  private static func uploadID(_ call: ReceivedRequest) throws -> UploadID {
    guard let id = UploadID(call.name("id")) else {
      throw ErrorResponse.notFound("there is no upload \(call.name("id").debugDescription)")
    }
    return id
  }
}
