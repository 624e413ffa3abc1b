import Hummingbird
import JSONFormat
import Storage
import UploadQueue

extension Studio {
  func addQueue(to router: Router<BasicRequestContext>) {
    add(router, .get, "studio/api/queue") { asked in
      var state: UploadState?
      if let text = asked.query["state"] {
        guard let known = UploadState(rawValue: text) else {
          throw StudioError.badRequest("state: waiting, sending or parked")
        }
        state = known
      }
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
    addAsync(router, .get, "studio/api/queue.ndjson") { _ in
      let bytes = try await BlockingThread.run { Self.lines(try queue()?.uploads().map(\.json) ?? []) }
      return Self.stream(.ndjson) { write in try await write(bytes) }
    }
    addAsync(router, .post, "studio/api/queue/{id}/retry") { asked in
      try checkEditable()
      let documents = try stores.writableDocuments()
      defer { documents.close() }
      let isRetried = try await UploadQueue(in: documents).retry(Self.uploadID(asked))
      return Response(.object([("retried", .bool(isRetried))]))
    }
    addAsync(router, .post, "studio/api/queue/{id}/drop") { asked in
      try checkEditable()
      let documents = try stores.writableDocuments()
      defer { documents.close() }
      try await UploadQueue(in: documents).drop(Self.uploadID(asked))
      return Response(.object([("dropped", .bool(true))]))
    }
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
