import HTTPTypes
import Hummingbird
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
  private func ask(_ query: Query, _ headers: HTTPFields) throws(Refusal) -> Ask {
    var kinds = Set(EventKind.allCases)
    if let text = query["kinds"] {
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
    let text = headers[.lastEventID] ?? query["lastEventId"] ?? ""
    if text.isEmpty { return Ask(after: nil, kinds: kinds) }
    guard let id = EventID(text) else {
      throw .badRequest("Last-Event-ID: the id of an event, as this stream gives it")
    }
    return Ask(after: id, kinds: kinds)
  }

  /// The stream of events.
  ///
  /// - Throws: A refusal with status 400, or 503 if too many listen.
  func response(to request: Request, _ context: DaemonContext) throws(Refusal) -> Response {
    let ask = try ask(context.query, request.headers)
    let fields: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
    if request.method == .head {
      return Response(status: .ok, headers: fields, body: .init { writer in try await writer.finish(nil) })
    }
    let listener = Listener(self)
    if listener.number > limit {
      throw Refusal(
        .serviceUnavailable, "tooManyListeners", "\(limit) listen already; end one, or configure more",
        headers: [.retryAfter: "5"])
    }
    // Before the head: what happens from the moment on at which the listener knows that it listens is in the stream.
    let events = log.events(after: ask.after)
    return Response(
      status: .ok, headers: fields,
      body: .init { [self] writer in
        let body = Body(writer)
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          try await write(events, ask.kinds, to: body)
        }
        withExtendedLifetime(listener) {}
      })
  }

  /// Counts a listener for as long as its answer lives, whether the answer is written or not.
  private final class Listener: Sendable {
    private let streams: EventStreams
    /// How many listen, this one included, when it comes.
    let number: Int

    init(_ streams: EventStreams) {
      self.streams = streams
      number = streams.count.add(1, ordering: .relaxed).newValue
    }

    deinit { streams.count.subtract(1, ordering: .relaxed) }
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
