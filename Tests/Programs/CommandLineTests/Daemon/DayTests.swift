import Foundation
import Synchronization
import Testing

/// How many seconds the day has: ten minutes where somebody asks for them, else about one.
private let day = ProcessInfo.processInfo.environment["SHELFMARK_DAY"]
private let daySeconds = day == "1" ? 600.0 : 36.0

/// A day of a till: the real daemon with all inputs, its origin and its receiver.
///
/// `SHELFMARK_DAY=1` gives it ten minutes, another value 36 seconds. Without one it is left out: beside tests that keep
/// every processor busy, faults of some seconds are over before they are seen.
@Suite(.enabled(if: day != nil)) struct DayTests {
  @Test(.timeLimit(.minutes(25)))
  func `every scan of a day with faults is delivered, and the status names each fault while it lasts`() throws {
    let site = try Site(refusing: [])
    try site.startOrigin()
    try site.startDaemon()
    #expect(site.isReady(), "\(words(site))")
    let feeding = Feeding(site, pause: nil)
    let status = StatusWatch(site)
    let day = Day(site, status)

    day.pass(hours: 5)
    let usual = status.problems
    feeding.pause(0.5)
    day.pass(hours: 2)
    feeding.pause(0.01)
    day.pass(hours: 1)
    feeding.pause(0.3)

    try day.fault("the network is away", hours: 2) {
      try site.receiver.become(.away)
      site.stopOrigin()
    } isNamed: {
      $0.isWebhookNamed && $0.contains(.init(code: "sync_failing"))
    } ends: {
      try site.receiver.become(.well)
      try site.startOrigin()
    }
    day.pass(hours: 1)

    let generation = try catalogue(site).number("generation") ?? 0
    let mark = try site.replaceProducts()
    let isReplaced = try day.wait {
      try catalogue(site).number("generation") ?? 0 > generation && name(site).hasPrefix(mark)
    }
    #expect(isReplaced, "\(words(site))")
    feeding.pause(0.01)
    day.pass(hours: 1)
    feeding.pause(0.3)

    try day.fault("the receiver is installed anew", hours: 2) {
      try site.receiver.become(.missing)
    } isNamed: {
      $0.contains(.init(code: "target_paused", about: "warehouse"))
    } ends: {
      try site.receiver.become(.well)
    }
    day.pass(hours: 1)

    try day.fault("the network drops everything", hours: 2) {
      try site.receiver.become(.dropping)
      site.stopOrigin()
    } isNamed: {
      $0.isWebhookNamed && $0.contains(.init(code: "sync_failing"))
    } ends: {
      try site.receiver.become(.well)
      try site.startOrigin()
    }

    try day.fault("the scanner is unplugged", hours: 1) {
      try site.unplugScanner()
    } isNamed: {
      $0.contains(.init(code: "input_closed", about: "gun"))
    } ends: {
      try site.plugScanner()
    }
    let afterwards = feeding.answered["gun", default: []].count
    feeding.pause(0.01)
    day.pass(hours: 1)
    #expect(day.wait { feeding.answered["gun", default: []].count > afterwards }, "the scanner was not opened again")
    feeding.pause(0.5)
    day.pass(hours: 2)
    feeding.pause(nil)
    day.pass(hours: 3)

    // The keyboard tells nobody what became of the last code.
    #expect(day.wait { arrived(site).isSuperset(of: feeding.sent["keys", default: []]) })
    feeding.end()
    let isQuiet = try day.wait { try isDrained(site) }
    #expect(isQuiet, "\(words(site))")
    #expect(day.wait { status.problems == usual }, "\(status.problems), and in the morning \(usual)")
    status.end()
    print(
      "DayTests: \(feeding.sent.values.reduce(0) { $0 + $1.count }) scans in \(Int(day.seconds)) s,",
      "\(site.receiver.arrivals.count) requests taken, status asked \(status.count) times, named",
      status.named.map(\.description).sorted().joined(separator: ", "))
    #expect(!status.named.contains { ["uploads_parked", "keys_held"].contains($0.code) }, "\(status.named)")
    try checkScans(site, feeding)
    #expect(try #require(site.daemon).end() == 0, "\(words(site))")
    let verification = try site.root.run("verify")
    #expect(verification.code == 0, "\(verification.words)")
  }

  /// Every scan that was answered has arrived; of inputs that nobody unplugs, every one that was sent. In their order.
  private func checkScans(_ site: Site, _ feeding: Feeding) throws {
    let counts = try site.http().request("GET", "/v1/queue").object()
    for state in ["waiting", "sending", "parked"] { #expect(counts.number(state) == 0, "\(state)") }
    // The first arrival of each scan, at whatever webhook: each has them in order, so these are as well.
    var codes: [String: [String]] = [:]
    var ids: Set<String> = []
    for arrival in site.receiver.arrivals {
      let answer = try #require(Answered(String(decoding: arrival.body, as: UTF8.self)))
      guard ids.insert(answer.id).inserted else { continue }
      let object = try #require(try JSONSerialization.jsonObject(with: Data(arrival.body)) as? [String: Any])
      codes[object.text("input") ?? "", default: []].append(object.text("code") ?? "")
    }
    for input in Feeding.inputs {
      let answered = feeding.answered[input, default: []]
      #expect(answered.count > 5, "\(input) was hardly answered")
      #expect(!answered.contains { !$0.isRecorded }, "\(input): not everything was recorded")
      let expected = input == "gun" ? answered.map(\.code) : feeding.sent[input, default: []]
      let lost = Set(expected).subtracting(codes[input, default: []])
      #expect(
        lost.isEmpty,
        "\(input): \(lost.count) of \(expected.count) scans never arrived, such as \(lost.sorted().prefix(3))")
      let numbers = codes[input, default: []].compactMap { Feeding.number(input, of: $0) }
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(input) arrived in another order")
    }
  }

  private func arrived(_ site: Site) -> Set<String> {
    Set(site.receiver.arrivals.compactMap { Answered(String(decoding: $0.body, as: UTF8.self))?.code })
  }

  private func isDrained(_ site: Site) throws -> Bool {
    let counts = try site.http().request("GET", "/v1/queue").object()
    return counts.number("waiting") == 0 && counts.number("sending") == 0
  }

  private func catalogue(_ site: Site) throws -> [String: Any] {
    try site.http().request("GET", "/v1/status").object()["catalogue"] as? [String: Any] ?? [:]
  }

  /// The name of a product that is scanned all day.
  private func name(_ site: Site) throws -> String {
    let answer = try site.http().request("GET", "/v1/scan/\(Feeding.code("http", 1))").object()
    return (answer["products"] as? [[String: Any]])?.first?.text("name") ?? ""
  }

  private func words(_ site: Site) -> String {
    String(decoding: ((try? Data(contentsOf: site.log)) ?? Data()).suffix(4000), as: UTF8.self)
  }
}

/// A problem, as `/v1/status` names it.
private struct Named: Hashable, CustomStringConvertible {
  var code: String
  var about: String?

  var description: String { about.map { "\(code) (\($0))" } ?? code }
}

extension Set<Named> {
  /// Whether something is said of the receiver.
  fileprivate var isWebhookNamed: Bool {
    contains(.init(code: "webhook_failing", about: "warehouse"))
      || contains(.init(code: "target_paused", about: "warehouse"))
  }
}

/// Asks a daemon for its status, again and again, in a thread of its own.
private final class StatusWatch: Sendable {
  private struct State {
    var problems: Set<Named> = []
    var named: Set<Named> = []
    var count = 0
  }

  private let state = Mutex(State())
  private let isOver = Atomic(false)
  private let ended = DispatchGroup()

  /// What was named the last time.
  var problems: Set<Named> { state.withLock { $0.problems } }
  /// What was ever named.
  var named: Set<Named> { state.withLock { $0.named } }
  var count: Int { state.withLock { $0.count } }

  init(_ site: Site) {
    ended.enter()
    Thread.detachNewThread { [self] in
      while !isOver.load(ordering: .relaxed) {
        if let status = try? site.http().request("GET", "/v1/status").object(),
          let problems = status["problems"] as? [[String: Any]]
        {
          let named = Set(problems.map { Named(code: $0.text("code") ?? "", about: $0.text("about")) })
          state.withLock { state in
            state.problems = named
            state.named.formUnion(named)
            state.count += 1
          }
        }
        Thread.sleep(forTimeInterval: 0.1)
      }
      ended.leave()
    }
  }

  func end() {
    isOver.store(true, ordering: .relaxed)
    ended.wait()
  }
}

/// The hours of a day, and what goes wrong in them.
private struct Day {
  let site: Site
  let status: StatusWatch
  let seconds = daySeconds

  init(_ site: Site, _ status: StatusWatch) {
    self.site = site
    self.status = status
  }

  func pass(hours: Double) { Thread.sleep(forTimeInterval: hours * seconds / 24) }

  /// Looks now and again whether something is so, for longer than a target is left alone that was paused for some
  /// hours.
  func wait(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date(timeIntervalSinceNow: 180)
    while Date() < end {
      if try condition() { return true }
      Thread.sleep(forTimeInterval: 0.05)
    }
    return false
  }

  /// Something goes wrong for some hours, or until the status names it.
  ///
  /// - Parameters:
  ///   - isNamed: Whether these problems are those that are to be named.
  ///   - ends: Makes it well again.
  func fault(
    _ what: String, hours: Double, _ begins: () throws -> Void, isNamed: (Set<Named>) -> Bool, ends: () throws -> Void
  ) throws {
    let before = status.problems
    #expect(!isNamed(before), "\(what): \(before)")
    let end = Date(timeIntervalSinceNow: hours * seconds / 24)
    try begins()
    #expect(site.wait { isNamed(status.problems) }, "\(what), and the status names \(status.problems)")
    Thread.sleep(until: max(end, Date()))
    #expect(isNamed(status.problems), "\(what) still, and the status names \(status.problems)")
    try ends()
    #expect(wait { status.problems.isSubset(of: before) }, "\(what) no more, and the status names \(status.problems)")
  }
}
