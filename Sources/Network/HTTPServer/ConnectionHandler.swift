import HTTPTypes
import NIOCore
import NIOHTTP1

/// The last channel handler of a connection: it passes requests to their queue, writes responses, and decides when the
/// connection ends.
///
/// What depends on a request when its response is written is kept here, in the order of the requests: whether it is
/// `HEAD`, its version, and whether the connection goes on.
///
/// - A connection goes on after a response unless the request or the response says `Connection: close`, or the request
///   is HTTP/1.0. `keep-alive` of HTTP/1.0 is not supported, because it is not agreed on with proxies (RFC 9112, 9.3
///   and C.2.2).
/// - A response without a length is sent in chunks. To HTTP/1.0 it is sent as it is, with that version, and ends with
///   the connection (RFC 9112, 6.1).
/// - A connection ends in two steps: its output is closed after the last byte was sent, and what the peer still sends
///   is read for ``lingerTimeout`` and discarded, because a peer that is reset while it sends may never see the
///   response (RFC 9112, 9.6).
final class ConnectionHandler: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = HTTPServerResponsePart

  /// The properties of a request that its response depends on.
  private struct Exchange {
    let isOld: Bool
    let isHead: Bool
  }

  /// What the parser does not understand.
  private enum Unreadable {
    case nothing
    /// What comes after the last request.
    case request
    /// The body of the last request.
    case body
  }

  /// How long a connection is read after its last response.
  static let lingerTimeout: TimeAmount = .seconds(1)

  private let queue: RequestQueue
  private let idleTimeout: TimeAmount?
  private let serverName: String?
  private let date: HTTPDate
  /// Set while the handler is in the pipeline.
  private var context: ChannelHandlerContext?

  /// The requests whose heads have arrived and whose responses have not ended.
  private var exchanges = CircularBuffer<Exchange>(initialCapacity: 4)
  /// The number of responses that have ended.
  private var answered = 0
  /// Whether the last request is still incomplete.
  private var isArriving = false
  /// Whether no request is accepted after the last one.
  private var isLast = false
  /// What is to be answered with 400.
  private var unreadable = Unreadable.nothing
  /// Whether the head of the response to the first request was written.
  private var hasBegun = false
  /// Whether the body of that response is written.
  private var hasBody = false
  /// Whether that response is the last one.
  private var closes = false
  /// Tasks that wait until the channel accepts more bytes.
  private var writers: [Int: CheckedContinuation<Void, any Error>] = [:]
  /// Writes that were cancelled before they arrived here.
  private var cancelledWrites: Set<Int> = []
  /// Whether the server stops.
  private var isQuiescing = false
  /// Whether the last response has been written.
  private var isFinishing = false
  /// Whether the peer has closed its side.
  private var isPeerClosed = false
  /// The time of the last part of a request, and of the end of the last response.
  private var lastActivity = NIODeadline.uptimeNanoseconds(0)
  private var idleTimer: Scheduled<Void>?

  /// - Parameters:
  ///   - idleTimeout: The time after which an idle connection, and one whose request does not arrive, is closed.
  ///   - serverName: The value of `Server`, or `nil`.
  init(_ queue: RequestQueue, idleTimeout: TimeAmount?, serverName: String?, date: HTTPDate) {
    self.queue = queue
    self.idleTimeout = idleTimeout
    self.serverName = serverName
    self.date = date
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    lastActivity = context.eventLoop.now
    if context.channel.isActive { watchIdleness(context) }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    idleTimer?.cancel()
    connectionEnded()
  }

  func channelActive(context: ChannelHandlerContext) {
    watchIdleness(context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    idleTimer?.cancel()
    connectionEnded()
    context.fireChannelInactive()
  }

  private func connectionEnded() {
    isFinishing = true
    queue.stop()
    resumeWriters(.failure(ChannelError.ioOnClosedChannel))
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isFinishing || (isLast && !isArriving) { return }
    lastActivity = context.eventLoop.now
    switch unwrapInboundIn(data) {
    case .head(let head):
      let exchange = Exchange(
        isOld: (head.version.major, head.version.minor) < (1, 1), isHead: head.method == .HEAD)
      guard let request = HTTPRequest(head, isOld: exchange.isOld) else { return refuse(HTTPParserError.invalidMethod) }
      exchanges.append(exchange)
      isArriving = true
      isLast = !head.keepsConnection
      let expectsContinue = !exchange.isOld && head.headers.first(name: "Expect")?.lowercased() == "100-continue"
      queue.push(.head(request, expectsContinue: expectsContinue))
    case .body(let buffer): queue.push(.body(buffer))
    case .end:
      isArriving = false
      queue.push(.end)
      if isLast { queue.complete() }
    }
  }

  func read(context: ChannelHandlerContext) { if !queue.holds() { context.read() } }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is HTTPParserError { refuse(error) } else { context.close(promise: nil) }
  }

  private func refuse(_ error: any Error) {
    if isFinishing || (isLast && !isArriving) { return }
    // A request may have been answered before its body was found to be invalid.
    unreadable = !isArriving ? .request : exchanges.isEmpty ? .nothing : .body
    (isLast, isArriving) = (true, false)
    queue.fail(error)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent {
      isPeerClosed = true
      queue.close()
    }
    context.fireUserInboundEventTriggered(event)
  }

  // MARK: Responses

  /// Writes a whole response.
  ///
  /// - Parameters:
  ///   - body: The body; empty for `HEAD`.
  ///   - length: The length that the body has, or would have.
  ///   - closes: Whether the connection ends after it.
  func send(_ head: HTTPResponse, _ body: ByteBuffer, length: Int, closes: Bool) {
    guard let context, !isFinishing, let exchange = exchanges.first else { return }
    self.closes = closes
    writeHead(head, exchange, length: length, context)
    if hasBody, body.readableBytes > 0 { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    endResponse(context)
  }

  /// Writes the head of a response whose body follows.
  func begin(_ head: HTTPResponse, closes: Bool) {
    guard let context, !isFinishing, let exchange = exchanges.first else { return }
    self.closes = closes
    writeHead(head, exchange, length: nil, context)
    context.flush()
  }

  /// Writes a part of a body.
  ///
  /// - Parameters:
  ///   - number: The number of the request.
  ///   - write: The number of the write.
  ///   - continuation: Resumed when the next part can be written.
  func write(
    _ bytes: ByteBuffer, of number: Int, _ write: Int, _ continuation: CheckedContinuation<Void, any Error>
  ) {
    if cancelledWrites.remove(write) != nil { return continuation.resume(throwing: CancellationError()) }
    guard let context, !isFinishing, hasBegun, number == answered + 1 else {
      return continuation.resume(throwing: ChannelError.ioOnClosedChannel)
    }
    if hasBody, bytes.readableBytes > 0 {
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: nil)
    }
    if context.channel.isWritable { return continuation.resume() }
    // Nobody would resume a task that waits for a closed channel.
    guard context.channel.isActive else { return continuation.resume(throwing: ChannelError.ioOnClosedChannel) }
    writers[write] = continuation
  }

  /// Resumes a task that waits to write.
  func cancelWrite(_ write: Int) {
    if let writer = writers.removeValue(forKey: write) { return writer.resume(throwing: CancellationError()) }
    if !isFinishing { cancelledWrites.insert(write) }
  }

  /// Ends a response whose body was written in parts.
  func finish() {
    guard let context, !isFinishing, hasBegun else { return }
    endResponse(context)
  }

  /// Tells the peer to send the body of its request.
  func writeContinue() {
    guard let context, !isFinishing, !hasBegun else { return }
    let head = HTTPResponseHead(version: .http1_1, status: .continue)
    context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
  }

  /// - Parameter length: The length of the body if the fields do not say it; `nil` if it is not known.
  private func writeHead(
    _ response: HTTPResponse, _ exchange: Exchange, length: Int?, _ context: ChannelHandlerContext
  ) {
    let mayHaveBody = response.status.mayHaveBody
    var fields = ResponseFields(response.headerFields, mayHaveBody: mayHaveBody)
    var version = HTTPVersion.http1_1
    if mayHaveBody, !fields.hasLength {
      if let length {
        fields.headers.add(name: "Content-Length", value: String(length))
      } else if exchange.isOld {
        version = .http1_0
      } else if !exchange.isHead {
        fields.headers.add(name: "Transfer-Encoding", value: "chunked")
      }
    }
    if !fields.hasDate { fields.headers.add(name: "Date", value: date.text()) }
    if let serverName { fields.headers.add(name: "Server", value: serverName) }
    if closes || (isLast && exchanges.count <= 1 && unreadable != .request) {
      (closes, isLast) = (true, true)
      fields.headers.add(name: "Connection", value: "close")
    }
    hasBegun = true
    hasBody = mayHaveBody && !exchange.isHead
    let head = HTTPResponseHead(version: version, status: HTTPResponseStatus(response.status), headers: fields.headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
  }

  private func endResponse(_ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    exchanges.removeFirst()
    answered += 1
    (hasBegun, hasBody) = (false, false)
    cancelledWrites.removeAll()
    lastActivity = context.eventLoop.now
    if exchanges.isEmpty, unreadable == .body { unreadable = .nothing }
    if closes || (isLast && exchanges.isEmpty && unreadable != .request) { return close(context) }
    queue.responseWritten()
    watchIdleness(context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let isWritable = context.channel.isWritable
    queue.setFull(!isWritable)
    if isWritable { resumeWriters(.success(())) }
    context.fireChannelWritabilityChanged()
  }

  private func resumeWriters(_ result: Result<Void, any Error>) {
    let waiting = writers
    writers = [:]
    for writer in waiting.values { writer.resume(with: result) }
  }

  // MARK: The end

  /// Ends the connection when its task has ended. A response that is not complete must not look as if it were.
  func end() {
    guard let context, !isFinishing else { return }
    if unreadable == .request ? exchanges.isEmpty : unreadable == .body && exchanges.count == 1 && !hasBegun {
      let exchange = exchanges.first ?? Exchange(isOld: false, isHead: false)
      closes = true
      writeHead(HTTPResponse(status: .badRequest), exchange, length: 0, context)
      context.write(wrapOutboundOut(.end(nil)), promise: nil)
      return close(context)
    }
    if exchanges.isEmpty { close(context) } else { context.close(promise: nil) }
  }

  /// Ends the connection after the responses to requests that have arrived.
  func quiesce() {
    guard let context, !isFinishing else { return }
    (isLast, isQuiescing) = (true, true)
    guard exchanges.isEmpty else { return }
    let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    if waiting == 0 { context.close(promise: nil) } else { close(context) }
  }

  /// Closes the output after everything was written, and then the connection.
  private func close(_ context: ChannelHandlerContext) {
    isFinishing = true
    queue.stop()
    watchIdleness(context)
    let eventLoop = context.eventLoop
    let channel = context.channel
    // A server that stops does not wait for a peer whose request is complete: there is nothing more to read.
    let timeout = isPeerClosed || (isQuiescing && !isArriving) ? .zero : Self.lingerTimeout
    // If the peer has closed its side, closing the output would drop what is still to be written.
    let written = eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
    written.futureResult.whenComplete { _ in
      channel.close(mode: .output).whenComplete { _ in
        eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
      }
    }
    // What waits to be read is discarded from now on.
    context.read()
  }

  // MARK: Idleness

  /// Starts the timer, if it does not run. There is one at a time, however many requests arrive.
  private func watchIdleness(_ context: ChannelHandlerContext) {
    guard let idleTimeout, idleTimer == nil else { return }
    idleTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: lastActivity + idleTimeout) { [self] in
      idleTimer = nil
      guard let context = self.context else { return }
      // The handler works on a response. The timer starts again when that has ended.
      if !isFinishing, !exchanges.isEmpty, !isArriving { return }
      if context.eventLoop.now >= lastActivity + idleTimeout {
        context.close(promise: nil)
      } else {
        watchIdleness(context)
      }
    }
  }
}
