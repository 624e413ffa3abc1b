import HTTPTypes
import NIOCore
import NIOHTTP1

/// Answers requests that never reach a route: those that the parser refuses, that arrive too slowly, that use a transfer coding
/// other than `chunked`, and those of connections beyond a limit (``ConnectionLimiter``).
///
/// The answer waits for its turn: those to earlier requests of the connection are written first. Then the connection ends. What
/// the peer still sends is read for a moment and dropped, as a peer that is reset while it sends may never see the answer.
///
/// It handles the parser's words, and ``HeadWatch``, in front of the parser, tells it of bytes.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// For how long a connection is read on after the answer that ends it.
  static let lingerTimeout: TimeAmount = .seconds(1)
  /// The same where there are too many connections: until it is over, it is one of them.
  static let refusedLingerTimeout: TimeAmount = .milliseconds(200)
  /// How long the head of a request may take to arrive on a connection of the reserve.
  static let reserveHeadTimeout: TimeAmount = .seconds(2)
  /// The same once another connection has replaced it: its request may be there, and not be read yet.
  static let replacedHeadTimeout: TimeAmount = .milliseconds(200)
  /// The most bytes of a request's target, and of one of its fields.
  static let maximumFieldByteCount = 16 << 10
  /// The most bytes of all fields together.
  static let maximumHeadByteCount = 32 << 10
  /// The most fields.
  static let maximumFieldCount = 100
  /// What connections of the reserve may ask for.
  static let healthPaths: Set<Substring> = ["/healthz", "/readyz"]

  private let limiter: ConnectionLimiter
  private let caller: String?
  private let headTimeout: TimeAmount
  /// A request that announces a longer body is refused at once.
  private let maximumBodyByteCount: Int
  private let date: HTTPDate
  private let metrics: ServerMetrics?
  /// Set from the moment when the handler is added until the channel is closed.
  private var connection: ConnectionLimiter.Connection?
  private var context: ChannelHandlerContext?

  /// Requests whose answers have not ended, one that is refused included.
  private var unanswered = 0
  /// Whether the last request that began has not arrived whole.
  private var isArriving = false
  /// Whether the head of the answer to the first unanswered request is written.
  private var hasBegunAnswer = false
  /// Whether a request has been answered on this connection.
  private var hasAnswered = false
  /// The method of the last request that began, if the parser knows it.
  private var method: HTTPMethod?
  /// The rest of what arrives is dropped, and the connection ends with the last answer.
  private var ending = Ending.no
  private var headDeadline: Scheduled<Void>?
  /// Whether bytes of a head are there that is not whole.
  private var hasPartOfHead = false
  /// What the parser is reading.
  private var bytes: ByteBuffer?
  /// Bytes of that head's first line which the parser has read.
  private var lineByteCount = 0
  /// Whether that line is whole.
  private var isLineWhole = false

  private enum Ending {
    case no
    /// After the answer that is being written.
    case afterAnswer
    /// With this answer, in its turn.
    case with(Refusal)
    /// The last answer is written.
    case done
  }

  /// - Parameters:
  ///   - caller: The peer's address for the limiter, or `nil`.
  ///   - headTimeout: How long a head may take to arrive: from its first byte on, and the first one from the connection on.
  ///   - maximumBodyByteCount: The most bytes of a body that a request may announce. Where it is more than a route takes, that
  ///     refuses the rest.
  init(
    limiter: ConnectionLimiter, caller: String?, headTimeout: TimeAmount, maximumBodyByteCount: Int, date: HTTPDate,
    metrics: ServerMetrics?
  ) {
    self.limiter = limiter
    self.caller = caller
    self.headTimeout = headTimeout
    self.maximumBodyByteCount = maximumBodyByteCount
    self.date = date
    self.metrics = metrics
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    let connection = limiter.admit(caller) { eventLoop.execute { bound.value.giveWay() } }
    self.connection = connection
    context.channel.closeFuture.whenComplete { [limiter] _ in limiter.release(connection) }
    if context.channel.isActive { begin(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    headDeadline?.cancel()
    self.context = nil
    // It holds this.
    connection = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    if connection?.admission == .nothing { return refuse(.tooManyConnections, context) }
    watchHead(context)
  }

  func channelInactive(context: ChannelHandlerContext) {
    headDeadline?.cancel()
    ending = .done
    context.fireChannelInactive()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .no = ending else { return }
    switch unwrapInboundIn(data) {
    case .head(var head):
      headDeadline?.cancel()
      headDeadline = nil
      hasPartOfHead = false
      isArriving = true
      method = head.method
      unanswered += 1
      connection?.receives()
      if let refusal = refusal(head) { return refuse(refusal, context, isCounted: true) }
      if connection?.admission == .health || head.endsConnection {
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        return context.fireChannelRead(wrapInboundOut(.head(head)))
      }
    case .body: break
    case .end:
      isArriving = false
      if unanswered > 0 { connection?.answers() } else { connection?.waits() }
    }
    context.fireChannelRead(data)
  }

  private func refusal(_ head: HTTPRequestHead) -> Refusal? {
    if head.headers.contains(name: "Transfer-Encoding"),
      head.headers[canonicalForm: "Transfer-Encoding"].contains(where: { $0.lowercased() != "chunked" })
    {
      return .unknownTransferCoding
    }
    if let length = head.headers.first(name: "Content-Length").flatMap(Int.init), length > maximumBodyByteCount {
      return .bodyTooLarge(limit: maximumBodyByteCount)
    }
    if connection?.admission == .health, !Self.healthPaths.contains(head.uri.prefix { $0 != "?" }) {
      return .tooManyConnections
    }
    return nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // One that was refused already may go on to send what the parser cannot take.
    guard case .no = ending else { return }
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    if !isArriving { method = nil }
    refuse(Refusal(error, isLongLine: isLineTooLong), context, isCounted: isArriving)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .done = ending, case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  // MARK: The time of a head

  /// Bytes are there, which the parser has not seen.
  func willRead(_ bytes: ByteBuffer) {
    if isArriving { return }
    if !hasPartOfHead { (hasPartOfHead, lineByteCount, isLineWhole) = (true, 0, false) }
    self.bytes = bytes
  }

  /// The parser has seen the bytes: if they were no whole head, the rest is to come in time.
  func hasRead() {
    if hasPartOfHead {
      countLine()
      if unanswered == 0, let context { watchHead(context) }
    }
    bytes = nil
  }

  private func countLine() {
    guard !isLineWhole, let bytes = bytes?.readableBytesView else { return }
    let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    lineByteCount += bytes.distance(from: bytes.startIndex, to: end ?? bytes.endIndex)
    isLineWhole = end != nil
  }

  /// Whether it is the first line that makes a head too large for the parser.
  private var isLineTooLong: Bool {
    if isArriving { return false }
    countLine()
    return lineByteCount > Self.maximumFieldByteCount
  }

  private func watchHead(_ context: ChannelHandlerContext) {
    guard headDeadline == nil, case .no = ending else { return }
    let timeout = connection?.admission == .health ? min(headTimeout, Self.reserveHeadTimeout) : headTimeout
    headDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
      headDeadline = nil
      guard unanswered == 0 else { return }
      // Nobody waits for an answer who has asked nothing.
      if hasPartOfHead { refuse(.slowHead, context) } else { context.close(promise: nil) }
    }
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if case .done = ending {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    context.write(data, promise: promise)
    switch unwrapOutboundIn(data) {
    case .head(let head): hasBegunAnswer = !head.status.isInformational
    case .body: break
    case .end: endAnswer(context)
    }
  }

  private func endAnswer(_ context: ChannelHandlerContext) {
    unanswered -= 1
    hasBegunAnswer = false
    hasAnswered = true
    if unanswered == 0, !isArriving { connection?.waits() }
    switch ending {
    case .no: if hasPartOfHead, unanswered == 0 { watchHead(context) }
    case .afterAnswer where unanswered == 0: end(context)
    case .with where unanswered == 0: end(context)
    case .with: answerInTurn(context)
    case .afterAnswer, .done: break
    }
  }

  /// - Parameter isCounted: Whether the request that is refused is among the unanswered ones.
  private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext, isCounted: Bool = false) {
    headDeadline?.cancel()
    headDeadline = nil
    // One that was answered before it was there as a whole has its answer.
    if isCounted, unanswered == 0 { return end(context) }
    if !isCounted { unanswered += 1 }
    ending = .with(refusal)
    answerInTurn(context)
  }

  private func answerInTurn(_ context: ChannelHandlerContext) {
    // One whose answer has begun ends with that.
    guard unanswered == 1, !hasBegunAnswer, case .with(let refusal) = ending else { return }
    var answer = Answer(refusal)
    answer.headers[.contentType] = answer.contentType
    answer.headers[.contentLength] = String(answer.body.count)
    answer.headers[.cacheControl] = "no-store"
    answer.headers[.connection] = "close"
    answer.headers[.date] = date.text()
    var head = HTTPResponseHead(
      version: .http1_1, status: .init(statusCode: answer.status.code, reasonPhrase: answer.status.reasonPhrase))
    for field in answer.headers { head.headers.add(name: field.name.rawName, value: field.value) }
    let method = self.method.flatMap { HTTPRequest.Method($0.rawValue) }
    metrics?.count(method, route: ServerMetrics.noRoute, status: answer.status)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if self.method != HTTPMethod.HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
    }
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    // It leaves the reserve to those that can still be answered, as one that has begun to send a body would stay longer than they.
    if let connection, connection.admission == .health { limiter.release(connection) }
    end(context, readingOn: refusal == .tooManyConnections ? Self.refusedLingerTimeout : Self.lingerTimeout)
  }

  private func end(_ context: ChannelHandlerContext, readingOn timeout: TimeAmount = lingerTimeout) {
    ending = .done
    context.flush()
    context.close(mode: .output, promise: nil)
    let channel = context.channel
    context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
  }

  /// Ends because another connection replaces this one.
  private func giveWay() {
    guard let context, case .no = ending else { return }
    if !isArriving { method = nil }
    if unanswered == 0, hasAnswered, !hasPartOfHead { return context.close(promise: nil) }
    if unanswered > 0, !isArriving { return ending = .afterAnswer }
    if connection?.admission == .health, unanswered == 0 { return waitOnce(context) }
    refuse(.tooManyConnections, context, isCounted: isArriving)
  }

  /// Reads on for a moment, as connections of the reserve replace each other at once: one that asks for the daemon's health at the
  /// moment when many others come may be replaced before its request is read. It is answered all the same.
  private func waitOnce(_ context: ChannelHandlerContext) {
    headDeadline?.cancel()
    headDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.replacedHeadTimeout) { [self] in
      headDeadline = nil
      if unanswered == 0 { refuse(.tooManyConnections, context) }
    }
  }
}

/// Tells a ``RequestGuard`` of bytes before the parser has them.
final class HeadWatch: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let requestGuard: RequestGuard

  init(_ requestGuard: RequestGuard) { self.requestGuard = requestGuard }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    requestGuard.willRead(unwrapInboundIn(data))
    context.fireChannelRead(data)
    requestGuard.hasRead()
  }
}

extension HTTPRequestHead {
  /// Whether the parser reads nothing after this request, as it takes what follows for another protocol.
  fileprivate var endsConnection: Bool {
    method == .CONNECT || headers.contains(name: "Upgrade")
  }
}

extension HTTPResponseStatus {
  fileprivate var isInformational: Bool { (100..<200).contains(code) }
}

extension Refusal {
  static let tooManyConnections = Refusal(
    .serviceUnavailable, "tooManyConnections",
    "the daemon has as many connections as it takes, of all callers or of this address; only /healthz and /readyz are"
      + " answered now. Ask again in a second, or raise http.maximumConnections",
    headers: [.retryAfter: "1"])

  static let unknownTransferCoding = Refusal(
    .notImplemented, "unknownTransferCoding",
    "chunked is the only transfer coding that this daemon knows; send the body as it is, with its length or in chunks")

  static func bodyTooLarge(limit: Int) -> Refusal {
    Refusal(
      .contentTooLarge, "bodyTooLarge", "the body has more than \(limit) bytes; send less at once",
      headers: [.connection: "close"])
  }

  static let slowHead = Refusal(
    .requestTimeout, "requestTimeout", "the request line and the fields did not arrive in time; send them at once")

  /// A request that the parser does not take.
  ///
  /// - Parameter isLongLine: Whether it is the request line that is too large.
  init(_ error: HTTPParserError, isLongLine: Bool) {
    switch error {
    case .headerOverflow where isLongLine:
      self.init(
        .uriTooLong, "targetTooLong",
        "the path and the query have more than \(RequestGuard.maximumFieldByteCount) bytes together")
    case .headerOverflow:
      self.init(
        .requestHeaderFieldsTooLarge, "headTooLarge",
        "the fields are too large: \(RequestGuard.maximumFieldByteCount) bytes a field,"
          + " \(RequestGuard.maximumHeadByteCount) bytes and \(RequestGuard.maximumFieldCount) fields in all")
    case .invalidVersion:
      self.init(.httpVersionNotSupported, "unknownVersion", "this daemon speaks HTTP/1.1 and HTTP/1.0")
    default:
      self = .badRequest("this is no request of HTTP/1.1: \(error.words)")
    }
  }
}

extension HTTPParserError {
  /// What is wrong, for people.
  fileprivate var words: String {
    switch self {
    case .invalidEOFState, .closedConnection: "it ends in the middle"
    case .invalidMethod: "its method is not known"
    case .invalidURL, .invalidHost, .invalidPort, .invalidPath, .invalidQueryString, .invalidFragment:
      "its target is no path"
    case .invalidHeaderToken, .lfExpected: "a field has an invalid character, or a line does not end"
    case .invalidContentLength, .unexpectedContentLength:
      "Content-Length is no number, or is there more than once or with Transfer-Encoding"
    case .invalidChunkSize: "a chunk's size is no hexadecimal number, or the chunk does not end"
    default: "it cannot be understood"
    }
  }
}
