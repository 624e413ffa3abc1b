import Foundation
import Logging
import Synchronization
import Testing

@testable import DaemonProcess

@Suite struct DaemonLoggingTests {
  /// Keeps lines.
  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    @Sendable func write(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }
    var all: [String] { lines.withLock { $0 } }
    var last: String { all.last ?? "" }
  }

  private struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  private static let hostile = "a\n\u{1B}[31m\"\\\r\t\u{0}\u{7F}\u{9B}\u{202E}\u{2028}é🏷"

  private static func logger(_ settings: LogSettings, _ lines: Lines) -> Logger {
    Logger(label: "catalogd") { label in
      DaemonLogHandler(label: label, settings: settings, write: lines.write) {
        UnixTime(milliseconds: 1_795_289_401_123)
      }
    }
  }

  @Test func `a line for people`() {
    let lines = Lines()
    var logger = Self.logger(LogSettings(), lines)
    logger[metadataKey: "run"] = "1a"
    logger.info("listening", metadata: ["address": "127.0.0.1:8765", "size": "\(12)", "name": "till 1", "none": ""])
    #expect(
      lines.last
        == "2026-11-21T19:30:01.123Z info catalogd: listening address=127.0.0.1:8765 name=\"till 1\" none=\"\" run=1a size=12\n"
    )
    logger.warning("x", metadata: ["list": ["a", "b c"], "map": ["k": ["l": "v"]]])
    #expect(lines.last.hasSuffix("warning catalogd: x list=[a, \"b c\"] map=[k: [l: v]] run=1a\n"))
  }

  @Test func `a line for programs, with numbers that stay numbers`() {
    let lines = Lines()
    let logger = Self.logger(LogSettings(style: .json), lines)
    logger.error(
      "failed", error: Fault(description: "no room"),
      metadata: [
        "count": .stringConvertible(7), "big": .stringConvertible(UInt64.max), "share": .stringConvertible(0.5),
        "ok": .stringConvertible(true), "nan": .stringConvertible(Double.nan), "list": ["a", .stringConvertible(1)],
      ])
    #expect(
      lines.last
        == #"{"time":"2026-11-21T19:30:01.123Z","level":"error","label":"catalogd","message":"failed","error":"no room","#
        + #""metadata":{"big":18446744073709551615,"count":7,"list":["a",1],"nan":"nan","ok":true,"share":0.5}}"# + "\n"
    )
    logger.info("plain")
    #expect(lines.last.hasSuffix(#""message":"plain"}"# + "\n"))
  }

  @Test func `what others say stays inside its line and reads back as it was`() throws {
    let lines = Lines()
    let logger = Self.logger(LogSettings(style: .json), lines)
    logger.info("\(Self.hostile)", metadata: [Self.hostile: .string(Self.hostile)])
    #expect(lines.last.dropLast().utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(lines.last.utf8)) as? [String: Any])
    #expect(object["message"] as? String == Self.hostile)
    #expect(object["metadata"] as? [String: String] == [Self.hostile: Self.hostile])
  }

  @Test func `what others say cannot steer a terminal`() {
    let lines = Lines()
    let logger = Self.logger(LogSettings(), lines)
    logger.info("\(Self.hostile)", metadata: ["k": .string(Self.hostile)])
    let shown = #"a\n\u{1B}[31m"\\r\t\u{0}\u{7F}\u{9B}\u{202E}\u{2028}é🏷"#
    let quoted = #""a\n\u{1B}[31m\"\\\r\t\u{0}\u{7F}\u{9B}\u{202E}\u{2028}é🏷""#
    #expect(lines.last.hasSuffix("catalogd: \(shown) k=\(quoted)\n"))
  }

  @Test func `a text is cut at its bound, between characters`() {
    let limit = LogLine.maximumTextByteCount
    #expect(LogLine.cut(String(repeating: "a", count: limit)).utf8.count == limit)
    #expect(LogLine.cut(String(repeating: "a", count: limit + 1)) == String(repeating: "a", count: limit) + "…")
    #expect(LogLine.cut(String(repeating: "é", count: limit)) == String(repeating: "é", count: limit / 2) + "…")
    #expect(LogLine.cut("a" + String(repeating: "é", count: limit)).hasSuffix("é…"))
  }

  @Test func `a level that changes counts for loggers that are there, but for those with their own`() {
    let lines = Lines()
    let settings = LogSettings(level: .warning)
    let logger = Self.logger(settings, lines)
    var own = Self.logger(settings, lines)
    own.logLevel = .error
    logger.info("no")
    settings.level = .debug
    logger.debug("yes")
    own.warning("no")
    #expect(lines.all.count == 1)
    #expect(logger.logLevel == .debug && own.logLevel == .error)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_400_001, "2000-02-29T00:00:00.001Z"),
    (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (-1, "1969-12-31T23:59:59.999Z"),
  ])
  func `times are dates of the calendar`(_ milliseconds: Int64, _ text: String) {
    #expect(UnixTime(milliseconds: milliseconds).text == text)
  }

  @Test func `lines are written in order by whoever logs them, and none is lost below the bound`() throws {
    let pipe = Pipe()
    let output = LogOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor) { Array("dropped \($0)\n".utf8) }
    for i in 0..<1000 { output.write(Array("line \(i)\n".utf8)) }
    output.flush()
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(text == (0..<1000).map { "line \($0)\n" }.joined())
  }

  @Test func `where nobody reads, nobody waits, and what was dropped is reported`() throws {
    let pipe = Pipe()
    let output = LogOutput(descriptor: pipe.fileHandleForWriting.fileDescriptor, capacity: 1 << 16) {
      Array("dropped \($0)\n".utf8)
    }
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023) + [UInt8(ascii: "\n")]
    for _ in 0..<1000 { output.write(line) }
    // A pipe holds 64 KiB, one round is on its way, and another one waits.
    let written = Mutex("")
    let reading = Thread {
      let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      written.withLock { $0 = text }
    }
    reading.start()
    output.flush(timeout: .seconds(20))
    output.write(Array("after\n".utf8))
    output.flush(timeout: .seconds(20))
    try pipe.fileHandleForWriting.close()
    while !reading.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    let lines = written.withLock { $0 }.split(separator: "\n")
    let droppedCount = lines.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }.reduce(0, +)
    #expect(lines.count { $0.hasPrefix("x") } + droppedCount == 1000)
    #expect(droppedCount >= 1000 - 64 * 4)
    #expect(lines.last == "after")
  }
}
