import Testing

@testable import UploadQueue

@Suite struct CircuitBreakerTests {
  private let policy = CircuitBreaker.Policy(
    failures: 3, firstPause: 100, longestPause: 350, longestPauseOnAnswer: 500)

  @Test func `it opens after failures in a row, lets one pass, and doubles its pause up to a cap`() {
    var breaker = CircuitBreaker()
    #expect(breaker.fail(now: 0, upload: 1, isOutage: true, policy) == nil)
    #expect(breaker.fail(now: 0, upload: 1, isOutage: true, policy) == nil)
    breaker = CircuitBreaker()
    #expect(breaker == CircuitBreaker())
    for _ in 0..<2 { #expect(breaker.fail(now: 0, upload: 1, isOutage: true, policy) == nil) }
    #expect(breaker.fail(now: 10, upload: 1, isOutage: true, policy) == 100)
    #expect(!breaker.allows(now: 109))
    // One that was on its way when it opened.
    #expect(breaker.fail(now: 50, upload: 1, isOutage: true, policy) == nil)
    var now: Int64 = 110
    for pause: Int64 in [200, 350, 350] {
      #expect(breaker.allows(now: now))
      breaker.begin(now: now, lane: "a")
      #expect(!breaker.allows(now: now))
      #expect(breaker.fail(now: now, upload: 1, isOutage: true, policy) == pause)
      #expect(!breaker.allows(now: now + pause - 1))
      now += pause
    }
    breaker.begin(now: now, lane: "a")
    breaker.cancel()
    #expect(breaker.allows(now: now))
    breaker.begin(now: now, lane: "a")
    breaker = CircuitBreaker()
    #expect(breaker.isClosed)
    #expect(breaker.allows(now: 0))
  }

  @Test func `reconsidered, it lets one pass at once, and if that one fails its pauses begin anew`() {
    var breaker = CircuitBreaker()
    breaker.reconsider(now: 0)
    #expect(breaker == CircuitBreaker())
    for _ in 0..<3 { _ = breaker.fail(now: 0, upload: 1, isOutage: true, policy) }
    breaker.begin(now: 100, lane: "a")
    #expect(breaker.fail(now: 100, upload: 1, isOutage: true, policy) == 200)
    breaker.reconsider(now: 150)
    #expect(breaker.allows(now: 150) && !breaker.isClosed)
    breaker.begin(now: 150, lane: "a")
    #expect(!breaker.allows(now: 150))
    // The one that is on its way stays the only one.
    breaker.reconsider(now: 160)
    #expect(!breaker.allows(now: 160))
    #expect(breaker.fail(now: 170, upload: 1, isOutage: true, policy) == 100)
    #expect(!breaker.allows(now: 269) && breaker.allows(now: 270))
    // A pause that is over already is not begun again.
    breaker.reconsider(now: 1000)
    #expect(breaker.openUntil == 270)
  }

  @Test func `an upload that was taken before it opened and begins afterwards does not keep it open for ever`() {
    var breaker = CircuitBreaker()
    for _ in 0..<3 { _ = breaker.fail(now: 0, upload: 1, isOutage: true, policy) }
    breaker.begin(now: 10, lane: "a")
    #expect(breaker.fail(now: 20, upload: 1, isOutage: true, policy) == nil)
    #expect(!breaker.allows(now: 99))
    #expect(breaker.allows(now: 100))
    breaker.begin(now: 100, lane: "a")
    #expect(!breaker.allows(now: 100))
  }

  @Test func `who asks to try again closes it`() {
    var breaker = CircuitBreaker()
    #expect(breaker.retry() == false)
    for _ in 0..<3 { _ = breaker.fail(now: 10, upload: 1, isOutage: true, policy) }
    #expect(!breaker.allows(now: 50))
    #expect(breaker.retry() == true)
    #expect(breaker == CircuitBreaker())
    // From its first pause on.
    for _ in 0..<2 { #expect(breaker.fail(now: 30, upload: 1, isOutage: true, policy) == nil) }
    #expect(breaker.fail(now: 30, upload: 1, isOutage: true, policy) == 100)
  }

  @Test func `one upload that is answered with an error does not open it, however often, and different ones do`() {
    var breaker = CircuitBreaker()
    for _ in 0..<100 { #expect(breaker.fail(now: 0, upload: 1, isOutage: false, policy) == nil) }
    #expect(breaker.fail(now: 0, upload: 2, isOutage: false, policy) == nil)
    #expect(breaker.fail(now: 0, upload: 3, isOutage: false, policy) == 100)
    breaker = CircuitBreaker()
    for upload: Int64 in [1, 2] { #expect(breaker.fail(now: 0, upload: upload, isOutage: false, policy) == nil) }
    breaker = CircuitBreaker()
    #expect(breaker.fail(now: 0, upload: 3, isOutage: false, policy) == nil, "a success came between")
    // Without an answer it is the destination's failure, whichever upload it was.
    for _ in 0..<2 { #expect(breaker.fail(now: 0, upload: 3, isOutage: true, policy) == nil) }
    #expect(breaker.fail(now: 0, upload: 3, isOutage: true, policy) == 100)
  }

  @Test func `an answer that pauses opens it at once, for longer, and Retry-After is a lower bound`() {
    var breaker = CircuitBreaker()
    let failure = UploadFailure(status: 401, message: "no")
    #expect(breaker.pause(now: 5, failure, retryAfter: 0, policy) == 100)
    #expect(breaker.answer == failure && breaker.openSince == 5)
    #expect(breaker.pause(now: 6, failure, retryAfter: 0, policy) == nil, "it had begun before")
    var now: Int64 = 105
    for pause: Int64 in [200, 400, 500, 500] {
      breaker.begin(now: now, lane: "a")
      #expect(breaker.pause(now: now, failure, retryAfter: 0, policy) == pause)
      now += pause
    }
    breaker.begin(now: now, lane: "a")
    #expect(breaker.pause(now: now, failure, retryAfter: 7000, policy) == 7000)
    now += 7000
    #expect(breaker.openSince == 5)
    // It does not answer at all now: that is another reason.
    breaker.begin(now: now, lane: "a")
    #expect(breaker.fail(now: now, upload: 1, isOutage: true, policy) == 350)
    #expect(breaker.answer == nil)
    breaker = CircuitBreaker()
    #expect(breaker == CircuitBreaker())
  }

  @Test func `after each probe that was answered more uploads are tried, and none after one without an answer`() {
    var breaker = CircuitBreaker()
    var now: Int64 = 0
    func probe(isAnswered: Bool) -> Int {
      now = breaker.openUntil ?? now
      breaker.begin(now: now, lane: "l")
      _ = breaker.fail(now: now, upload: 1, isOutage: true, isAnswered: isAnswered, policy)
      return breaker.takeLookahead()
    }
    // It opens.
    for _ in 0..<3 { #expect(probe(isAnswered: true) == 0) }
    #expect((0..<8).map { _ in probe(isAnswered: true) } == [8, 16, 32, 64, 128, 256, 256, 256])
    #expect(breaker.takeLookahead() == 0, "it is taken once")
    #expect(probe(isAnswered: false) == 0)
    #expect(probe(isAnswered: true) == 8)
  }
}
