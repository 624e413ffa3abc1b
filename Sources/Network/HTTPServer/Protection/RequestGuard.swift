import HTTPTypes
import NIOCore
import NIOHTTP1

/// A channel handler that answers requests that never reach a route: those that the parser refuses, that arrive too
/// slowly, or that use a transfer coding other than `chunked`, and those of connections above a limit
/// (``ConnectionLimiter``).
///
/// The response waits for its turn: responses to earlier requests of the connection are written first. Then the
/// connection ends. Data that the peer still sends is read for a moment and discarded, because a peer that is reset
/// while it sends may never see the response.
///
/// This handler works on parsed messages. ``HeadWatch``, in front of the parser, notifies it of bytes.
final class RequestGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// How long a connection is read after the response that ends it.
  static let lingerTimeout: TimeAmount = .seconds(1)
  /// The same if there are too many connections: the connection counts as one of them until then.
  static let refusedLingerTimeout: TimeAmount = .milliseconds(200)
  /// The timeout for the head of a request on a connection of the reserve.
  static let reserveHeadTimeout: TimeAmount = .seconds(2)
  /// The same after another connection has replaced it: its request may have arrived, but not been read yet.
  static let replacedHeadTimeout: TimeAmount = .milliseconds(200)
  private let protection: Protection
  private let caller: String?
  /// The maximum number of bytes that are received and discarded of a body.
  private let skipLimit: Int
  private let date: HTTPDate
  /// Set while the handler is in the pipeline of an open channel.
  private var connection: ConnectionLimiter.Connection?
  private var context: ChannelHandlerContext?

  /// The number of requests whose responses have not ended, including a refused one.
  private var unanswered = 0
  /// Whether the last request is still incomplete.
  private var isArriving = false
  /// Whether the head of the response to the first unanswered request has been written.
  private var hasBegunAnswer = false
  /// Whether any request has been answered on this connection.
  private var hasAnswered = false
  /// The method of the last request, if the parser knows it.
  private var method: HTTPMethod?
  /// How the connection ends. Once set, further input is discarded.
  private var ending = Ending.no
  private var headDeadline: Scheduled<Void>?
  /// Whether a part of a head has arrived.
  private var hasPartOfHead = false
  /// The bytes that the parser is reading.
  private var bytes: ByteBuffer?
  /// The number of bytes of that head's first line that the parser has read.
  private var lineByteCount = 0
  /// Whether that line is complete.
  private var isLineWhole = false

  private enum Ending {
    case no
    /// The connection ends after the response that is being written.
    case afterAnswer
    /// The connection ends with this response, in its turn.
    case with(ErrorResponse)
    /// The last response has been written.
    case done
  }

  /// - Parameters:
  ///   - caller: The peer's address for the limiter, or `nil`.
  ///   - skipLimit: The maximum number of bytes that are received and discarded of a body. One that announces more is
  ///     refused here.
  init(_ protection: Protection, caller: String?, date: HTTPDate, skipLimit: Int) {
    self.protection = protection
    self.caller = caller
    self.date = date
    self.skipLimit = skipLimit
  }

  private var limiter: ConnectionLimiter { protection.limiter }

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
    // The connection's closure holds this handler; break the cycle.
    connection = nil
  }

  func channelActive(context: ChannelHandlerContext) {
    begin(context)
    context.fireChannelActive()
  }

  private func begin(_ context: ChannelHandlerContext) {
    if connection?.admission == .nothing { return refuse(protection.tooManyConnections, context) }
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
      if let errorResponse = errorResponse(head) { return refuse(errorResponse, context, isCounted: true) }
      if connection?.admission == .health {
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

  private func errorResponse(_ head: HTTPRequestHead) -> ErrorResponse? {
    if head.headers.contains(name: "Transfer-Encoding"),
      head.headers[canonicalForm: "Transfer-Encoding"].contains(where: { $0.lowercased() != "chunked" })
    {
      return protection.unknownTransferCoding
    }
    if let length = head.headers.first(name: "Content-Length").flatMap(Int.init),
      length > max(protection.maximumBodyByteCount, skipLimit)
    {
      return .bodyTooLarge(limit: protection.maximumBodyByteCount)
    }
    if connection?.admission == .health, !protection.healthPaths.contains(head.uri.prefix { $0 != "?" }) {
      return protection.tooManyConnections
    }
    return nil
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After a refused request, the peer may send data that the parser cannot parse.
    guard case .no = ending else { return }
    guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
    if !isArriving { method = nil }
    refuse(protection.response(to: error, isLongLine: isLineTooLong), context, isCounted: isArriving)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .done = ending, case .inputClosed? = event as? ChannelEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  // MARK: Head timeout

  /// Bytes have arrived that the parser has not seen.
  func willRead(_ bytes: ByteBuffer) {
    if isArriving { return }
    if !hasPartOfHead { (hasPartOfHead, lineByteCount, isLineWhole) = (true, 0, false) }
    self.bytes = bytes
  }

  /// The parser has seen the bytes. If they are not a complete head, start its timeout.
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

  /// Whether the first line makes the head too large for the parser.
  private var isLineTooLong: Bool {
    if isArriving { return false }
    countLine()
    return lineByteCount > Protection.headLimits.fieldByteCount
  }

  private func watchHead(_ context: ChannelHandlerContext) {
    guard headDeadline == nil, case .no = ending else { return }
    let headTimeout = TimeAmount(protection.headTimeout)
    let timeout = connection?.admission == .health ? min(headTimeout, Self.reserveHeadTimeout) : headTimeout
    headDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: timeout) { [self] in
      headDeadline = nil
      guard unanswered == 0 else { return }
      // A peer that has sent nothing expects no response.
      if hasPartOfHead { refuse(.slowHead, context) } else { context.close(promise: nil) }
    }
  }

  // MARK: Responses

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

  /// - Parameter isCounted: Whether the refused request is among the unanswered ones.
  private func refuse(_ errorResponse: ErrorResponse, _ context: ChannelHandlerContext, isCounted: Bool = false) {
    headDeadline?.cancel()
    headDeadline = nil
    // A request that was answered before it arrived completely already has its response.
    if isCounted, unanswered == 0 { return end(context) }
    if !isCounted { unanswered += 1 }
    ending = .with(errorResponse)
    answerInTurn(context)
  }

  private func answerInTurn(_ context: ChannelHandlerContext) {
    // A response that has begun is the last one.
    guard unanswered == 1, !hasBegunAnswer, case .with(let errorResponse) = ending else { return }
    var answer = Response(errorResponse)
    answer.headers[.contentLength] = String(answer.bytes.count)
    answer.headers[.cacheControl] = "no-store"
    answer.headers[.connection] = "close"
    answer.headers[.date] = date.text()
    var head = HTTPResponseHead(
      version: .http1_1, status: .init(statusCode: answer.status.code, reasonPhrase: answer.status.reasonPhrase))
    for field in answer.headers { head.headers.add(name: field.name.rawName, value: field.value) }
    let method = self.method.flatMap { HTTPRequest.Method($0.rawValue) }
    protection.onRefusal(method, answer.status)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if self.method != HTTPMethod.HEAD {
      context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.bytes)))), promise: nil)
    }
    context.write(wrapOutboundOut(.end(nil)), promise: nil)
    // Leave the reserve to requests that can still be answered: one that has begun to send a body would stay longer
    // than they do.
    if let connection, connection.admission == .health { limiter.release(connection) }
    end(context, readingOn: errorResponse.code == "tooManyConnections" ? Self.refusedLingerTimeout : Self.lingerTimeout)
  }

  private func end(_ context: ChannelHandlerContext, readingOn timeout: TimeAmount = lingerTimeout) {
    ending = .done
    context.flush()
    context.close(mode: .output, promise: nil)
    let channel = context.channel
    context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
  }

  /// Ends this connection because another one replaces it.
  private func giveWay() {
    guard let context, case .no = ending else { return }
    if !isArriving { method = nil }
    if unanswered == 0, hasAnswered, !hasPartOfHead { return context.close(promise: nil) }
    if unanswered > 0, !isArriving { return ending = .afterAnswer }
    if connection?.admission == .health, unanswered == 0 { return waitOnce(context) }
    refuse(protection.tooManyConnections, context, isCounted: isArriving)
  }

  /// Reads for a moment more, because connections of the reserve replace each other at once. A health request that
  /// arrives together with many other connections may be replaced before it is read; it is answered nevertheless.
  private func waitOnce(_ context: ChannelHandlerContext) {
    headDeadline?.cancel()
    headDeadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.replacedHeadTimeout) { [self] in
      headDeadline = nil
      if unanswered == 0 { refuse(protection.tooManyConnections, context) }
    }
  }
}

/// A channel handler that notifies a ``RequestGuard`` of bytes before the parser reads them.
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

extension HTTPResponseStatus {
  fileprivate var isInformational: Bool { (100..<200).contains(code) }
}

extension Protection {
  fileprivate var tooManyConnections: ErrorResponse {
    ErrorResponse(
      .serviceUnavailable, "tooManyConnections",
      "the \(serverName) has as many connections as it takes, of all callers or of this address; only"
        + " \(healthPaths.sorted().joined(separator: " and ")) \(healthPaths.count == 1 ? "is" : "are") answered now. Ask"
        + " again in a second\(advice)",
      headers: [.retryAfter: "1"])
  }

  fileprivate var unknownTransferCoding: ErrorResponse {
    ErrorResponse(
      .notImplemented, "unknownTransferCoding",
      "chunked is the only transfer coding that this \(serverName) knows; send the body as it is, with its length or in"
        + " chunks")
  }

  /// The response to a request that the parser does not accept.
  ///
  /// - Parameter isLongLine: Whether the request line is too large.
  fileprivate func response(to error: HTTPParserError, isLongLine: Bool) -> ErrorResponse {
    let limits = Self.headLimits
    switch error {
    case .headerOverflow where isLongLine:
      return ErrorResponse(
        .uriTooLong, "targetTooLong", "the path and the query have more than \(limits.fieldByteCount) bytes together")
    case .headerOverflow:
      return ErrorResponse(
        .requestHeaderFieldsTooLarge, "headTooLarge",
        "the fields are too large: \(limits.fieldByteCount) bytes a field, \(limits.byteCount) bytes and"
          + " \(limits.fieldCount) fields in all")
    case .invalidVersion:
      return ErrorResponse(
        .httpVersionNotSupported, "unknownVersion", "this \(serverName) speaks HTTP/1.1 and HTTP/1.0")
    default: return .badRequest("this is no request of HTTP/1.1: \(error.words)")
    }
  }
}

extension ErrorResponse {
  fileprivate static let slowHead = ErrorResponse(
    .requestTimeout, "requestTimeout", "the request line and the fields did not arrive in time; send them at once")
}

extension HTTPParserError {
  /// A description of the error, for people.
  fileprivate var words: String {
    switch self {
    case .invalidEOFState, .closedConnection: "it ends in the middle"
    case .invalidMethod: "its method is not known"
    case .invalidURL, .invalidHost, .invalidPort, .invalidPath, .invalidQueryString, .invalidFragment:
      "its target is no path; percent-encode what is not ASCII, as UTF-8 (%E5%90%8D for 名), and control characters"
    // What comes after a blank is to be the version.
    case .invalidConstant: "what follows its target is not HTTP/1.1; percent-encode a blank in the target, as %20"
    case .invalidHeaderToken, .lfExpected: "a field has an invalid character, or a line does not end"
    case .invalidContentLength, .unexpectedContentLength:
      "Content-Length is no number, or is there more than once or with Transfer-Encoding"
    case .invalidChunkSize: "a chunk's size is no hexadecimal number, or the chunk does not end"
    default: "it cannot be understood"
    }
  }
}
