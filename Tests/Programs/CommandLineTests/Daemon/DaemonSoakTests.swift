import Foundation
import RandomTestSupport
import Testing

/// For how many seconds a daemon is watched; 0 where nobody asked for it.
private let soakSeconds = ProcessInfo.processInfo.environment["SHELFMARK_SOAK"].flatMap(Double.init) ?? 0

/// A daemon that works for long needs no more memory and no more descriptors than one that works for a while.
///
/// `SHELFMARK_SOAK` says for how many seconds: 60 in CI, 3600 before a release. It prints what it saw.
@Suite(.enabled(if: soakSeconds > 0)) struct DaemonSoakTests {
  /// What the system says of a process.
  struct Sample {
    /// Bytes that belong to the process alone; pages of mapped files come and go with the store.
    var anonymousByteCount: Int
    var descriptorCount: Int
    var threadCount: Int

    init?(of process: Int32) {
      guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
        let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
      else { return nil }
      func number(_ key: String) -> Int? {
        let line = status.split(separator: "\n").first { $0.hasPrefix(key + ":") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
      }
      guard let anonymous = number("RssAnon"), let threads = number("Threads") else { return nil }
      anonymousByteCount = anonymous << 10
      descriptorCount = descriptors.count
      threadCount = threads
    }
  }

  @Test func `memory and descriptors stay flat`() throws {
    var random = SeededGenerator(for: "DaemonSoakTests")
    let site = try Site()
    try site.startOrigin()
    try site.startDaemon()
    #expect(site.isReady())
    let process = try #require(site.daemon).process.processIdentifier
    // As many scans as can be sent on: a queue that grows needs memory for all that waits.
    let feeding = Feeding(site, pause: 0.15)
    var samples: [Sample] = []
    let end = Date(timeIntervalSinceNow: soakSeconds)
    while Date() < end {
      Thread.sleep(forTimeInterval: min(1, soakSeconds / 100))
      samples.append(try #require(Sample(of: process), "the daemon is gone"))
      switch Int.random(in: 0..<20, using: &random) {
      case 0, 1: try site.changeProducts(&random)
      case 2: try site.receiver.become(ScanReceiver.Mood.allCases.randomElement(using: &random) ?? .well)
      case 3: try comeAndGo(site)
      case 4...12: try site.receiver.become(.well)
      default: break
      }
    }
    feeding.end()
    let waiting = try site.http().request("GET", "/v1/queue").object().number("waiting") ?? .max
    let count = feeding.answered.values.reduce(0) { $0 + $1.count }
    let third = samples.count / 3
    let (middle, last) = (samples[third..<2 * third], samples[(2 * third)...])
    func most(_ samples: ArraySlice<Sample>, _ value: (Sample) -> Int) -> Int { samples.map(value).max() ?? 0 }
    let bytes = (most(middle, \.anonymousByteCount), most(last, \.anonymousByteCount))
    let descriptors = (most(middle, \.descriptorCount), most(last, \.descriptorCount))
    let threads = (most(middle, \.threadCount), most(last, \.threadCount))
    print(
      "soak: \(Int(soakSeconds)) s, \(count) scans answered, \(waiting) wait to be sent; middle third and last third: memory \(bytes.0 >> 10) KiB and",
      "\(bytes.1 >> 10) KiB, descriptors \(descriptors.0) and \(descriptors.1), threads \(threads.0) and \(threads.1)")
    let course = stride(from: 0, to: samples.count, by: max(1, samples.count / 12)).map {
      samples[$0...].prefix(max(1, samples.count / 12)).map(\.anonymousByteCount).max() ?? 0
    }
    print("soak: memory over time, KiB: \(course.map { "\($0 >> 10)" }.joined(separator: " "))")
    #expect(count > Int(soakSeconds) * 5 && waiting < 1000)
    #expect(bytes.1 < bytes.0 + bytes.0 / 10 + 4 << 20)
    #expect(descriptors.1 <= descriptors.0 + 8)
    #expect(threads.1 <= threads.0 + 4)
    #expect(try #require(site.daemon).end() == 0)
  }

  /// Clients that come, ask, and go without a word.
  private func comeAndGo(_ site: Site) throws {
    for _ in 0..<20 {
      let client = try site.http()
      try client.begin("GET", "/v1/events")
      _ = client.head()
      try TestSocket(port: site.tcpPort).send("SG5216N")
      try TestSocket(path: site.socketPath).send("{\"code\"")
      _ = try site.http().request("GET", "/v1/status")
    }
  }
}
