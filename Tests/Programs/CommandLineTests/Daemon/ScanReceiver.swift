import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Where a daemon's webhooks go: the judge of what arrived, in which order. It answers, or fails as it is told to.
final class ScanReceiver: @unchecked Sendable {  // everything that changes is under the lock
  enum Mood: CaseIterable {
    case well
    /// Nobody listens.
    case away
    /// The connection ends before anything was taken.
    case dropping
    /// The scan is taken, and the connection ends before the answer.
    case forgetful
    /// 503 to everything.
    case failing
    /// 404 to everything, as while it is installed anew.
    case missing

    /// Those that pass by themselves.
    static let allCases: [Mood] = [.well, .away, .dropping, .forgetful, .failing]
  }

  struct Arrival: Sendable {
    var webhook: String
    /// The same whenever the same scan comes again: its Idempotency-Key, or in a batch its id.
    var key: String
    var body: [UInt8]
  }

  /// Codes that are always answered with 500, alone or in a batch.
  let refused: Set<String>

  let port: Int
  private let lock = NSLock()
  private var mood = Mood.well
  private var all: [Arrival] = []
  private var listener: Int32 = -1
  private var connections: Set<Int32> = []

  var arrivals: [Arrival] { lock.withLock { all } }
  var url: String { "http://127.0.0.1:\(port)/scans/{kind}" }

  init(refusing refused: Set<String> = []) throws {
    self.refused = refused
    port = try FreePort.take()
    try listen()
  }

  deinit { stop() }

  func become(_ new: Mood) throws {
    let old = lock.withLock {
      defer { mood = new }
      return mood
    }
    if new == .away { stop() } else if old == .away { try listen() }
  }

  /// Ends the listener and all connections, as the end of its process would.
  private func stop() {
    let (listener, open) = lock.withLock {
      defer { self.listener = -1 }
      return (self.listener, connections)
    }
    for connection in open { shutdown(connection, Int32(SHUT_RDWR)) }
    if listener >= 0 {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }
  }

  private func listen() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var yes: Int32 = 1
    // The option is read within the call.
    unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in.loopback(port: port)
    // The address is read within the call.
    let isListening = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && Glibc.listen(listener, 64) == 0
      }
    }
    guard isListening else { throw POSIXError(.EADDRINUSE) }
    lock.withLock { self.listener = listener }
    Thread.detachNewThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        if connection < 0 { return }
        guard let self else {
          close(connection)
          return
        }
        lock.withLock { _ = connections.insert(connection) }
        Thread.detachNewThread { [weak self] in
          let socket = TestSocket(descriptor: connection, timeout: 60)
          while let self, self.serve(socket) {}
          self?.lock.withLock { _ = self?.connections.remove(connection) }
        }
      }
    }
  }

  /// Takes one request; false ends the connection.
  private func serve(_ socket: TestSocket) -> Bool {
    guard let first = socket.line(), first.hasPrefix("POST ") else { return false }
    var headers: [String: String] = [:]
    while let line = socket.line(), !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    guard let count = headers["content-length"].flatMap({ Int($0) }), let body = socket.bytes(count),
      let key = headers["idempotency-key"]
    else { return false }
    let webhook = first.split(separator: " ").dropFirst().first.map {
      $0.split(separator: "/").last.map(String.init) ?? ""
    }
    let isBatch = headers["content-type"] == "application/x-ndjson"
    let scans = isBatch ? body.split(separator: UInt8(ascii: "\n")).map(Array.init) : [body]
    let answers = scans.map { Answered(String(decoding: $0, as: UTF8.self)) }
    let isRefused = answers.contains { $0.map { refused.contains($0.code) } ?? false }
    let mood = lock.withLock {
      // What is taken is in the log before anybody is told.
      if self.mood == .well || self.mood == .forgetful, !isRefused {
        for (scan, answer) in zip(scans, answers) {
          all.append(Arrival(webhook: webhook ?? "", key: isBatch ? answer?.id ?? "" : key, body: scan))
        }
      }
      return self.mood
    }
    if isRefused, mood == .well {
      return (try? socket.send("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")) != nil
    }
    switch mood {
    case .well: return (try? socket.send("HTTP/1.1 204 No Content\r\n\r\n")) != nil
    case .failing: return (try? socket.send("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")) != nil
    case .missing: return (try? socket.send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")) != nil
    case .away, .dropping, .forgetful: return false
    }
  }
}

/// Ports for servers that have to come back under the same address.
enum FreePort {
  static func take() throws -> Int {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    var address = sockaddr_in.loopback(port: 0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The system reads and writes the local variables within the calls.
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(probe, $0, size) == 0 && getsockname(probe, $0, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
