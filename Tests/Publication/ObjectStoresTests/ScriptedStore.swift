import ListenerTestSupport
import NIOCore
import Synchronization

/// A server on loopback that answers each request as a script says.
final class ScriptedStore: Sendable {
  struct Request: Sendable {
    var head: String
    var body: [UInt8]

    var line: String { String(head.prefix { $0 != "\r\n" && $0 != "\r" && $0 != "\n" }) }
    var method: String { String(line.prefix { $0 != " " }) }

    /// The value of a field; `nil` if there is none.
    subscript(name: String) -> String? {
      head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }
        .map { String($0.dropFirst(name.count + 2)) }
    }
  }

  let port: Int
  private let log = Mutex<[Request]>([])
  var requests: [Request] { log.withLock { $0 } }

  private init(port: Int) { self.port = port }

  /// Runs a server for as long as `body` does.
  ///
  /// - Parameter script: The answer to the request of a number, from 0; `nil` to close the connection without one.
  static func run<Result: Sendable>(
    _ script: @escaping @Sendable (Int, Request) -> String?, _ body: (ScriptedStore) async throws -> Result
  ) async throws -> Result {
    let listener = try await LoopbackListener()
    let server = ScriptedStore(port: listener.port)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await listener.run { try await server.serve($0, script) } }
      defer { group.cancelAll() }
      return try await body(server)
    }
  }

  private func serve(
    _ connection: LoopbackListener.Connection, _ script: @Sendable (Int, Request) -> String?
  ) async throws {
    try await connection.executeThenClose { inbound, _ in
      var input = inbound.makeAsyncIterator()
      var bytes: [UInt8] = []
      var end: Int?
      while end == nil {
        guard let more = try await input.next() else { return }
        bytes += more.readableBytesView
        end = bytes.indices.first { bytes[$0...].starts(with: Array("\r\n\r\n".utf8)) }
      }
      guard let end else { return }
      var request = Request(head: String(decoding: bytes[..<end], as: UTF8.self), body: Array(bytes[(end + 4)...]))
      let length = request["Content-Length"].flatMap { Int($0) } ?? 0
      while request.body.count < length {
        guard let more = try await input.next() else { return }
        request.body += more.readableBytesView
      }
      let number = log.withLock { [request] in
        $0.append(request)
        return $0.count - 1
      }
      // A write must be with the kernel before the connection closes.
      if let answer = script(number, request) {
        try await connection.channel.writeAndFlush(ByteBuffer(string: answer))
      }
    }
  }

  /// An answer with its length.
  static func answer(_ status: Int, headers: [String] = [], body: String = "") -> String {
    let lines =
      ["HTTP/1.1 \(status) X"] + headers + ["Connection: close", "Content-Length: \(body.utf8.count)", "", body]
    return lines.joined(separator: "\r\n")
  }

  /// A refusal as stores write it.
  static func refusal(_ status: Int, _ code: String, _ message: String = "", headers: [String] = []) -> String {
    answer(
      status, headers: headers,
      body: "<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>\(message)</Message></Error>")
  }
}
