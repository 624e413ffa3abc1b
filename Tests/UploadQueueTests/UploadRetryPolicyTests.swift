import Testing

@testable import UploadQueue

@Suite struct UploadRetryPolicyTests {
  private func verdict(_ status: Int, failures: Int = 0, isDone: Bool = false, retryAfter: Duration? = nil)
    -> UploadVerdict
  {
    UploadRetryPolicy().verdict(
      UploadResponse(status: status, retryAfter: retryAfter), failures: failures, isDone: isDone, fraction: 1)
  }

  @Test func `success is 2xx and nothing else`() {
    for status in -1...1000 {
      let isSuccess = verdict(status) == .delivered
      #expect(isSuccess == (200...299).contains(status), "\(status)")
      #expect(verdict(status, isDone: true) == .delivered)
    }
  }

  @Test func `408, 425, 429 and 5xx may pass, and nothing else`() {
    for status in 0...1000 where !(200...299).contains(status) {
      let mayPass = [408, 425, 429].contains(status) || (500...599).contains(status)
      switch verdict(status) {
      case .again: #expect(mayPass, "\(status)")
      case .parked(let failure):
        #expect(!mayPass, "\(status)")
        #expect(failure.status == status)
      default: Issue.record("\(status)")
      }
    }
  }

  @Test func `two repetitions, and then it is parked`() {
    let failure = UploadFailure(status: 503, message: "the server answered 503")
    #expect(verdict(503, failures: 0) == .again(failure, after: 1_000_000))
    #expect(verdict(503, failures: 1) == .again(failure, after: 2_000_000))
    #expect(verdict(503, failures: 2) == .parked(failure))
    let policy = UploadRetryPolicy()
    let refused = policy.verdict(thrown: UploadRefusal("no"), failures: 0, fraction: 1)
    #expect(refused == .refused(UploadFailure(message: "no")))
    if case .again = policy.verdict(thrown: NoNetwork(), failures: 1, fraction: 1) {
    } else {
      Issue.record("no network passes")
    }
    if case .parked = policy.verdict(thrown: NoNetwork(), failures: 2, fraction: 1) {
    } else {
      Issue.record("not for ever")
    }
  }

  @Test func `pauses double up to a cap, jitter takes half of them at most, and Retry-After is a lower bound`() {
    var policy = UploadRetryPolicy()
    policy.maximumRetries = 100
    for (failure, seconds) in [(1, 1), (2, 2), (3, 4), (9, 256), (10, 300), (64, 300), (100, 300)] {
      let most = policy.pause(afterFailure: failure, retryAfter: nil, fraction: 1)
      let least = policy.pause(afterFailure: failure, retryAfter: nil, fraction: 0)
      #expect(most == Int64(seconds) * 1_000_000)
      #expect(least == Int64(seconds) * 500_000)
    }
    #expect(policy.pause(afterFailure: 1, retryAfter: .seconds(77), fraction: 0) == 77_000_000)
    #expect(policy.pause(afterFailure: 10, retryAfter: .seconds(7), fraction: 1) == 300_000_000)
    #expect(policy.pause(afterFailure: 1, retryAfter: .seconds(Int64.max), fraction: 0) == 86_400_000_000)
    #expect(policy.pause(afterFailure: 101, retryAfter: nil, fraction: 0) == nil)
  }

  @Test func `a server's page is cut short in the message`() {
    #expect(UploadFailure(message: String(repeating: "x", count: 100_000)).message.count == 500)
  }
}
