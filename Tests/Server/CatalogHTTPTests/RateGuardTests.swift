import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(10))) struct RateGuardTests {
  /// What the guard says to each of some chunks.
  private func verdicts(_ rate: inout RateGuard, _ count: Int, of bytes: Int, every wait: Duration) -> [Bool] {
    var verdicts: [Bool] = []
    for _ in 0..<count { verdicts.append(rate.accepts(bytes, after: wait)) }
    return verdicts
  }

  @Test func `a window of waiting with too few bytes is refused, one with enough is not`() {
    var rate = RateGuard(bytesPerSecond: 1000, window: .seconds(30))
    #expect(verdicts(&rate, 30, of: 10, every: .seconds(1)) == Array(repeating: true, count: 29) + [false])
    #expect(verdicts(&rate, 90, of: 1000, every: .seconds(1)).allSatisfy { $0 })
    // Long after it began well.
    #expect(verdicts(&rate, 30, of: 1, every: .seconds(1)) == Array(repeating: true, count: 29) + [false])
  }

  @Test func `a caller's own time does not count, and neither does a rate of zero`() {
    var rate = RateGuard(bytesPerSecond: 1000, window: .seconds(30))
    #expect(verdicts(&rate, 1000, of: 1, every: .milliseconds(1)).allSatisfy { $0 })
    var any = RateGuard(bytesPerSecond: 0, window: .seconds(1))
    #expect(verdicts(&any, 100, of: 1, every: .seconds(5)).allSatisfy { $0 })
  }

  @Test func `a body that trickles is given up, and the next attempt begins anew`() async throws {
    let time = FakeTime()
    try await ScriptedServer.run { number, _ in
      number == 0 ? [.head(length: 1 << 20), .drip("x")] : [.answer(body: "second")]
    } _: { server in
      var options = TransportOptions()
      options.minimumRateWindow = .milliseconds(200)
      options.minimumRate = 10_000
      options.retry.maximumAttempts = 2
      let transport = try HTTPTransport(url: server.url(), options: options, environment: time.environment)
      let fetched = try await transport.fetch(cursor: "", into: { [UInt8]() }) { state, chunk in
        for index in chunk.indices { state.append(chunk[index]) }
      }
      #expect(fetched.info.attempts == 2 && String(decoding: fetched.state, as: UTF8.self) == "second")
      options.retry.maximumAttempts = 1
      let once = try HTTPTransport(url: server.url(), options: options, environment: time.environment)
      #expect(try await once.fetch(cursor: "") { _ in }.byteCount == 6)
    }
    try await ScriptedServer.run { _, _ in
      [.head(length: 1 << 20), .drip("x")]
    } _: { server in
      var options = TransportOptions()
      options.minimumRateWindow = .milliseconds(200)
      options.minimumRate = 10_000
      options.retry.maximumAttempts = 1
      let transport = try HTTPTransport(url: server.url(), options: options, environment: time.environment)
      await #expect(
        throws: TransportError.timedOut(url: server.url(), limit: .rate, seconds: 0.2, attempts: 1)
      ) { try await transport.fetch(cursor: "") { _ in } }
    }
  }
}
