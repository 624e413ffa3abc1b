import HTTPTypes
import HummingbirdCore
import NIOCore
import ScanDaemon
import ServiceLifecycle
import Synchronization

/// The listeners of `GET /v1/events`.
///
/// A listener has one event in memory: the next one is taken from the log when the connection took the one before. One that is
/// too slow finds a gap there.
final class EventStreams: Sendable {
  private let log: EventLog
  private let limit: Int
  /// After so long without an event a comment says that the stream lives.
  private let heartbeat: Duration
  /// Listeners now. No other memory depends on it.
  private let count = Atomic(0)

  init(_ log: EventLog, limit: Int, heartbeat: Duration) {
    self.log = log
    self.limit = limit
    self.heartbeat = heartbeat
  }

  /// How many listen now.
  var listenerCount: Int { count.load(ordering: .relaxed) }

  /// What a listener wants.
  struct Ask: Sendable {
    var after: EventID?
    var kinds: Set<EventKind>
  }

  /// - Throws: a refusal with status 400.
  func ask(_ call: Call, _ headers: HTTPFields) throws(Refusal) -> Ask {
    var kinds = Set(EventKind.allCases)
    if let text = call.query["kinds"] {
      kinds = []
      for name in text.split(separator: ",") {
        guard let kind = EventKind(rawValue: String(name)) else {
          let all = EventKind.allCases.map(\.rawValue).joined(separator: ", ")
          throw .badRequest("kinds: some of \(all), with commas between them")
        }
        kinds.insert(kind)
      }
    }
    // Nobody can do without: it says that others are missing.
    kinds.insert(.gap)
    let text = headers[.lastEventID] ?? call.query["lastEventId"] ?? ""
    if text.isEmpty { return Ask(after: nil, kinds: kinds) }
    guard let id = EventID(text) else {
      throw .badRequest("Last-Event-ID: the id of an event, as this stream gives it")
    }
    return Ask(after: id, kinds: kinds)
  }

  func serve(
    _ ask: Ask, _ request: Request, isHead: Bool, _ writer: consuming ResponseWriter, _ channel: any Channel,
    headers: HTTPFields
  ) async throws {
    var headers = headers
    headers[.cacheControl] = "no-store"
    // The place is taken before anything is written, so that there is never one too many.
    let isFull = !isHead && count.add(1, ordering: .relaxed).newValue > limit
    defer { if !isHead { count.subtract(1, ordering: .relaxed) } }
    if isFull {
      let answer = Answer(
        Refusal.unavailable("tooManyListeners", "\(limit) listen already; end one, or configure more"))
      headers[.contentType] = answer.contentType
      headers[.contentLength] = String(answer.body.count)
      headers[.retryAfter] = "5"
      return try await writer.write(
        response: HTTPResponse(status: answer.status, headerFields: headers),
        body: .init(byteBuffer: ByteBuffer(bytes: answer.body)))
    }
    headers[.contentType] = "text/event-stream"
    let head = HTTPResponse(status: .ok, headerFields: headers)
    if isHead { return try await writer.writeResponse(head) }
    // Before the head: what happens from the moment on at which the listener knows that it listens is in the stream.
    let events = log.events(after: ask.after)
    let body = Body(try await writer.writeHead(head))
    try await request.body.consumeWithCancellationOnInboundClose { _ in
      try await self.write(events, ask.kinds, to: body)
    }
  }

  private func write(_ events: AsyncStream<DaemonEvent>, _ kinds: Set<EventKind>, to body: Body) async throws {
    try await body.write(EventStreamEncoder.beginning)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [heartbeat] in
        while true {
          try await Task.sleep(for: heartbeat)
          try await body.write(EventStreamEncoder.comment)
        }
      }
      var lastWrite = ContinuousClock.now
      for await event in events.cancelOnGracefulShutdown() {
        if kinds.contains(event.kind) {
          try await body.write(EventStreamEncoder.bytes(event))
        } else if ContinuousClock.now - lastWrite >= heartbeat {
          // Else who listens to rare events would find a gap where none of theirs is missing.
          try await body.write(EventStreamEncoder.bytes(id: event.id))
        } else {
          continue
        }
        lastWrite = .now
      }
      group.cancelAll()
    }
    try await body.finish()
  }

  /// The body of a stream, for the two tasks that write it.
  ///
  /// `@unchecked`: the writer behind it is Hummingbird's handle for a NIO outbound writer, which takes whole buffers from any
  /// number of tasks. Its protocol does not say so. Each call works on a copy of the handle.
  private struct Body: @unchecked Sendable {
    private let writer: any ResponseBodyWriter

    init(_ writer: any ResponseBodyWriter) { self.writer = writer }

    func write(_ bytes: [UInt8]) async throws {
      var writer = writer
      try await writer.write(ByteBuffer(bytes: bytes))
    }

    func finish() async throws { try await writer.finish(nil) }
  }
}

extension HTTPField.Name {
  /// Where a listener stands (HTML, 9.2.4).
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
