import Testing

@testable import CatalogHTTP

@Suite struct RetryPolicyTests {
  let policy = RetryPolicy()

  @Test func `the pause doubles up to its cap`() {
    var policy = policy
    policy.maximumAttempts = 100
    let pauses = [1, 2, 3, 7, 8, 99].map {
      policy.pause(afterAttempt: $0, retryAfter: nil) { $0.upperBound }
    }
    #expect(pauses == [1, 2, 4, 60, 60, 60].map { .seconds($0) })
  }

  @Test func `the pause is never less than half`() {
    #expect(policy.pause(afterAttempt: 2, retryAfter: nil) { $0.lowerBound } == .seconds(1))
  }

  @Test func `the server's wish is a lower bound and capped`() {
    func pause(_ seconds: Int64) -> Duration? {
      policy.pause(afterAttempt: 1, retryAfter: .seconds(seconds)) { $0.upperBound }
    }
    #expect(pause(0) == .seconds(1))
    #expect(pause(7) == .seconds(7))
    #expect(pause(100_000) == .seconds(300))
  }

  @Test func `a fleet with one wish of the server is spread, also after the cap`() {
    func pause(_ seconds: Int64?, at part: Double) -> Duration? {
      policy.pause(afterAttempt: 1, retryAfter: seconds.map { .seconds($0) }, spread: 0.25) {
        $0.lowerBound + ($0.upperBound - $0.lowerBound) * part
      }
    }
    #expect(pause(100, at: 0) == .seconds(100))
    #expect(pause(100, at: 1) == .seconds(125))
    #expect(pause(100_000, at: 1) == .seconds(375))
    #expect(pause(nil, at: 1) == .seconds(1))
  }

  @Test func `no pause follows the last attempt`() {
    #expect(policy.pause(afterAttempt: 5, retryAfter: .seconds(1)) { $0.upperBound } == nil)
  }

  @Test(arguments: [
    (429, true), (500, true), (503, true), (599, true), (404, false), (401, false), (301, false),
  ])
  func `only 429 and 5xx may succeed later`(status: Int, expected: Bool) {
    #expect(RetryPolicy.isRetryable(status: status) == expected)
  }
}
