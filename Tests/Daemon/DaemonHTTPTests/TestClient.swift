import NIOCore
import NIOPosix
import Synchronization

@testable import DaemonHTTP

/// Speaks HTTP/1.1 byte by byte, so that it can say what no client would. A connection for each request.
struct TestClient: Sendable {
  enum Place: Sendable {
    case port(Int)
    case socket(String)
  }

  let place: Place
  /// Sent with each request, before the request's own.
  var headers: [(name: String, value: String)] = [("Host", "localhost")]

  struct Failure: Error { let words: String }

  func connect() async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
    let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(5))
    @Sendable func wrap(_ channel: any Channel) -> EventLoopFuture<NIOAsyncChannel<ByteBuffer, ByteBuffer>> {
      channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
    }
    return switch place {
    case .port(let port): try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: wrap)
    case .socket(let path): try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: wrap)
    }
  }

  /// Sends bytes and reads one answer.
  func send(_ bytes: [UInt8], isHead: Bool = false) async throws -> TestAnswer {
    let answer = Mutex<TestAnswer?>(nil)
    do {
      try await connect().executeThenClose { inbound, outbound in
        // One that is refused at once may take nothing any more.
        try? await outbound.write(ByteBuffer(bytes: bytes))
        var received: [UInt8] = []
        for try await buffer in inbound {
          received += buffer.readableBytesView
          if let whole = TestAnswer(received, isHead: isHead) { return answer.withLock { $0 = whole } }
        }
        throw ConnectionEnded(byteCount: received.count)
      }
    } catch {
      // One that the daemon has closed already may not be closed once more.
      guard let answer = answer.withLock({ $0 }) else { throw error }
      return answer
    }
    return try answer.withLock { $0 } ?? { throw Failure(words: "there is no answer") }()
  }

  /// The end of a connection before a whole answer.
  struct ConnectionEnded: Error, CustomStringConvertible {
    /// The number of bytes that came before it.
    let byteCount: Int
    var description: String { "the connection ended after \(byteCount) bytes" }
  }

  /// Sends bytes and reads one answer, on another connection if the first one ends before anything was answered.
  ///
  /// A server that is full closes connections that have not sent their request in time. On a busy machine that happens
  /// to callers that are in no way slow themselves.
  func sendAgainIfUnread(_ bytes: [UInt8], isHead: Bool = false) async throws -> TestAnswer {
    for _ in 0..<100 {
      do { return try await send(bytes, isHead: isHead) } catch let end as ConnectionEnded where end.byteCount == 0 {
        try await Task.sleep(for: .milliseconds(20))
      }
    }
    return try await send(bytes, isHead: isHead)
  }

  /// The bytes of a request.
  func request(
    _ method: String, _ target: String, body: [UInt8]? = nil, headers: [(name: String, value: String)] = []
  ) -> [UInt8] {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    let own = Set(headers.map { $0.name.lowercased() })
    for header in self.headers where !own.contains(header.name.lowercased()) {
      text += "\(header.name): \(header.value)\r\n"
    }
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    if let body { text += "Content-Length: \(body.count)\r\n" }
    return Array((text + "\r\n").utf8) + (body ?? [])
  }
}

/// An answer with its length announced, or none to come.
struct TestAnswer: Sendable {
  let status: Int
  /// By lower-case name.
  let headers: [String: String]
  let body: [UInt8]

  var text: String { String(decoding: body, as: UTF8.self) }
  var json: JSONBody { (try? JSONBody(body, nestingLimit: 64, valueLimit: .max)) ?? .null }
  var errorCode: String? { json["error"]?["code"]?.text }

  /// - Returns: `nil` where bytes are missing.
  init?(_ bytes: [UInt8], isHead: Bool = false) {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    guard let first = lines.first?.split(separator: " "), first.count > 1, let status = Int(first[1]) else {
      return nil
    }
    // Told to go on, a client waits for the answer.
    if status == 100 {
      guard let answer = TestAnswer(Array(bytes[end.upperBound...]), isHead: isHead) else { return nil }
      self = answer
      return
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }.description
    }
    let rest = bytes[end.upperBound...]
    let length = isHead || status == 204 ? 0 : Int(headers["content-length"] ?? "") ?? 0
    guard rest.count >= length else { return nil }
    self.status = status
    self.headers = headers
    body = Array(rest.prefix(length))
  }
}
