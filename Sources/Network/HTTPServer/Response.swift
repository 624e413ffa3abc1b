package import HTTPTypes

extension HTTPFields {
  /// Tells proxies to pass on each part of a stream at once: nginx not to collect what arrives (`X-Accel-Buffering`), and
  /// others not to compress it, which would hold back what comes next (`no-transform`; RFC 9111, 5.2.2.6).
  package mutating func setUnbuffered() {
    self[.cacheControl] = "no-store, no-transform"
    self[HTTPField.Name("X-Accel-Buffering")!] = "no"
  }
}

/// A response as a value, for handlers that decide on it before anything is written.
package struct Response: Sendable {
  /// The status.
  package var status: HTTPResponse.Status
  /// The fields. `Date`, `Server`, `Connection` and the fields that frame the body are added when it is written.
  package var headers: HTTPFields
  /// The body.
  package var body: Body

  /// The body of a response.
  package enum Body: Sendable {
    /// Bytes that are there. They are written together with the head.
    case bytes([UInt8])
    /// A function that writes the body part by part. If it throws, the connection is closed, so that a client sees that
    /// the response is not complete.
    case stream(@Sendable (BodyWriter) async throws -> Void)
  }

  /// - Parameter body: The body; empty by default.
  package init(status: HTTPResponse.Status, headers: HTTPFields = [:], body: Body = .bytes([])) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The status and the fields.
  package var head: HTTPResponse { HTTPResponse(status: status, headerFields: headers) }
}
