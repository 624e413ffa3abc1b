package import HTTPTypes
import NIOCore

/// The one response to a request. It is written once, as a whole or in parts.
///
/// The body of a response to `HEAD`, and of a status that has none, is not written.
package struct ResponseWriter: ~Copyable, Sendable {
  private let connection: Connection
  private let number: Int
  private let isHead: Bool

  /// - Parameters:
  ///   - number: The number of the request on its connection.
  ///   - isHead: Whether the request is `HEAD`.
  init(_ connection: Connection, number: Int, isHead: Bool) {
    self.connection = connection
    self.number = number
    self.isHead = isHead
  }

  /// Writes a whole response, with one system call if the socket takes it. It returns at once; the next request of the
  /// connection is handled after the response was written.
  ///
  /// - Parameters:
  ///   - head: The status and the fields. `Content-Length` is added if it is missing, and the connection ends after the
  ///     response if `Connection` contains `close`.
  ///   - body: The body.
  package consuming func send(_ head: HTTPResponse, body: [UInt8] = []) {
    let closes = connection.queue.beginResponse(number, closes: head.endsConnection, isWhole: true)
    let buffer = isHead || body.isEmpty ? ByteBuffer() : ByteBuffer(bytes: body)
    let length = body.count
    connection.execute { $0.send(head, buffer, length: length, closes: closes) }
  }

  /// Writes a response, whose body may be a stream.
  ///
  /// - Throws: What the function that writes the body throws.
  package consuming func send(_ response: Response) async throws {
    switch response.body {
    case .bytes(let bytes): send(response.head, body: bytes)
    case .stream(let write):
      let isHead = isHead
      let body = begin(response.head)
      if !isHead { try await write(body) }
      body.finish()
    }
  }

  /// Writes the head of a response at once. Its body follows, and ends with ``BodyWriter/finish()``.
  ///
  /// - Parameter head: The status and the fields. Without `Content-Length`, the body is sent in chunks, and to a client
  ///   of HTTP/1.0 it ends with the connection.
  package consuming func begin(_ head: HTTPResponse) -> BodyWriter {
    let closes = connection.queue.beginResponse(number, closes: head.endsConnection, isWhole: false)
    connection.execute { $0.begin(head, closes: closes) }
    return BodyWriter(connection, number: number)
  }
}

/// The body of a response that is written in parts. Several tasks may write; parts are not mixed.
package struct BodyWriter: Sendable {
  private enum Target: Sendable {
    case connection(Connection, number: Int)
    case function(@Sendable ([UInt8]) async throws -> Void)
  }

  private let target: Target

  init(_ connection: Connection, number: Int) { target = .connection(connection, number: number) }

  /// Creates a writer that passes each part to a function, for tests of streams without a connection.
  package init(_ function: @escaping @Sendable ([UInt8]) async throws -> Void) { target = .function(function) }

  /// Writes a part, and waits until the client has read so much that the next part can be written.
  ///
  /// - Throws: `ChannelError` if the connection has ended; `CancellationError`.
  package func write(_ bytes: [UInt8]) async throws {
    switch target {
    case .function(let function): try await function(bytes)
    case .connection(let connection, let number):
      try Task.checkCancellation()
      let write = connection.queue.makeWriteNumber()
      let buffer = ByteBuffer(bytes: bytes)
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          connection.execute { $0.write(buffer, of: number, write, continuation) }
        }
      } onCancel: {
        connection.execute { $0.cancelWrite(write) }
      }
    }
  }

  /// Ends the body. Does nothing if it has ended before.
  package func finish() {
    guard case .connection(let connection, let number) = target, connection.queue.endResponse(number) else { return }
    connection.execute { $0.finish() }
  }
}

extension HTTPResponse {
  /// Whether the response says that the connection ends after it.
  fileprivate var endsConnection: Bool {
    guard let value = headerFields[.connection] else { return false }
    return value.split(separator: ",").contains { $0.filter { $0 != " " }.lowercased() == "close" }
  }
}
