import Testing

@testable import HTTPServer

@Suite struct RateLimiterTests {
  @Test func `a caller has a burst, and then what comes back`() {
    let bound = RateLimiter(perSecond: 2, burst: 3)
    for _ in 0..<3 { #expect(bound.take("a", now: 10) == nil) }
    #expect(bound.take("a", now: 10) == 0.5)
    #expect(bound.take("a", now: 10.25) == 0.25)
    #expect(bound.take("a", now: 10.5) == nil)
    #expect(bound.take("a", now: 10.5) == 0.5)
  }

  @Test func `being refused costs nothing`() {
    let bound = RateLimiter(perSecond: 1, burst: 1)
    #expect(bound.take("a", now: 0) == nil)
    for _ in 0..<1000 { #expect(bound.take("a", now: 0.5) == 0.5) }
    #expect(bound.take("a", now: 1) == nil)
  }

  @Test func `a bucket holds no more than a burst, however long nobody asks`() {
    let bound = RateLimiter(perSecond: 100, burst: 2)
    #expect(bound.take("a", now: 0) == nil)
    #expect(bound.take("a", now: 1e9) == nil)
    #expect(bound.take("a", now: 1e9) == nil)
    #expect(bound.take("a", now: 1e9) != nil)
  }

  @Test func `callers do not count for each other`() {
    let bound = RateLimiter(perSecond: 1, burst: 1)
    #expect(bound.take("a", now: 0) == nil)
    #expect(bound.take("b", now: 0) == nil)
    #expect(bound.take("a", now: 0) != nil)
  }

  @Test func `a clock that stands still or goes back gives nothing`() {
    let bound = RateLimiter(perSecond: 1, burst: 1)
    #expect(bound.take("a", now: 5) == nil)
    #expect(bound.take("a", now: 4) == 1)
    #expect(bound.take("a", now: 4.5) == 0.5)
  }

  @Test func `the table is bounded, and those who are not in it share a bucket`() {
    let bound = RateLimiter(perSecond: 0.001, burst: 2)
    for number in 0..<RateLimiter.callerLimit { #expect(bound.take("\(number)", now: 0) == nil) }
    #expect(bound.take("late", now: 0) == nil)
    #expect(bound.take("later", now: 0) == nil)
    #expect(bound.take("last", now: 0) != nil)
    #expect(bound.callerCount == RateLimiter.callerLimit)
    // Who is in the table has a bucket all the same.
    #expect(bound.take("7", now: 0) == nil)
    #expect(bound.take("7", now: 0) != nil)
  }

  @Test func `callers whose bucket is full again make room`() {
    let bound = RateLimiter(perSecond: 1, burst: 1)
    for number in 0..<RateLimiter.callerLimit { _ = bound.take("\(number)", now: 0) }
    #expect(bound.take("late", now: 2) == nil)
    #expect(bound.callerCount == 1)
  }

  @Test(arguments: [
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("2001:db8::1", "2001:db8:0:0::/64"), ("::2", "0:0:0:0::/64"),
    ("fe80::1%eth0", "fe80:0:0:0::/64"), ("::ffff:1.2.3.4", "0:0:0:0::/64"),
  ])
  func `callers of one IPv6 network are one`(address: String, name: String) {
    #expect(IPv6Network.name(address) == name)
  }
}
