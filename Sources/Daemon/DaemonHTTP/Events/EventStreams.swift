import HTTPServer
import HTTPSupport
import HTTPTypes
import ScanDaemon
import ServiceLifecycle
import Synchronization

/// The listeners of `GET /v1/events`.
///
/// Each listener has one event in memory: the next one is read from the log when the connection has accepted the
/// previous one. A listener that is too slow receives a gap.
final class EventStreams: Sendable {
  private let log: EventLog
  private let limit: Int
  /// The time without an event after which a heartbeat is sent.
  private let heartbeat: Duration
  /// The number of listeners. Relaxed, because no other memory depends on it.
  private let count = Atomic(0)

  init(_ log: EventLog, limit: Int, heartbeat: Duration) {
    self.log = log
    self.limit = limit
    self.heartbeat = heartbeat
  }

  /// The options of a listener's request.
  struct Subscription: Sendable {
    var after: EventID?
    var kinds: Set<EventKind>
    /// Whether the data of scans tells how long the answer took.
    var showsLatency = false
  }

  /// - Throws: `ErrorResponse` with status 400.
  func subscription(_ call: RouteCall, _ headers: HTTPFields) throws(ErrorResponse) -> Subscription {
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
    // Every listener receives gaps, which report missing events.
    kinds.insert(.gap)
    let showsLatency = try call.query.flag("latency")
    let text = headers[.lastEventID] ?? call.query["lastEventId"] ?? ""
    if text.isEmpty { return Subscription(after: nil, kinds: kinds, showsLatency: showsLatency) }
    guard let id = EventID(text) else {
      throw .badRequest("Last-Event-ID: the id of an event, as this stream gives it")
    }
    return Subscription(after: id, kinds: kinds, showsLatency: showsLatency)
  }

  /// Counts a listener. One that is counted has to ``leave()``.
  ///
  /// - Returns: Whether there was room for it.
  func enter() -> Bool {
    if count.add(1, ordering: .relaxed).newValue <= limit { return true }
    leave()
    return false
  }

  /// Ends the count of a listener.
  func leave() { count.subtract(1, ordering: .relaxed) }

  /// The answer to a listener that there is no room for.
  var refusal: ErrorResponse {
    .unavailable("tooManyListeners", "\(limit) listen already; end one, or configure more")
  }

  func serve(
    _ subscription: Subscription, _ request: RequestBody, isHead: Bool, _ writer: consuming ResponseWriter,
    headers: HTTPFields
  ) async throws {
    var headers = headers
    headers.setUnbuffered()
    // The listener is counted before anything is written, so that the limit is never exceeded.
    let isFull = !isHead && !enter()
    defer { if !isHead, !isFull { leave() } }
    if isFull {
      let answer = Response(refusal)
      headers[.contentType] = answer.headers[.contentType]
      headers[.retryAfter] = "5"
      return writer.send(HTTPResponse(status: answer.status, headerFields: headers), body: answer.bytes)
    }
    headers[.contentType] = "text/event-stream"
    let head = HTTPResponse(status: .ok, headerFields: headers)
    if isHead { return writer.begin(head).finish() }
    // Subscribe before the head is written: the stream contains all events from the time at which the listener sees the
    // head.
    let events = log.events(after: subscription.after)
    let body = writer.begin(head)
    try await request.cancellingWhenClientCloses { try await self.write(events, subscription, to: body) }
    body.finish()
  }

  private func write(
    _ events: AsyncStream<DaemonEvent>, _ subscription: Subscription, to body: BodyWriter
  ) async throws {
    try await body.write(ServerSentEvents.beginning)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [heartbeat] in
        while true {
          try await Task.sleep(for: heartbeat)
          try await body.write(ServerSentEvents.comment)
        }
      }
      var lastWrite = ContinuousClock.now
      for await event in events.cancelOnGracefulShutdown() {
        if subscription.kinds.contains(event.kind) {
          try await body.write(EventStreamEncoder.bytes(event, showsLatency: subscription.showsLatency))
        } else if ContinuousClock.now - lastWrite >= heartbeat {
          // Otherwise a listener to rare events would receive a gap although none of its events is missing.
          try await body.write(ServerSentEvents.bytes(id: event.id.description))
        } else {
          continue
        }
        lastWrite = .now
      }
      group.cancelAll()
    }
  }
}

extension HTTPField.Name {
  /// The listener's position (HTML, 9.2.4).
  static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
