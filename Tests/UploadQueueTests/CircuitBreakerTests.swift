import Testing

@testable import UploadQueue

@Suite struct CircuitBreakerTests {
  private let policy = CircuitBreaker.Policy(failures: 3, firstPause: 100, longestPause: 350)

  @Test func `it opens after failures in a row, lets one pass, and doubles its pause up to a cap`() {
    var breaker = CircuitBreaker()
    #expect(breaker.fail(now: 0, policy) == nil)
    #expect(breaker.fail(now: 0, policy) == nil)
    breaker.succeed()
    #expect(breaker == CircuitBreaker())
    for _ in 0..<2 { #expect(breaker.fail(now: 0, policy) == nil) }
    #expect(breaker.fail(now: 10, policy) == 100)
    #expect(!breaker.allows(now: 109))
    // One that was on its way when it opened.
    #expect(breaker.fail(now: 50, policy) == nil)
    var now: Int64 = 110
    for pause: Int64 in [200, 350, 350] {
      #expect(breaker.allows(now: now))
      breaker.begin(now: now)
      #expect(!breaker.allows(now: now))
      #expect(breaker.fail(now: now, policy) == pause)
      #expect(!breaker.allows(now: now + pause - 1))
      now += pause
    }
    breaker.begin(now: now)
    breaker.cancel()
    #expect(breaker.allows(now: now))
    breaker.begin(now: now)
    breaker.succeed()
    #expect(breaker.isClosed)
    #expect(breaker.allows(now: 0))
  }

  @Test func `reconsidered, it lets one pass at once, and if that one fails its pauses begin anew`() {
    var breaker = CircuitBreaker()
    breaker.reconsider(now: 0)
    #expect(breaker == CircuitBreaker())
    for _ in 0..<3 { _ = breaker.fail(now: 0, policy) }
    breaker.begin(now: 100)
    #expect(breaker.fail(now: 100, policy) == 200)
    breaker.reconsider(now: 150)
    #expect(breaker.allows(now: 150) && !breaker.isClosed)
    breaker.begin(now: 150)
    #expect(!breaker.allows(now: 150))
    // The one that is on its way stays the only one.
    breaker.reconsider(now: 160)
    #expect(!breaker.allows(now: 160))
    #expect(breaker.fail(now: 170, policy) == 100)
    #expect(!breaker.allows(now: 269) && breaker.allows(now: 270))
    // A pause that is over already is not begun again.
    breaker.reconsider(now: 1000)
    #expect(breaker.openUntil == 270)
  }

  @Test func `an upload that was taken before it opened and begins afterwards does not keep it open for ever`() {
    var breaker = CircuitBreaker()
    for _ in 0..<3 { _ = breaker.fail(now: 0, policy) }
    breaker.begin(now: 10)
    #expect(breaker.fail(now: 20, policy) == nil)
    #expect(!breaker.allows(now: 99))
    #expect(breaker.allows(now: 100))
    breaker.begin(now: 100)
    #expect(!breaker.allows(now: 100))
  }

  @Test func `who asks to try again closes it, if it opened before that`() {
    var breaker = CircuitBreaker()
    #expect(breaker.retry(at: 5) == false)
    for _ in 0..<3 { _ = breaker.fail(now: 10, policy) }
    #expect(breaker.retry(at: 9) == false)
    #expect(!breaker.allows(now: 50))
    #expect(breaker.retry(at: 20) == true)
    #expect(breaker == CircuitBreaker())
    // From its first pause on.
    for _ in 0..<2 { #expect(breaker.fail(now: 30, policy) == nil) }
    #expect(breaker.fail(now: 30, policy) == 100)
    #expect(breaker.retry(at: 20) == false)
  }
}
