import Testing

@testable import UploadQueue

@Suite struct UploadRetryPolicyTests {
  private func outcome(
    _ status: Int, _ policy: UploadRetryPolicy = UploadRetryPolicy(), retryAfter: Duration? = nil
  ) -> AttemptOutcome { policy.outcome(UploadResponse(status: status, retryAfter: retryAfter)) }

  private func entry(failures: Int = 0, own: Int? = nil) -> ScheduleEntry {
    var entry = ScheduleEntry(
      id: 1, upload: UploadID(tick: 1, random: 0), kind: "k", priority: .normal, orderKey: nil, replaceKey: nil,
      created: 0, notBefore: 0, expires: nil, byteCount: 1)
    entry.failures = failures
    entry.ownFailures = own
    return entry
  }

  @Test func `success is 2xx and nothing else`() {
    for status in -1...1000 {
      #expect((outcome(status) == .delivered) == (200...299).contains(status), "\(status)")
    }
  }

  @Test func `each status has a meaning: pause the target, park the upload, or try again`() {
    let pausing: Set<Int> = Set(300...399).union([401, 403, 404, 405, 407, 410, 415, 421])
    let parking = Set(400...499).subtracting(pausing).subtracting([408, 425, 429])
    for status in -1...1000 where !(200...299).contains(status) {
      guard case .failed(let failure, let cause, _) = outcome(status) else {
        Issue.record("\(status)")
        continue
      }
      #expect(failure.status == status)
      #expect((cause == .pausing) == pausing.contains(status), "\(status)")
      #expect((cause == .rejected) == parking.contains(status), "\(status)")
      #expect((cause == .postponed) == [425, 429].contains(status), "\(status)")
      #expect((cause == .unavailable) == [408, 502, 503, 504].contains(status), "\(status)")
    }
    for status in [400, 409, 413, 422] { #expect(parking.contains(status)) }
    #expect(outcome(500, retryAfter: .seconds(1)) != outcome(500), "who asks to wait is not broken")
  }

  @Test func `both lists can be changed: a list that is given takes its statuses from the other one's default`() throws
  {
    func statuses(_ texts: String...) throws -> [UploadStatus] { try texts.map { try #require(UploadStatus($0)) } }
    let parking = try UploadStatusPolicy(parkOn: statuses("404", "5xx"))
    #expect(parking.meaning(of: 404) == .park && parking.meaning(of: 401) == .pause)
    #expect(parking.meaning(of: 500) == .park && parking.meaning(of: 400) == .retry, "4xx is not in the list any more")
    let pausing = try UploadStatusPolicy(pauseOn: statuses("4xx", "503"))
    #expect(pausing.meaning(of: 422) == .pause && pausing.meaning(of: 503) == .pause)
    #expect(pausing.meaning(of: 302) == .retry && pausing.meaning(of: 500) == .retry)
    #expect(pausing.meaning(of: 429) == .retry, "only by itself")
    #expect(try UploadStatusPolicy(parkOn: statuses("429")).meaning(of: 429) == .park)
    // One by itself counts before its class.
    let both = try UploadStatusPolicy(pauseOn: statuses("404", "5xx"), parkOn: statuses("4xx", "501"))
    #expect(both.meaning(of: 404) == .pause && both.meaning(of: 405) == .park)
    #expect(both.meaning(of: 501) == .park && both.meaning(of: 502) == .pause)
    #expect(try UploadStatusPolicy(pauseOn: [], parkOn: []).meaning(of: 401) == .retry)
    #expect(throws: UploadStatusPolicyError(status: .one(404))) {
      try UploadStatusPolicy(pauseOn: statuses("404"), parkOn: statuses("400", "404"))
    }
  }

  @Test(arguments: ["", "2xx", "200", "6xx", "40", "4040", "4x", "xxx", "+44", "４04", "4XXX"])
  func `what is no status of a failure is not taken`(text: String) { #expect(UploadStatus(text) == nil) }

  @Test func `a status reads as it is written`() {
    for text in ["404", "4xx", "503", "1xx"] { #expect(UploadStatus(text)?.description == text) }
    #expect(UploadStatus("5XX") == .class(5))
  }

  @Test func `two repetitions, and then it is parked`() {
    let policy = UploadRetryPolicy()
    let failure = UploadFailure(status: 503, message: "the server answered 503")
    func verdict(_ own: Int?, failures: Int = 0, counts: Bool = true) -> UploadVerdict {
      policy.verdict(
        failure, entry(failures: failures, own: own), counts: counts, holds: true, retryAfter: nil, fraction: 1)
    }
    #expect(verdict(nil) == .again(failure, after: 1_000_000, counts: true))
    #expect(verdict(1) == .again(failure, after: 2_000_000, counts: true))
    #expect(verdict(2) == .parked(failure, holds: true))
    // What does not count never parks, and what does is not slowed down by it.
    #expect(verdict(2, failures: 100, counts: false) == .again(failure, after: 300_000_000, counts: false))
    #expect(verdict(1, failures: 100) == .again(failure, after: 2_000_000, counts: true))
    #expect(AttemptOutcome(thrown: UploadRefusal("no")) == .refused(UploadFailure(message: "no")))
    #expect(
      AttemptOutcome(thrown: NoNetwork())
        == .failed(UploadFailure(message: "NoNetwork()"), .unavailable, retryAfter: nil))
  }

  @Test func `pauses double up to a cap, jitter takes half of them at most, and Retry-After is a lower bound`() {
    let policy = UploadRetryPolicy()
    for (failure, seconds) in [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (64, 300), (100, 300)] {
      let most = policy.pause(afterFailure: failure, retryAfter: nil, fraction: 1)
      let least = policy.pause(afterFailure: failure, retryAfter: nil, fraction: 0)
      #expect(most == Int64(seconds) * 1_000_000)
      #expect(least == Int64(seconds) * 500_000)
    }
    #expect(policy.pause(afterFailure: 1, retryAfter: .seconds(77), fraction: 0) == 77_000_000)
    #expect(policy.pause(afterFailure: 10, retryAfter: .seconds(7), fraction: 1) == 300_000_000)
    #expect(policy.pause(afterFailure: 1, retryAfter: .seconds(Int64.max), fraction: 0) == 86_400_000_000)
  }

  @Test func `a server's page is cut short in the message`() {
    #expect(UploadFailure(message: String(repeating: "x", count: 100_000)).message.count == 500)
  }
}
