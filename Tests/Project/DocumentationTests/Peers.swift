import Foundation
import Glibc

/// What the other end of a socket is to a test. Everything blocks: call it on a thread of its own.
enum Peers {
  struct Failure: Error { let what: String }

  /// Sends a line to a Unix domain socket, and gives back the line that comes. Tries until somebody listens, for a
  /// minute.
  static func ask(_ line: String, at path: String) throws -> String {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    for _ in 0..<6000 {
      let number = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
      defer { close(number) }
      let length = socklen_t(MemoryLayout<sockaddr_un>.size)
      let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(number, $0, length) == 0 }
      }
      guard isConnected else {
        usleep(10_000)
        continue
      }
      let bytes = Array((line + "\n").utf8)
      guard write(number, bytes, bytes.count) == bytes.count else { throw Failure(what: "write") }
      return String(decoding: read(number) { $0.last == UInt8(ascii: "\n") }, as: UTF8.self)
    }
    throw Failure(what: "nobody listens at \(path)")
  }

  /// Listens at a free port of the loopback device.
  static func listen() throws -> (number: CInt, port: Int) {
    let number = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, length) == 0 && Glibc.listen(number, 8) == 0 && getsockname(number, $0, &length) == 0
      }
    }
    guard isBound else { throw Failure(what: "listen") }
    return (number, Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Answers one HTTP request with a status, and gives back its first line and the header `Idempotency-Key`.
  static func answer(_ number: CInt, with status: Int) throws -> (line: String, id: String) {
    let connection = accept(number, nil, nil)
    guard connection >= 0 else { throw Failure(what: "accept") }
    defer { close(connection) }
    func length(_ head: String) -> Int {
      head.lowercased().firstMatch(of: /content-length: (\d+)/).flatMap { Int($0.1) } ?? 0
    }
    let request = read(connection) { bytes in
      let text = String(decoding: bytes, as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n") else { return false }
      return text[end.upperBound...].utf8.count >= length(String(text[..<end.lowerBound]))
    }
    let answer = Array("HTTP/1.1 \(status) Answer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    guard write(connection, answer, answer.count) == answer.count else { throw Failure(what: "write") }
    let text = String(decoding: request, as: UTF8.self)
    let id = text.firstMatch(of: /Idempotency-Key: (\S+)/).map { String($0.1) } ?? ""
    return (text.split(separator: "\r\n").first.map(String.init) ?? "", id)
  }

  private static func read(_ number: CInt, until isWhole: ([UInt8]) -> Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while !isWhole(bytes) {
      let count = Glibc.read(number, &piece, piece.count)
      if count <= 0 { break }
      bytes += piece.prefix(count)
    }
    return bytes
  }

  /// Runs `body` on a thread of its own.
  static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Swift.Result(catching: body)) }.start()
    }
  }
}
