import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A server on loopback: of the answers of a script, in the order of the requests, or of the files in a folder.
final class HTTPServer: Sendable {
  struct Answer: Sendable {
    var status = "200 OK"
    var body = Data()
    /// Further fields of the head, each with its end of line.
    var fields = ""
    /// How long the server is silent before the head, in seconds.
    var delay = 0.0
    /// Whether it sends half of the body and then nothing until the client hangs up.
    var hangs = false
  }

  let port: UInt16
  private let listener: Int32
  private let log = Log()

  /// The request lines so far.
  var requests: [String] { log.lines.map { String($0.prefix { $0 != "\r\n" }) } }
  /// The heads of the requests so far.
  var heads: [String] { log.lines }
  /// The bodies of the requests so far, of those that say their length.
  var bodies: [Data] { log.bodies }

  var url: String { "http://127.0.0.1:\(port)/catalogue" }
  var root: String { "http://127.0.0.1:\(port)/" }

  /// A server that gives each request the next answer of a script.
  convenience init(_ script: [Answer]) throws {
    var answers = script.makeIterator()
    try self.init { _ in answers.next() }
  }

  /// A server of the files in a folder, with ETags and without ranges.
  convenience init(folder: String) throws {
    try self.init { head in
      let words = head.split(separator: " ")
      guard words.count > 1, !words[1].contains(".."),
        let body = FileManager.default.contents(atPath: folder + words[1].prefix { $0 != "?" })
      else { return Answer(status: "404 Not Found") }
      var hash: UInt64 = 14_695_981_039_346_656_037
      for byte in body { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
      let etag = "\"\(hash)\""
      if head.contains("If-None-Match: \(etag)") {
        return Answer(status: "304 Not Modified", fields: "ETag: \(etag)\r\n")
      }
      return Answer(body: body, fields: "ETag: \(etag)\r\n")
    }
  }

  /// - Parameter answer: The answer to the head of a request; `nil` to take no further one.
  private init(answering answer: @escaping (String) -> Answer?) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    // The system reads and writes the local variables within the calls.
    let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard listener >= 0, isListening else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    let log = log
    // Only this thread calls it.
    nonisolated(unsafe) let next = answer
    Thread.detachNewThread {
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        let head = Self.head(connection)
        log.append(head, Self.body(connection, head))
        guard let answer = unsafe next(head) else { return }
        Self.deliver(answer, on: connection)
        close(connection)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func head(_ connection: Int32) -> String {
    var head: [UInt8] = []
    while !head.ends(with: Array("\r\n\r\n".utf8)) {
      var byte: UInt8 = 0
      // One byte into the local variable.
      guard unsafe recv(connection, &byte, 1, 0) == 1 else { break }
      head.append(byte)
    }
    return String(decoding: head, as: UTF8.self)
  }

  /// As much as the head says, or as there is.
  private static func body(_ connection: Int32, _ head: String) -> Data {
    let field = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
    let count = field.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
    var body = Data()
    var piece = [UInt8](repeating: 0, count: 65_536)
    while body.count < count {
      let most = min(piece.count, count - body.count)
      // No more than the buffer has.
      let received = unsafe recv(connection, &piece, most, 0)
      if received <= 0 { break }
      body += piece.prefix(received)
    }
    return body
  }

  private static func deliver(_ answer: Answer, on connection: Int32) {
    let head =
      "HTTP/1.1 \(answer.status)\r\nContent-Length: \(answer.body.count)\r\n\(answer.fields)Connection: close\r\n\r\n"
    Thread.sleep(forTimeInterval: answer.delay)
    let body = answer.hangs ? answer.body.prefix(answer.body.count / 2) : answer.body
    var rest = ([UInt8](head.utf8) + body)[...]
    while !rest.isEmpty {
      // The buffer has as many bytes as it says.
      let count = unsafe rest.withUnsafeBytes {
        unsafe send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
    var byte: UInt8 = 0
    // One byte into the local variable, which does not come before the client hangs up.
    if answer.hangs { _ = unsafe recv(connection, &byte, 1, 0) }
  }
}

extension [UInt8] {
  fileprivate func ends(with suffix: [UInt8]) -> Bool {
    count >= suffix.count && self.suffix(suffix.count) == suffix[...]
  }
}

/// Lines that one thread writes and another reads.
private final class Log: @unchecked Sendable {
  private let lock = NSLock()
  private var all: [(line: String, body: Data)] = []

  var lines: [String] { lock.withLock { all.map(\.line) } }
  var bodies: [Data] { lock.withLock { all.map(\.body) } }
  func append(_ line: String, _ body: Data) { lock.withLock { all.append((line, body)) } }
}
