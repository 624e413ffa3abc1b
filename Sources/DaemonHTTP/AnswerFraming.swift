import NIOCore
import NIOHTTP1

/// A channel handler that frames each response so that the client knows where it ends.
///
/// When Hummingbird's server writes a response, it no longer has the parser's information about the request. This
/// handler therefore sits directly after the parser and the encoder, and does what depends on that information:
///
/// - It closes the connection after the response if the client expects that: for HTTP/1.0 clients, and for those whose
///   `Connection` field contains `close` among other options. The server recognises only a field that is exactly
///   `close`, and no version; it is given that field. HTTP/1.0 connections with `keep-alive` are closed as well,
///   because agreeing to it would need a response field that the server does not send.
/// - A response without a length ends with the connection for HTTP/1.0 clients, which do not understand chunks (RFC
///   9112, 6.1); its version is set accordingly. They do not understand `100 Continue` either.
/// - A response to `HEAD` ends after its head: the encoder would write the last chunk of a body that does not exist.
/// - HTTP/1.0 clients need not send a `Host`. An empty one is added for them, because a missing one is an error in
///   HTTP/1.1 (``AccessControl``).
final class AnswerFraming: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The properties of a request that its response depends on.
  private struct PendingRequest {
    let isOld: Bool
    let isHead: Bool
  }

  /// Requests whose responses have not ended, in order: as many as one read delivers, and those that wait.
  private var pending = CircularBuffer<PendingRequest>()

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
    let isOld = head.version.isOld
    pending.append(PendingRequest(isOld: isOld, isHead: head.method == .HEAD))
    if !isOld, head.isKeepAlive { return context.fireChannelRead(data) }
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    if isOld {
      head.headers.remove(name: "Expect")
      if !head.headers.contains(name: "Host") { head.headers.add(name: "Host", value: "") }
    }
    context.fireChannelRead(wrapInboundOut(.head(head)))
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let caller = pending.first
    switch unwrapOutboundIn(data) {
    case .head(var head) where caller?.isOld == true && !head.headers.contains(name: "Content-Length"):
      head.version = .http1_0
      head.headers.replaceOrAdd(name: "Connection", value: "close")
      context.write(wrapOutboundOut(.head(head)), promise: promise)
    case .end:
      _ = pending.popFirst()
      // An empty buffer writes nothing, but keeps the order.
      let nothing = wrapOutboundOut(.body(.byteBuffer(ByteBuffer())))
      context.write(caller?.isHead == true ? nothing : data, promise: promise)
    default: context.write(data, promise: promise)
    }
  }
}

extension HTTPVersion {
  /// Whether connections of this version end with the response, unless both sides agree otherwise.
  fileprivate var isOld: Bool { (major, minor) < (1, 1) }
}
