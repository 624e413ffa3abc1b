import Foundation
import ListenerTestSupport
import NIOCore
import Synchronization

/// A server on loopback that answers each request with the bytes and pauses of a script, be they HTTP or not.
final class ScriptedServer: Sendable {
  enum Step: Sendable {
    case send(String)
    /// Sends `byteCount` bytes in pieces of 64 KiB, as fast as the client takes them.
    case flood(byteCount: Int)
    /// Keeps silent until the client hangs up.
    case hang
    /// Sends a piece every few milliseconds until the client hangs up.
    case drip(String)
    /// Closes the connection.
    case close
  }

  /// The heads of all requests so far, without the empty line.
  var requests: [String] { log.withLock { $0 } }
  /// Bytes of all floods that the client's socket took so far.
  var floodedByteCount: Int { flooded.load(ordering: .relaxed) }
  /// The number of connections so far on which a request arrived.
  var connectionCount: Int { connections.load(ordering: .relaxed) }
  let port: Int

  private let connections = Atomic(0)
  private let log = Mutex<[String]>([])
  private let flooded = Atomic(0)

  private init(port: Int) { self.port = port }

  func url(_ path: String = "/", host: String = "127.0.0.1", scheme: String = "http") -> String {
    "\(scheme)://\(host):\(port)\(path)"
  }

  /// Runs a server for as long as `body` does.
  ///
  /// - Parameters:
  ///   - isExpired: Whether its certificate is no longer valid.
  ///   - keepsConnections: Whether a connection takes another request after the last step, instead of closing.
  ///   - script: What to do with the request of the given number (from 0) and head.
  static func run<Result: Sendable>(
    tls: Bool = false, isExpired: Bool = false, keepsConnections: Bool = false,
    script: @escaping @Sendable (Int, String) -> [Step],
    _ body: (ScriptedServer) async throws -> Result
  ) async throws -> Result {
    let listener = try await LoopbackListener()
    let front = try tls ? TLSFront(port: listener.port, isExpired: isExpired) : nil
    let server = ScriptedServer(port: front?.port ?? listener.port)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await listener.run { try await server.serve($0, keepsConnections: keepsConnections, script: script) }
      }
      // The front ends first, so that no connection of its arrives at a listener that is being closed.
      defer {
        front?.stop()
        group.cancelAll()
      }
      return try await body(server)
    }
  }

  private func serve(
    _ connection: LoopbackListener.Connection, keepsConnections: Bool,
    script: @Sendable (Int, String) -> [Step]
  ) async throws {
    try await connection.executeThenClose { inbound, _ in
      // Not the asynchronous writer: a write must be with the kernel before the connection closes.
      let channel = connection.channel
      var input = inbound.makeAsyncIterator()
      var isFirst = true
      repeat {
        var head = ""
        while !head.hasSuffix("\r\n\r\n") {
          guard let bytes = try await input.next() else { return }
          head += String(buffer: bytes)
        }
        if isFirst { connections.add(1, ordering: .relaxed) }
        isFirst = false
        let number = log.withLock {
          $0.append(String(head.dropLast(1)))
          return $0.count - 1
        }
        for step in script(number, head) {
          switch step {
          case .send(let text):
            try await channel.writeAndFlush(ByteBuffer(string: text))
          case .flood(let byteCount):
            let piece = ByteBuffer(repeating: 0x41, count: 65_536)
            var left = byteCount
            while left > 0 {
              let next = min(left, piece.readableBytes)
              try await channel.writeAndFlush(
                next == piece.readableBytes ? piece : ByteBuffer(repeating: 0x41, count: next))
              left -= next
              flooded.add(next, ordering: .relaxed)
            }
          case .hang:
            _ = try await input.next()
          case .drip(let text):
            while true {
              try await channel.writeAndFlush(ByteBuffer(string: text))
              try await Task.sleep(for: .milliseconds(5))
            }
          case .close:
            return
          }
        }
      } while keepsConnections
    }
  }
}

extension ScriptedServer.Step {
  /// A whole answer with its length.
  static func answer(_ status: String = "200 OK", headers: [String] = [], body: String = "") -> Self {
    let lines = ["HTTP/1.1 \(status)"] + headers + ["Content-Length: \(body.utf8.count)", "", body]
    return .send(lines.joined(separator: "\r\n"))
  }

  /// The head of a 200 that announces `length` bytes.
  static func head(length: Int) -> Self { .send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n") }
}

/// A process that speaks TLS on one port, and passes everything on to another one.
private final class TLSFront {
  let port: Int
  private let process = Process()
  private let input = Pipe()
  private let folder: URL

  init(port: Int, isExpired: Bool) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "tls-front-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let (certificate, key) = (folder.appending(path: "certificate.pem"), folder.appending(path: "key.pem"))
    try Data((isExpired ? TestCertificate.expired : TestCertificate.certificate).utf8).write(to: certificate)
    try Data((isExpired ? TestCertificate.expiredPrivateKey : TestCertificate.privateKey).utf8).write(to: key)
    let script = Bundle.module.url(forResource: "tls-front", withExtension: "py", subdirectory: "Resources")
    guard let script else { throw CocoaError(.fileNoSuchFile) }
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", script.path, certificate.path, key.path, String(port)]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let own = Int(line.filter(\.isNumber)) else { throw CocoaError(.fileReadUnknown) }
    self.port = own
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }
}
