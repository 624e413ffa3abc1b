import BenchmarkSupport

#if canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Scans codes through a TCP input of a running daemon, as a scanner does: a code goes out as a line, its answer comes
/// back as one.
struct LineBenchmark {
  let port: UInt16
  let codes: [[UInt8]]
  let seconds: Double
  /// How many codes are on their way at once. A scanner has one.
  let window: Int

  /// - Throws: `UsageError`.
  init(_ options: Options) throws {
    guard let port = options.port, (1...65535).contains(port) else { throw UsageError("lines needs --port N") }
    guard let file = options.from else { throw UsageError("lines needs --from FILE, a code in each line of it") }
    self.port = UInt16(port)
    codes = try Files.read(file).split(separator: 10).map { Array($0) + [10] }
    if codes.isEmpty { throw UsageError("--from: \(file) has no codes") }
    seconds = options.seconds
    window = options.window
  }

  /// Prints a row of a Markdown table: scans a second, three percentiles in milliseconds, answers that say
  /// `"recorded":true`, connections that broke. What had no answer by then is sent again.
  func run() throws {
    // SIGPIPE would end the process where the daemon is killed.
    signal(SIGPIPE, SIG_IGN)
    var latencies: [Double] = []
    var recorded = 0
    var breaks = 0
    var next = 0
    // The codes on their way, and when they were sent.
    var waiting: [(code: Int, sent: Double)] = []
    var connection = try connect()
    let start = Elapsed.wallNow()
    let end = start + seconds * 1e9
    var now = start
    while now < end || !waiting.isEmpty {
      var bytes: [UInt8] = []
      while now < end, waiting.count < window {
        bytes += codes[next % codes.count]
        waiting.append((next, now))
        next += 1
      }
      let lines = bytes.isEmpty || connection.send(bytes) ? connection.receive() : []
      now = Elapsed.wallNow()
      if lines.isEmpty {
        breaks += 1
        connection = try connect()
        now = Elapsed.wallNow()
        let again = waiting.flatMap { codes[$0.code % codes.count] }
        _ = connection.send(again)
        continue
      }
      guard lines.count <= waiting.count else { throw WrongAnswer("\(lines.count) answers to \(waiting.count) codes") }
      for (line, scan) in zip(lines, waiting) {
        latencies.append((now - scan.sent) / 1e6)
        if line.contains(Self.recordedMark) { recorded += 1 }
      }
      waiting.removeFirst(lines.count)
    }
    let rate = Double(latencies.count) / ((now - start) / 1e9)
    let spread = Spread(latencies)
    let times = [50, 99, 99.9].map { FigureText.number(spread.percentile($0)) }
    print("| \(FigureText.number(rate)) | \(times.joined(separator: " | ")) | \(recorded) | \(breaks) |")
  }

  private static let recordedMark = Array(#""recorded":true"#.utf8)

  /// A daemon that was killed comes back within seconds.
  private func connect() throws -> LineSocket {
    let end = Elapsed.wallNow() + 20e9
    while Elapsed.wallNow() < end {
      if let connection = LineSocket(port: port) { return connection }
      usleep(2000)
    }
    throw WrongAnswer("nobody listens on port \(port) of 127.0.0.1")
  }
}

/// What a durable write costs on this machine at least: bytes appended to a file, and `fdatasync`.
struct AppendBenchmark {
  let path: String
  let byteCount: Int
  let seconds: Double

  /// Prints a row of a Markdown table: writes a second, and three percentiles in milliseconds.
  func run() throws {
    // The path is a string that lives as long as the call.
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw UsageError("--keep: \(path) cannot be written") }
    defer { close(descriptor) }
    let bytes = [UInt8](repeating: 0x5A, count: byteCount)
    var latencies: [Double] = []
    let start = Elapsed.wallNow()
    var now = start
    while now < start + seconds * 1e9 {
      let begin = now
      // The bytes live as long as the call, which reads as many as there are.
      let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress!, $0.count) }
      guard count == bytes.count, fdatasync(descriptor) == 0 else { throw WrongAnswer("\(path) cannot be written") }
      now = Elapsed.wallNow()
      latencies.append((now - begin) / 1e6)
    }
    let spread = Spread(latencies)
    let times = [50, 99, 99.9].map { FigureText.number(spread.percentile($0)) }
    print(
      "| \(FigureText.number(Double(latencies.count) / ((now - start) / 1e9))) | \(times.joined(separator: " | ")) | | |"
    )
  }
}
