import Foundation
import Synchronization

/// What an input's reader was told.
struct Answered: Sendable {
  var id: String
  var code: String
  var match: String
  var isRecorded: Bool

  init?(_ line: String) {
    guard let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any],
      let id = object.text("id"), let code = object.text("code"), let match = object.text("match")
    else { return nil }
    self.id = id
    self.code = code
    self.match = match
    isRecorded = (object["recorded"] as? NSNumber)?.boolValue ?? false
  }
}

/// Feeds scans through every input of a site, each in a thread of its own, whatever becomes of the daemon, and keeps
/// what was answered.
///
/// Codes say from which input they are, and their numbers grow; none is sent twice, answered or not.
final class Feeding: Sendable {
  static let inputs = ["pipe", "gun", "keys", "conveyor", "handheld", "http"]

  private let site: Site
  private let pace: Mutex<Double?>
  private let isOver = Atomic(false)
  private let codes = Mutex<[String: [String]]>([:])
  private let log = Mutex<[String: [Answered]]>([:])
  private let ended = DispatchGroup()

  /// - Parameter pause: Seconds from an answer to the next scan of the same input; `nil` for no scans.
  init(_ site: Site, pause: Double? = 0.002) {
    self.site = site
    pace = Mutex(pause)
    start("pipe") { site in
      guard let daemon = site.daemon else { throw POSIXError(.ENOENT) }
      return { try Self.ask(daemon.standard, $0 + "\n", $0) }
    }
    start("gun") { site in
      // The line of a serial device has no connection to lose: only what is written while nobody reads waits there.
      { try Self.ask(site.scanner(), $0 + "\r", $0) }
    }
    start("conveyor") { site in
      let connection = try TestSocket(port: site.tcpPort)
      return { try Self.ask(connection, $0 + "\r\n", $0) }
    }
    start("handheld") { site in
      let connection = try TestSocket(path: site.socketPath)
      return { try Self.ask(connection, "{\"code\":\"\($0)\",\"tag\":\"t\"}\n", $0) }
    }
    start("http") { site in
      // A connection for each: the daemon closes one that idles, as in a night without scans.
      { code in
        let response = try site.http().request("POST", "/v1/scans", "{\"code\":\"\(code)\"}")
        guard response.status == 200 else { throw POSIXError(.EIO) }
        return Answered(String(decoding: response.body, as: UTF8.self))
      }
    }
    type()
    listen()
  }

  /// Answers by input.
  var answered: [String: [Answered]] { log.withLock { $0 } }

  /// Codes that were sent, answered or not, by input.
  var sent: [String: [String]] { codes.withLock { $0 } }

  /// Scans faster or slower from now on, or not at all.
  func pause(_ seconds: Double?) { pace.withLock { $0 = seconds } }

  /// Ends all threads, and waits for that.
  func end() {
    isOver.store(true, ordering: .relaxed)
    ended.wait()
  }

  /// The code with this number of an input: a set's part with a serial number behind it, each tenth one unknown.
  static func code(_ input: String, _ number: Int) -> String {
    let index = inputs.firstIndex(of: input) ?? 0
    let head = number % 10 == 9 ? "ZZ9999X" : "SG5216N"
    return head + "\(index)" + String(String(1_000_000 + number).dropFirst())
  }

  /// The number of a code of this input; `nil` for anything else, such as half a code.
  static func number(_ input: String, of code: String) -> Int? {
    guard let number = Int(code.suffix(6)), code == Self.code(input, number) else { return nil }
    return number
  }

  // MARK: Threads

  /// A thread that opens an input, asks until that fails, and opens it again.
  private func start(
    _ input: String, _ open: @escaping @Sendable (Site) throws -> ((String) throws -> Answered?)
  ) {
    thread { [self] in
      var number = 0
      while !isOver.load(ordering: .relaxed) {
        guard let ask = try? open(site) else {
          Thread.sleep(forTimeInterval: 0.02)
          continue
        }
        while waitForNext() {
          let code = Self.code(input, number)
          number += 1
          codes.withLock { $0[input, default: []].append(code) }
          guard let answer = try? ask(code) else { break }
          log.withLock { $0[input, default: []].append(answer) }
        }
      }
    }
  }

  /// Waits until it is time for the next scan.
  ///
  /// - Returns: False where there will be none.
  private func waitForNext(atLeast least: Double = 0) -> Bool {
    let beginning = Date()
    while !isOver.load(ordering: .relaxed) {
      let left = pace.withLock { $0 }.map { max($0, least) + beginning.timeIntervalSinceNow }
      if let left, left <= 0 { return true }
      Thread.sleep(forTimeInterval: min(0.05, left ?? 0.05))
    }
    return false
  }

  /// A keyboard tells nobody anything; the event stream does.
  private func type() {
    thread { [self] in
      var number = 0
      while waitForNext(atLeast: 0.02) {
        let code = Self.code("keys", number)
        number += 1
        codes.withLock { $0["keys", default: []].append(code) }
        try? site.keyboard.send(Typing.events(code))
      }
    }
  }

  private func listen() {
    thread { [self] in
      var last: String?
      while !isOver.load(ordering: .relaxed) {
        guard let client = try? site.http(timeout: 1),
          (try? client.begin(
            "GET", "/v1/events?kinds=scan", headers: last.map { ["Last-Event-ID": $0] } ?? [:])) != nil,
          client.head()?.status == 200
        else {
          Thread.sleep(forTimeInterval: 0.02)
          continue
        }
        while !isOver.load(ordering: .relaxed), let line = client.socket.line() {
          // Sizes of chunks stand between the lines; they are none of these.
          if line.hasPrefix("id:") { last = line.dropFirst(3).trimmingCharacters(in: .whitespaces) }
          guard line.hasPrefix("data:"), let answer = Answered(String(line.dropFirst(5))),
            Self.number("keys", of: answer.code) != nil
          else { continue }
          log.withLock { $0["keys", default: []].append(answer) }
        }
      }
    }
  }

  private func thread(_ body: @escaping @Sendable () -> Void) {
    ended.enter()
    Thread.detachNewThread { [ended] in
      body()
      ended.leave()
    }
  }

  /// Sends a line, and waits for the answer to this code. Answers to earlier ones, which were given up, are no answers
  /// to anybody.
  private static func ask(_ channel: TestSocket, _ line: String, _ code: String) throws -> Answered? {
    try channel.send(line)
    while let line = channel.line() {
      if let answer = Answered(line), answer.code == code { return answer }
    }
    throw POSIXError(.ECONNRESET)
  }
}
