import ListenerTestSupport
import NIOCore
import Synchronization

/// A server on loopback that reads whole requests, writes them down, and answers with the bytes of a script.
final class Receiver: Sendable {
  struct Request: Sendable {
    /// The first line, such as `POST /a HTTP/1.1`.
    let line: String
    /// In the order of the request, names in lower case.
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    subscript(name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  enum Answer: Sendable {
    /// Sends this and closes the connection.
    case send(String)
    /// Sends this and keeps the connection open until the client hangs up.
    case linger(String)

    /// A whole answer.
    static func status(_ status: String, headers: [String] = [], body: String = "") -> Answer {
      let lines =
        ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "Connection: close", "", body]
      return .send(lines.joined(separator: "\r\n"))
    }
  }

  let port: Int
  private let log = Mutex<[Request]>([])

  private init(port: Int) { self.port = port }

  var requests: [Request] { log.withLock { $0 } }
  func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

  /// Runs a receiver for as long as `body` does. `answer` is asked for each request, with its number from 0.
  static func run(
    _ answer: @escaping @Sendable (Int, Request) -> Answer, _ body: (Receiver) async throws -> Void
  ) async throws {
    let listener = try await LoopbackListener()
    let receiver = Receiver(port: listener.port)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await listener.run { try await receiver.serve($0, answer) } }
      try await body(receiver)
      group.cancelAll()
    }
  }

  private func serve(
    _ connection: LoopbackListener.Connection, _ answer: @Sendable (Int, Request) -> Answer
  ) async throws {
    try await connection.executeThenClose { inbound, _ in
      // Not the asynchronous writer: a write must be with the kernel before the connection closes.
      let channel = connection.channel
      var input = inbound.makeAsyncIterator()
      var bytes: [UInt8] = []
      while true {
        if let request = Self.request(bytes) {
          let number = log.withLock {
            $0.append(request)
            return $0.count - 1
          }
          switch answer(number, request) {
          case .send(let text): return try await channel.writeAndFlush(ByteBuffer(string: text))
          case .linger(let text):
            if !text.isEmpty { try await channel.writeAndFlush(ByteBuffer(string: text)) }
            _ = try await input.next()
            return
          }
        }
        guard let piece = try await input.next() else { return }
        bytes += piece.readableBytesView
      }
    }
  }

  /// The request that these bytes are; `nil` as long as some are missing.
  private static func request(_ bytes: [UInt8]) -> Request? {
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    let headers = lines.dropFirst().map { line in
      let parts = line.split(separator: ":", maxSplits: 1)
      return (name: parts[0].lowercased(), value: String(parts[1].drop { $0 == " " }))
    }
    if headers.contains(where: { $0.name == "transfer-encoding" && $0.value == "chunked" }) {
      return chunks(bytes[end.upperBound...]).map { Request(line: String(lines[0]), headers: headers, body: $0) }
    }
    let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
    let body = bytes[end.upperBound...]
    if body.count < length { return nil }
    return Request(line: String(lines[0]), headers: headers, body: Array(body.prefix(length)))
  }

  /// The body in chunks; `nil` as long as some are missing.
  private static func chunks(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var (rest, body) = (bytes, [UInt8]())
    while let end = rest.firstRange(of: Array("\r\n".utf8)) {
      guard let count = Int(String(decoding: rest[..<end.lowerBound], as: UTF8.self), radix: 16) else { return nil }
      rest = rest[end.upperBound...]
      guard rest.count >= count + 2 else { return nil }
      if count == 0 { return body }
      body += rest.prefix(count)
      rest = rest.dropFirst(count + 2)
    }
    return nil
  }
}
