import Platform
import PublicationFormat
import PublicationSync

/// A month of many devices, with the schedule of the daemon.
///
/// Around each incident every request of every device is an event. Between them each device asks once in an interval, so
/// these requests are counted and not simulated one by one.
struct Month {
  private let options: FleetOptions
  private let costs: Costs
  private static let interval = 300
  private static let days = 30
  private static let publicationsPerDay = 4
  /// The seconds between the return of power and the first step of a device: its boot.
  private static let boot = 20.0...60.0

  init(_ options: FleetOptions, _ costs: Costs) {
    self.options = options
    self.costs = costs
  }

  func run() throws {
    let count = options.deviceCount
    print(
      "\n\(count) devices, \(Self.days) days, a poll each \(Self.interval) s, \(Self.publicationsPerDay) publications a day"
        + " of 1,000 rows\n")
    print("| incident | mean of requests a second | most in a second, after it | / mean | most in 10 s | / mean |")
    print("|---|---|---|---|---|---|")
    var worst = 0.0
    for incident in Incident.all {
      let rates = Rates(of: incident, count: count, seed: options.seed, boot: Self.boot, interval: Self.interval)
      let ratio = rates.mostIn10 / rates.mean
      print(
        "| \(incident.name) | \(Figure.number(rates.mean)) | \(rates.mostIn1) | \(Figure.number(Double(rates.mostIn1) / rates.mean)) ×"
          + " | \(Figure.number(rates.mostIn10)) | \(Figure.number(ratio)) × |")
      if incident.isBlackout { worst = max(worst, ratio) }
    }
    print("\nafter a blackout: \(Figure.number(worst)) × the mean (goal: at most 1.5 ×)")
    printTraffic(count)
  }

  // MARK: Rates

  /// Something that happens to many devices at once.
  struct Incident {
    enum Kind { case blackout, outage, restart, coldStart }

    var name: String
    var kind: Kind
    /// The share of the devices.
    var share: Double
    /// Seconds.
    var duration: Int

    var isBlackout: Bool { kind == .blackout }

    static let all = [
      Incident(name: "none", kind: .restart, share: 0, duration: 0),
      Incident(name: "blackout of 10 %, 10 min", kind: .blackout, share: 0.1, duration: 600),
      Incident(name: "blackout of all, 10 min", kind: .blackout, share: 1, duration: 600),
      Incident(name: "blackout of all, 8 h", kind: .blackout, share: 1, duration: 28_800),
      Incident(name: "new version on all, with their rows", kind: .restart, share: 1, duration: 0),
      Incident(name: "origin unreachable, 1 min", kind: .outage, share: 1, duration: 60),
      Incident(name: "origin unreachable, 10 min", kind: .outage, share: 1, duration: 600),
      Incident(name: "origin unreachable, 8 h", kind: .outage, share: 1, duration: 28_800),
      Incident(name: "cold start of all, without rows", kind: .coldStart, share: 1, duration: 0),
    ]
  }

  /// The requests a second, of which the most after an incident.
  private struct Rates {
    var mean = 0.0
    var mostIn1 = 0
    var mostIn10 = 0.0

    init(of incident: Incident, count: Int, seed: UInt64, boot: ClosedRange<Double>, interval: Int) {
      var random = Random(state: seed)
      let start = 4 * interval
      let end = start + incident.duration
      let horizon = end + 6 * interval
      var counts = [Int](repeating: 0, count: horizon + 1)
      // An hour that is no multiple of the interval.
      let origin: Int64 = 1_800_000_123 * 1_000_000
      var events = [[Int32]](repeating: [], count: horizon + 1)
      var times = [Double](repeating: 0, count: count)
      var failures = [Int32](repeating: 0, count: count)
      let schedules = (0..<count).map { number in
        PollSchedule(
          interval: .seconds(interval), jitter: 0.1, phase: PublicationClient.pollPhase(of: "device \(seed) \(number)"))
      }
      func plan(_ device: Int, _ time: Double) {
        times[device] = time
        if Int(time) <= horizon { events[Int(time)].append(Int32(device)) }
      }
      func now(_ time: Double) -> Int64 { origin + Int64(time * 1e6) }
      let affected = Int(Double(count) * incident.share)
      for device in 0..<count {
        plan(device, schedules[device].untilMoment(origin).seconds)
      }
      for second in 0...horizon {
        if second == start, incident.kind != .outage {
          // These lose power, and what they had planned.
          for device in 0..<affected {
            let back = Double(end) + Double.random(in: boot, using: &random)
            let wait = incident.kind == .coldStart ? 0 : schedules[device].untilMoment(now(back)).seconds
            plan(device, back + wait)
          }
        }
        // A device may ask again within the same second.
        var index = 0
        while index < events[second].count {
          let device = Int(events[second][index])
          index += 1
          let time = times[device]
          guard Int(time) == second else { continue }
          times[device] = -1
          let fails = incident.kind == .outage && second >= start && second < end
          if !fails { counts[second] += 1 }
          failures[device] = fails ? failures[device] + 1 : 0
          let pause =
            fails
            ? schedules[device].pause(
              afterFailure: Int(failures[device]), first: .seconds(5), fraction: random.fraction())
            : schedules[device].pause(now(time), fraction: random.fraction())
          plan(device, time + max(0.001, pause.seconds))
        }
        events[second] = []
      }
      mean = Double(count) / Double(interval)
      let after = counts[end..<horizon]
      mostIn1 = after.max() ?? 0
      mostIn10 =
        stride(from: end, to: horizon - 10, by: 10).map { Double(counts[$0..<$0 + 10].reduce(0, +)) / 10 }.max() ?? 0
    }
  }

  // MARK: Bytes and money

  /// What each device fetches in the month. Some are off for a day or a week, and then take the way that the head names.
  private func printTraffic(_ count: Int) {
    var random = Random(state: options.seed &+ 1)
    let last = Self.days * Self.publicationsPerDay
    let heads = (0...last).map { state(UInt64($0 + 1)) }
    var ways: [Int: (bytes: Int, requests: Int)] = [:]
    var (objects, needed, requests, headBytes, polls) = (0, 0, 0, 0, 0)
    let pollsPerDay = 86_400 / Self.interval
    for _ in 0..<count {
      var has = 0
      var away = 0
      for day in 0..<Self.days {
        if away == 0, random.fraction() < 0.02 { away = random.fraction() < 0.2 ? 7 : 1 }
        if away > 0 {
          away -= 1
          continue
        }
        polls += pollsPerDay
        for number in 1...Self.publicationsPerDay {
          let newest = day * Self.publicationsPerDay + number
          let key = has * 1000 + newest
          let way = ways[key] ?? fetch(from: has, heads[newest])
          ways[key] = way
          objects += way.bytes
          // All rows of a state are at most its base.
          needed += min((newest - has) * costs.deltaByteCount, costs.baseByteCount)
          requests += way.requests + 1
          headBytes += costs.headByteCount
          has = newest
        }
      }
    }
    let pollBytes = polls * costs.pollByteCount
    let total = objects + headBytes + pollBytes
    let ratio = Double(objects) / Double(needed)
    print(
      "\nobjects: \(Figure.bytes(objects)), \(Figure.number(ratio)) × what changed (goal: at most 1.1 ×); heads of publications:"
        + " \(Figure.bytes(headBytes)); polls without news: \(Figure.bytes(pollBytes)); base of a new device:"
        + " \(Figure.bytes(costs.baseByteCount))")
    print("\n| list prices (see Documentation/Numbers.md) | requests | traffic | a month |")
    print("|---|---|---|---|")
    let calls = Double(polls + requests)
    for price in Price.all {
      let ofCalls = calls / 1e6 * price.perMillionRequests
      let ofBytes = Double(total) / 1e9 * price.perGigabyte
      print(
        "| \(price.name) | \(Figure.number(calls / 1e6)) M: \(Figure.number(ofCalls)) $ |"
          + " \(Figure.bytes(total)): \(Figure.number(ofBytes)) $ | \(Figure.number(ofCalls + ofBytes)) $ |")
    }
  }

  /// A state as a publisher lists it: the last four deltas of one step, the last two of each other length.
  private func state(_ sequence: UInt64) -> PublicationHead.State {
    func file(_ byteCount: Int) -> PublicationHead.File { PublicationHead.File(byteCount: byteCount, sha256: "") }
    let base = PublicationHead.Base(sequence: 1, file: file(costs.baseByteCount), top: file(0))
    var deltas: [PublicationHead.Delta] = []
    var length: UInt64 = 1
    while length < sequence {
      // They begin and end at multiples of their length.
      var to = sequence / length * length
      for _ in 0..<(length == 1 ? 4 : 2) where to > length {
        let bytes = costs.deltaByteCount * Int(length)
        if bytes <= costs.baseByteCount / 2 || length == 1 {
          deltas.append(PublicationHead.Delta(from: to - length, to: to, file: file(bytes)))
        }
        to -= length
      }
      length *= 2
    }
    return PublicationHead.State(
      sequence: sequence, cursor: "", counts: PublicationHead.Counts(products: 0, relations: 0, codes: 0), digest: "",
      base: base, deltas: deltas)
  }

  private func fetch(from has: Int, _ state: PublicationHead.State) -> (bytes: Int, requests: Int) {
    let plan = PublicationPlan.cheapest(from: UInt64(has + 1), to: state)
    switch plan {
    case .deltas(let deltas): return (plan.byteCount, deltas.count)
    case .base(_, let deltas): return (plan.byteCount, deltas.count + 1)
    }
  }

  /// Public list prices in dollars, without the free amounts and discounts of large customers.
  private struct Price {
    var name: String
    var perMillionRequests: Double
    var perGigabyte: Double

    static let all = [
      Price(name: "S3 Standard, us-east-1", perMillionRequests: 0.40, perGigabyte: 0.09),
      Price(name: "CloudFront, Europe and North America", perMillionRequests: 1.00, perGigabyte: 0.085),
      Price(name: "Cloudflare R2", perMillionRequests: 0.36, perGigabyte: 0),
    ]
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
