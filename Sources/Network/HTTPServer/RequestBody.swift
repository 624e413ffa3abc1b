package import NIOCore

/// The body of a request, which is read while it arrives.
///
/// The connection is not read while parts wait, so a sender that is faster than the reader waits. One task at a time
/// may read. A body that is not read is received and discarded after the response, up to
/// ``Server/Options/maximumSkippedByteCount``.
package struct RequestBody: Sendable {
  private enum Source: Sendable {
    case connection(Connection, number: Int)
    case bytes(TestBody)
  }

  private let source: Source

  /// - Parameter number: The number of the request on its connection.
  init(_ connection: Connection, number: Int) { source = .connection(connection, number: number) }

  /// Creates a body of bytes that are there, for tests of handlers without a connection.
  package init(_ bytes: [UInt8]) { source = .bytes(TestBody(bytes)) }

  /// Reads the next part. If the client waits for `100 Continue`, it is sent.
  ///
  /// - Returns: The part, with at least one byte; `nil` at the end.
  /// - Throws: ``RequestBodyError/interrupted`` if the rest does not come; `CancellationError`.
  package func next() async throws -> ByteBuffer? {
    switch source {
    case .bytes(let body): return body.take()
    case .connection(let connection, let number):
      if connection.queue.claimContinue(number) { connection.writeContinue() }
      guard case .body(let buffer)? = try await connection.queue.next(.body(number)) else { return nil }
      return buffer
    }
  }

  /// Reads the whole body.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: ``RequestBodyError/tooLarge(limit:)`` once more bytes have arrived; otherwise as ``next()``.
  /// - Complexity: O(*n*) in the size of the body, in time and memory.
  package func collect(upTo limit: Int) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let buffer = try await next() {
      if buffer.readableBytes > limit - bytes.count { throw RequestBodyError.tooLarge(limit: limit) }
      bytes += buffer.readableBytesView
    }
    return bytes
  }

  /// Runs an operation that takes long, such as an event stream, and cancels it when the client closes its side of the
  /// connection. The operation must not read the body. If the client sends many requests without waiting for this
  /// response, its end may be noticed only when the response cannot be written.
  ///
  /// - Throws: `CancellationError` if the client has closed the connection; otherwise the error of the operation.
  package func cancellingWhenClientCloses(_ operation: @escaping @Sendable () async throws -> Void) async throws {
    guard case .connection(let connection, _) = source else { return try await operation() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await operation() }
      group.addTask {
        try await connection.queue.waitUntilClosed()
        throw CancellationError()
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

/// Why a body was not read to its end.
package enum RequestBodyError: Error, Sendable, Equatable {
  /// The body has more bytes than the reader takes.
  case tooLarge(limit: Int)
  /// The client has closed the connection or sent something invalid, or the connection ended.
  case interrupted
}
