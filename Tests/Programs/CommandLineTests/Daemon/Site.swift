import CProcessSupport
import Foundation
import Synchronization

/// A daemon with everything around it: an origin, a receiver of its webhooks, and what its inputs read from.
final class Site: Sendable {
  let root: TestRoot
  let receiver: ScanReceiver
  let httpPort: Int
  let tcpPort: Int
  /// The scanner of the serial input, where it is plugged in.
  private let pluggedIn = Mutex<SerialScanner?>(nil)
  /// The path of its device.
  private let devicePath: String
  /// A FIFO of a keyboard's events, held open at both ends.
  let keyboard: TestSocket
  let socketPath: String
  let products: URL
  private let originPort: Int
  private let configuration: URL
  private let origin = Mutex<Process?>(nil)
  private let running = Mutex<DaemonProcess?>(nil)
  /// The clock of the daemon; `nil` where it cannot be set.
  let clock: SteppedClock?
  /// How often the products were changed.
  private let changes = Atomic(0)

  /// The webhooks: one that gets each scan alone, one that gets batches.
  static let webhooks = ["warehouse", "office"]
  /// Numbers of scans of the conveyor that the receiver always answers with 500.
  static let refusedNumbers = [3, 4, 11]

  /// The daemon that runs now.
  var daemon: DaemonProcess? { running.withLock { $0 } }
  var originURL: String { "http://127.0.0.1:\(originPort)/" }
  var log: URL { root.folder.url("catalogd.log") }

  /// - Parameter refusedNumbers: Of the codes of the conveyor that the receiver refuses for good.
  init(refusing refusedNumbers: [Int] = Site.refusedNumbers) throws {
    root = try TestRoot(answers: [])
    clock = SteppedClock(in: URL(fileURLWithPath: root.folder.path))
    receiver = try ScanReceiver(refusing: Set(refusedNumbers.map { Feeding.code("conveyor", $0) }))
    (httpPort, tcpPort, originPort) = (try FreePort.take(), try FreePort.take(), try FreePort.take())
    socketPath = root.folder.path + "/scan.sock"
    let fifo = root.folder.path + "/keyboard"
    // The path is a C string for the calls.
    guard unsafe mkfifo(fifo, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
    keyboard = TestSocket(descriptor: unsafe open(fifo, O_RDWR))
    devicePath = root.folder.path + "/scanner"
    products = try root.folder.file(
      "products.ndjson", Data(Fixture.scanCatalogue.get().products.map { $0 + "\n" }.joined().utf8))
    let settings: [String: Any] = [
      "user": "u",
      "http": ["address": "127.0.0.1:\(httpPort)"],
      "sync": ["url": "http://127.0.0.1:\(originPort)/", "intervalSeconds": 1, "firstRetrySeconds": 0.2],
      "webhooks": [
        "names": ["warehouse", "office"],
        "warehouse": [
          "url": receiver.url, "firstPauseSeconds": 0.05, "longestPauseSeconds": 0.5, "timeoutSeconds": 2,
        ],
        "office": [
          "url": receiver.url, "firstPauseSeconds": 0.05, "longestPauseSeconds": 0.5, "timeoutSeconds": 2,
          "batch": ["maximum": 20, "lingerMilliseconds": 10],
        ],
      ],
      "inputs": [
        "names": ["pipe", "gun", "keys", "conveyor", "handheld"],
        "pipe": ["kind": "stdin"],
        "gun": ["kind": "serial", "device": devicePath, "baud": 115_200, "answers": true],
        "keys": ["kind": "keyboard", "device": fifo],
        "conveyor": ["kind": "tcp", "host": "127.0.0.1", "port": tcpPort],
        "handheld": ["kind": "socket", "path": socketPath],
      ],
      "drainSeconds": 5,
    ]
    configuration = try root.folder.file("catalogd.json", JSONSerialization.data(withJSONObject: settings))
    try plugScanner()
  }

  deinit {
    daemon?.kill()
    stopOrigin()
  }

  // MARK: The scanner of the serial input

  /// The scanner's side of its line.
  ///
  /// - Throws: `POSIXError` while it is not plugged in.
  func scanner() throws -> TestSocket {
    guard let scanner = pluggedIn.withLock({ $0 }) else { throw POSIXError(.ENODEV) }
    return scanner.line
  }

  func plugScanner() throws {
    let scanner = try SerialScanner()
    try FileManager.default.createSymbolicLink(atPath: devicePath, withDestinationPath: scanner.path)
    pluggedIn.withLock { $0 = scanner }
  }

  /// The device is gone once nobody waits for an answer at it.
  func unplugScanner() throws {
    try FileManager.default.removeItem(atPath: devicePath)
    pluggedIn.withLock { $0 = nil }
  }

  // MARK: The origin

  func startOrigin() throws {
    let process = Program.process(
      [
        "serve", "--products", products.path, "--relations", Fixture.url("sample-relations.ndjson.gz").path, "--port",
        "\(originPort)", "--watch", "0.1",
      ], root: root.path)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    origin.withLock { $0 = process }
  }

  /// Without a word.
  func stopOrigin() {
    let process = origin.withLock { origin in
      defer { origin = nil }
      return origin
    }
    guard let process else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Changes some products' names, as somebody at the company would: each change has a later `updateTime`, so an origin
  /// that was started again knows what a client lacks.
  func changeProducts(_ random: inout some RandomNumberGenerator) throws {
    let change = changes.add(1, ordering: .relaxed).newValue
    let clock = [change / 3600, change / 60 % 60, change % 60].map { String(100 + $0).dropFirst() }
    let time = "2026-01-01 " + clock.joined(separator: ":")
    var lines = String(decoding: try Data(contentsOf: products), as: UTF8.self).split(separator: "\n").map(String.init)
    let dated = lines.indices.filter { lines[$0].contains("\"updateTime\":") }
    for _ in 0..<20 {
      guard let index = dated.randomElement(using: &random) else { return }
      lines[index] = lines[index].replacing("\"name\":\"", with: "\"name\":\"~", maxReplacements: 1)
        .replacing(/"updateTime":"[^"]*"/, with: "\"updateTime\":\"\(time)\"")
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: products, options: .atomic)
  }

  /// Changes the name of every product, as another catalogue would: more rows than an increment has.
  ///
  /// - Returns: What each name begins with now.
  func replaceProducts() throws -> String {
    let change = changes.add(1, ordering: .relaxed).newValue
    let mark = "day \(change) "
    let lines = String(decoding: try Data(contentsOf: products), as: UTF8.self).split(separator: "\n").map { line in
      line.replacing("\"name\":\"", with: "\"name\":\"\(mark)", maxReplacements: 1)
        .replacing(
          /"updateTime":"[^"]*"/, with: "\"updateTime\":\"2026-01-01 00:00:\(String(100 + change).dropFirst())\"")
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: products, options: .atomic)
    return mark
  }

  // MARK: The daemon

  func startDaemon(_ more: [String] = []) throws {
    let daemon = try DaemonProcess(["--config", configuration.path] + more, root: root.path, log: log, clock: clock)
    running.withLock { $0 = daemon }
  }

  /// Ends it without a word.
  func killDaemon() {
    let daemon = running.withLock { running in
      defer { running = nil }
      return running
    }
    daemon?.kill()
  }

  func http(timeout: Int = 5) throws -> TestHTTPClient {
    TestHTTPClient(try TestSocket(port: httpPort, timeout: timeout))
  }

  /// Waits until the daemon answers.
  ///
  /// - Returns: whether it did, within a minute.
  func isReady() -> Bool {
    wait { (try? self.http().request("GET", "/readyz").status) == 200 }
  }

  /// Looks now and again, for a minute, whether something is so.
  func wait(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: 60)
    while Date() < end {
      if try condition() { return true }
      Thread.sleep(forTimeInterval: 0.02)
    }
    return false
  }
}
