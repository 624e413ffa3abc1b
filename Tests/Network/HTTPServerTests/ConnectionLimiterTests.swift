import NIOCore
import Synchronization
import Testing

@testable import HTTPServer

@Suite struct ConnectionLimiterTests {
  private typealias Connection = ConnectionLimiter.Connection

  /// Connections that were told to end, by number.
  private final class Ended: Sendable {
    private let all = Mutex<[Int]>([])
    var numbers: [Int] { all.withLock { $0 } }
    func add(_ number: Int) { all.withLock { $0.append(number) } }
  }

  /// Twelve ordinary connections, six of an address, and one in reserve.
  private let limiter = ConnectionLimiter(.init(maximum: 14, perAddress: 6))
  private let ended = Ended()
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private func admit(_ number: Int, _ caller: String?, after time: TimeAmount = .zero) -> Connection {
    limiter.admit(caller, now: start + time) { [ended] in ended.add(number) }
  }

  @Test(
    arguments: [
      (256, nil, 224, 16, 192), (14, 6, 14 - 2, 1, 6), (32, nil, 28, 2, 24), (8, nil, 6, 1, 6), (4, nil, 2, 1, 2),
      (3, nil, 3, 0, 2), (1, nil, 1, 0, 1), (256, 1000, 224, 16, 224), (100_000, nil, 87_500, 6250, 75_000),
    ] as [(Int, Int?, Int, Int, Int)])
  func `a number of connections is divided`(maximum: Int, own: Int?, ordinary: Int, reserve: Int, perAddress: Int) {
    let limits = ConnectionLimiter.Limits(maximum: maximum, perAddress: own)
    #expect(limits.ordinary == ordinary && limits.reserve == reserve && limits.perAddress == perAddress)
    #expect(limits.ordinary + limits.reserve <= maximum)
  }

  @Test func `below the limits every connection may ask for anything`() {
    let connections = (0..<12).map { admit($0, "\($0 % 3)") }
    #expect(connections.allSatisfy { $0.admission == .anything })
    #expect(limiter.count == 12 && ended.numbers == [])
    for connection in connections { limiter.release(connection) }
    #expect(limiter.count == 0)
  }

  @Test func `one address has its share, and others get in`() {
    for number in 0..<6 { admit(number, "a").answers() }
    #expect(admit(6, "a").admission == .health)
    #expect(admit(7, "b").admission == .anything)
    #expect(ended.numbers == [])
  }

  @Test func `peers that are not told apart have no share`() {
    let connections = (0..<12).map { admit($0, nil) }
    #expect(connections.allSatisfy { $0.admission == .anything })
  }

  @Test func `at a limit the connection that has waited longest for its peer is replaced`() {
    let connections = (0..<12).map { admit($0, "\($0)", after: .milliseconds(Int64($0))) }
    connections[0].answers()
    connections[1].waits(now: start + .milliseconds(500))
    connections[2].receives(now: start + .milliseconds(2))
    // Nobody has waited for a second.
    #expect(admit(12, "x", after: .milliseconds(900)).admission == .health)
    for number in 13...14 {
      let connection = admit(number, "x", after: .seconds(2))
      #expect(connection.admission == .anything && ended.numbers.count == number - 12)
      connection.answers()
    }
    #expect(ended.numbers == [3, 4])
    // A request that is half there has ten seconds.
    for number in 15..<22 { admit(number, "x\(number)", after: .seconds(2)).answers() }
    #expect(ended.numbers == [3, 4, 5, 6, 7, 8, 9, 10, 11])
    admit(22, "x", after: .seconds(2)).answers()
    #expect(ended.numbers.last == 1)
    #expect(admit(23, "y", after: .seconds(11)).admission == .anything)
    #expect(ended.numbers.last == 2)
  }

  @Test func `an address at its share replaces connections of its own only`() {
    let other = admit(0, "b")
    for number in 1..<7 { _ = admit(number, "a", after: .milliseconds(Int64(number))) }
    #expect(admit(7, "a", after: .seconds(5)).admission == .anything)
    #expect(ended.numbers == [1])
    #expect(other.admission == .anything)
  }

  @Test func `in the reserve the longest wait is replaced at once, and what is answered stays`() {
    for number in 0..<12 { admit(number, "\(number)").answers() }
    let first = admit(12, "x", after: .milliseconds(1))
    #expect(first.admission == .health)
    let second = admit(13, "x", after: .milliseconds(2))
    #expect(second.admission == .health && ended.numbers == [12])
    second.answers()
    #expect(admit(14, "x", after: .milliseconds(3)).admission == .nothing)
    #expect(ended.numbers == [12])
    second.waits(now: start)
    #expect(admit(15, "x", after: .milliseconds(4)).admission == .health)
    #expect(ended.numbers == [12, 13])
    // Those that were replaced are forgotten once.
    limiter.release(first)
    limiter.release(second)
    #expect(limiter.count == 13)
  }

  @Test func `an error response is reported`() {
    let reported = Atomic(0)
    let limiter = ConnectionLimiter(.init(maximum: 4, perAddress: nil)) { reported.add(1, ordering: .relaxed) }
    for _ in 0..<2 { limiter.admit("a", now: start) {}.answers() }
    #expect(reported.load(ordering: .relaxed) == 0)
    limiter.admit("b", now: start) {}.answers()
    #expect(reported.load(ordering: .relaxed) == 1)
    #expect(limiter.admit("b", now: start) {}.admission == .nothing)
    #expect(reported.load(ordering: .relaxed) == 2)
  }
}
