import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1

/// A connection: its channel, the queue of its requests, and the channel handler that writes its responses.
struct Connection: Sendable {
  let channel: any Channel
  let queue: RequestQueue
  private let handler: NIOLoopBound<ConnectionHandler>

  /// Creates a connection. To be called on the channel's event loop.
  init(_ channel: any Channel, _ queue: RequestQueue, _ handler: ConnectionHandler) {
    self.channel = channel
    self.queue = queue
    self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
  }

  /// Runs a function on the event loop, after those that were passed before.
  func execute(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
    let handler = handler
    channel.eventLoop.execute { body(handler.value) }
  }

  /// Tells the peer to send the body of its request.
  func writeContinue() { execute { $0.writeContinue() } }

  /// Ends the connection after the responses to requests that have arrived; at once if there are none.
  func quiesce() { execute { $0.quiesce() } }

  /// Answers the requests of the connection, one after the other, until it ends.
  ///
  /// Cancellation closes the connection at once.
  ///
  /// - Parameter skipLimit: The maximum number of bytes of a body to discard.
  func serve(skipLimit: Int, logger: Logger, _ handler: Server.Handler) async {
    await withTaskCancellationHandler {
      do {
        var number = 0
        while case .head(let request, _)? = try await queue.next(.request) {
          number += 1
          try await handler(
            request, RequestBody(self, number: number),
            ResponseWriter(self, number: number, isHead: request.method == .head), channel)
          guard queue.hasEndedResponse else { throw NoResponse() }
          guard try await skipBody(number, upTo: skipLimit) else { break }
        }
      } catch {
        logger.debug("a connection ends early", metadata: ["error": "\(error)"])
      }
      execute { $0.end() }
      try? await channel.closeFuture.get()
    } onCancel: {
      channel.close(promise: nil)
    }
  }

  /// A handler has returned without a response.
  private struct NoResponse: Error {}

  /// Receives and discards the rest of a body.
  ///
  /// - Returns: Whether the next request can follow.
  private func skipBody(_ number: Int, upTo limit: Int) async throws -> Bool {
    var count = 0
    while queue.goesOn, case .body(let buffer)? = try await queue.next(.body(number)) {
      count += buffer.readableBytes
      if count > limit { return false }
    }
    return true
  }
}
