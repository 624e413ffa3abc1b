import Foundation
import LogStore

/// A directory for the time of a run, and clocks.
final class BenchFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "shelfmark-fleet-\(getpid())").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  func remove() { try? FileManager.default.removeItem(atPath: path) }

  /// The place of a catalogue of its own.
  func location(_ name: String) throws -> StoreLocation {
    try StoreLocation.creating(path + "/" + name, name: "catalogue")
  }

  func removeLocation(_ name: String) { try? FileManager.default.removeItem(atPath: path + "/" + name) }
}

/// What something took, in seconds.
struct Took {
  var wall: Double
  /// Of all threads of this process.
  var processor: Double

  static func of<Result>(_ body: () throws -> Result) rethrows -> (Result, Took) {
    let start = now()
    let result = try body()
    return (result, now().since(start))
  }

  static func of<Result>(_ body: () async throws -> Result) async rethrows -> (Result, Took) {
    let start = now()
    let result = try await body()
    return (result, now().since(start))
  }

  static func now() -> Took { Took(wall: read(CLOCK_MONOTONIC), processor: read(CLOCK_PROCESS_CPUTIME_ID)) }
  func since(_ start: Took) -> Took { Took(wall: wall - start.wall, processor: processor - start.processor) }

  private static func read(_ clock: clockid_t) -> Double {
    var time = timespec()
    // The call fills the local structure.
    unsafe clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

/// How figures are written.
enum Figure {
  /// Three significant digits, or all of a large number.
  static func number(_ value: Double) -> String {
    let size = abs(value)
    if size >= 100 || size == size.rounded() { return "\(Int(value.rounded()))" }
    let scale: Double = size >= 10 ? 10 : size >= 1 ? 100 : 1000
    return "\((value * scale).rounded() / scale)"
  }

  static func bytes(_ count: Int) -> String {
    count < 10_000
      ? "\(count) B" : count < 10_000_000 ? "\(number(Double(count) / 1e3)) kB" : "\(number(Double(count) / 1e6)) MB"
  }

  static func milliseconds(_ seconds: Double) -> String { "\(number(seconds * 1000)) ms" }
}

/// The processor, and what else the machine does.
func printMachine(_ seed: UInt64) {
  func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
  let model = text("/proc/cpuinfo").split(separator: "\n").first { $0.hasPrefix("model name") }
  let name = model?.split(separator: ":").last.map { $0.drop { $0 == " " } } ?? "unknown processor"
  let load = text("/proc/loadavg").split(separator: " ").first ?? "?"
  print("\(name), \(ProcessInfo.processInfo.processorCount) cores, load \(load), seed \(seed)")
  #if DEBUG
  print("A debug build: its times mean nothing.")
  #endif
}
