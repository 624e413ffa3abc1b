import Foundation
import RandomTestSupport
import Testing

/// The real daemon, with its origin and its receiver, all of which die now and again, while somebody sets the clock.
@Suite struct DaemonChaosTests {
  @Test(.timeLimit(.minutes(10)))
  func `every answered scan arrives, in the order of its input, whoever is killed`() throws {
    var random = SeededGenerator(for: "DaemonChaosTests")
    let site = try Site()
    try site.startOrigin()
    try site.startDaemon()
    #expect(site.isReady(), "\(words(site))")
    let feeding = Feeding(site)
    var killed = 0
    for _ in 0..<12 * depth {
      Thread.sleep(forTimeInterval: Double.random(in: 0.1...0.6, using: &random))
      if Int.random(in: 0..<3, using: &random) == 0 {
        // Decades ahead, where 1970 is near, an hour off, or right.
        site.clock?.set(ahead: [43 * 31_556_952, -50 * 31_556_952, 3600, -3600, 0].randomElement(using: &random) ?? 0)
      }
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        killed += 1
        site.killDaemon()
        try site.startDaemon()
        // The next blow may come while it starts.
        if Bool.random(using: &random) { #expect(site.isReady(), "\(words(site))") }
      case 2:
        site.stopOrigin()
        Thread.sleep(forTimeInterval: Double.random(in: 0...0.5, using: &random))
        try site.startOrigin()
      case 3, 4: try site.receiver.become(ScanReceiver.Mood.allCases.randomElement(using: &random) ?? .well)
      default: try site.changeProducts(&random)
      }
    }
    // Everything works again, and the clock is right: what waits must go.
    if site.clock == nil { print("DaemonChaosTests: no compiler of C, so the clock is not set") }
    site.clock?.set(ahead: 0)
    try site.receiver.become(.well)
    #expect(site.isReady(), "\(words(site))")
    Thread.sleep(forTimeInterval: 0.5)
    feeding.end()
    let isQuiet = site.wait { isDrained(site) }
    #expect(isQuiet, "\(words(site))")

    let arrivals = site.receiver.arrivals
    var arrived: [String: Set<String>] = [:]
    var codes: [String: [String]] = [:]
    var keys: Set<String> = []
    for arrival in arrivals {
      let answer = try #require(Answered(String(decoding: arrival.body, as: UTF8.self)))
      arrived[arrival.webhook, default: []].insert(answer.id)
      guard keys.insert("\(arrival.webhook) \(arrival.key)").inserted else { continue }
      let object = try #require(try JSONSerialization.jsonObject(with: Data(arrival.body)) as? [String: Any])
      codes["\(arrival.webhook) \(object.text("input") ?? "")", default: []].append(answer.code)
    }
    let answered = feeding.answered
    print(
      "DaemonChaosTests: \(killed) daemons killed, \(answered.values.reduce(0) { $0 + $1.count }) scans answered,",
      "\(keys.count) uploads arrived in \(arrivals.count) requests")
    for input in Feeding.inputs {
      let told = answered[input, default: []]
      #expect(told.count > 5, "\(input) was hardly answered")
      for webhook in Site.webhooks {
        let lost = told.filter {
          $0.isRecorded && arrived[webhook]?.contains($0.id) != true && !site.receiver.refused.contains($0.code)
        }
        #expect(lost.isEmpty, "\(webhook) \(input): \(lost.count) of \(told.count) answered scans never arrived")
        let numbers = codes["\(webhook) \(input)", default: []].compactMap { Feeding.number(input, of: $0) }
        #expect(
          zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 },
          "\(webhook) \(input) arrived in another order: \(numbers)")
      }
    }
    // What the receiver refuses is parked, alone, and that is told.
    let parked =
      try site.http().request("GET", "/v1/queue/uploads?state=parked").object()["uploads"] as? [[String: Any]]
    let parkedCodes = parked?.compactMap { ($0["payload"] as? [String: Any])?.text("code") } ?? []
    #expect(Set(parkedCodes).isSubset(of: site.receiver.refused), "\(parkedCodes)")
    let refused = answered["conveyor", default: []].filter { $0.isRecorded && site.receiver.refused.contains($0.code) }
    #expect(parkedCodes.count >= Site.webhooks.count * refused.count)
    if !parkedCodes.isEmpty {
      let status = try site.http().request("GET", "/v1/status").object()
      let problems = (status["problems"] as? [[String: Any]])?.compactMap { $0.text("code") } ?? []
      #expect(problems.contains("uploads_parked"), "\(problems)")
    }
    try checkCatalogue(site)
    #expect(try #require(site.daemon).end() == 0, "\(words(site))")
    let verification = try site.root.run("verify")
    #expect(verification.code == 0, "\(verification.words)")
  }

  private func words(_ site: Site) -> String {
    String(decoding: ((try? Data(contentsOf: site.log)) ?? Data()).suffix(4000), as: UTF8.self)
  }

  private func isDrained(_ site: Site) -> Bool {
    guard let counts = try? site.http().request("GET", "/v1/queue").object() else { return false }
    return counts.number("waiting") == 0 && counts.number("sending") == 0
  }

  /// The daemon's catalogue is what somebody gets who asks the origin for everything.
  private func checkCatalogue(_ site: Site) throws {
    let other = try TestRoot(answers: [])
    let isSame = try site.wait {
      guard try site.http().request("POST", "/v1/sync", "{}").status == 200 else { return false }
      return try other.run("sync", "--full", "--url", site.originURL).code == 0 && other.dump() == site.root.dump()
    }
    #expect(isSame)
  }
}
