import HTTPTypes
import Hummingbird

/// Reads the body of a request, a JSON object, into the context.
struct BodyMiddleware: RouterMiddleware {
  /// The most bytes of a body; a longer one is refused with 413.
  let maximumByteCount: Int
  /// Whether a request without a body is refused.
  let isRequired: Bool

  /// The most bytes of a body that are read and dropped. ``RequestGuard`` refuses a request that announces more.
  static let skipByteLimit = 16 << 20

  /// The body did not arrive whole. Nobody is left to be answered.
  struct Interruption: Error {}

  func handle(
    _ request: Request, context: DaemonContext, next: (Request, DaemonContext) async throws -> Response
  ) async throws -> Response {
    var context = context
    let length = request.headers[.contentLength].flatMap(Int.init) ?? 0
    let waits = request.headers[.expect]?.lowercased() == "100-continue"
    if waits, length <= maximumByteCount {
      try await context.channel.triggerUserOutboundEvent(AnswerFraming.Continue()).get()
    }
    try checkForm(request)
    // A sender that waits for permission, and does not get it, sends no body.
    if waits, length > maximumByteCount { throw Refusal.bodyTooLarge(limit: maximumByteCount) }
    let bytes = try await bytes(of: request, length: length, context)
    if !bytes.isEmpty {
      context.body = try JSONBody(bytes).members()
    } else if isRequired {
      throw Refusal.badRequest("the body is empty; send a JSON object")
    }
    return try await next(request, context)
  }

  private func checkForm(_ request: Request) throws(Refusal) {
    if let type = request.headers[.contentType], !Self.isJSON(type) {
      throw Refusal(
        .unsupportedMediaType, "unsupportedMediaType", "send JSON, with Content-Type: application/json or without one")
    }
    if let encoding = request.headers[.contentEncoding], encoding.lowercased() != "identity" {
      throw Refusal(
        .unsupportedMediaType, "unsupportedContentEncoding", "send the body as it is, without Content-Encoding",
        headers: [.acceptEncoding: "identity"])
    }
  }

  /// Whether a `Content-Type` is JSON's.
  static func isJSON(_ type: String) -> Bool {
    type.prefix { $0 != ";" }.lowercased().filter { $0 != " " && $0 != "\t" } == "application/json"
  }

  /// The bytes of a body. One that is too large is read all the same, up to a limit, so that its sender reads the answer and
  /// not a reset.
  private func bytes(of request: Request, length: Int, _ context: DaemonContext) async throws -> [UInt8] {
    var isTooLarge = length > maximumByteCount
    var bytes: [UInt8] = []
    var count = 0
    do {
      for try await buffer in request.body {
        count += buffer.readableBytes
        isTooLarge = isTooLarge || count > maximumByteCount
        if !isTooLarge {
          bytes += buffer.readableBytesView
        } else if count > Self.skipByteLimit {
          throw Interruption()
        } else {
          bytes = []
        }
      }
    } catch {
      // Hummingbird would answer 500 where the connection is still open.
      try? await context.channel.close()
      throw Interruption()
    }
    if isTooLarge { throw Refusal.bodyTooLarge(limit: maximumByteCount) }
    return bytes
  }
}
