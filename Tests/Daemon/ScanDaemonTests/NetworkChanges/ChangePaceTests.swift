import RandomTestSupport
import Testing

@testable import ScanDaemon

@Suite struct ChangePaceTests {
  @Test func `a burst is reported once, a second after its last message`() {
    var pace = ChangePace()
    #expect(pace.pause(at: .zero) == nil && pace.take(at: .zero) == nil)
    for tenths in 0..<20 { pace.record(.cameBack, at: .milliseconds(100 * tenths), fraction: 0) }
    pace.record([], at: .milliseconds(2500), fraction: 1)
    #expect(pace.pause(at: .milliseconds(1900)) == .seconds(1))
    #expect(pace.take(at: .milliseconds(2899)) == nil)
    #expect(pace.take(at: .milliseconds(2900)) == .cameBack)
    #expect(pace.pause(at: .seconds(3)) == nil && pace.take(at: .seconds(100)) == nil)
  }

  @Test func `what never rests is reported all the same, and all that it was`() {
    var pace = ChangePace()
    var reported: [(Duration, NetworkChange)] = []
    for tenths in 0..<300 {
      let now = Duration.milliseconds(100 * tenths)
      if let change = pace.take(at: now) { reported.append((now, change)) }
      pace.record(tenths % 2 == 0 ? .cameBack : .wentAway, at: now, fraction: 0)
    }
    #expect(reported.map(\.0) == [5, 10, 15, 20, 25].map { Duration.seconds($0) })
    #expect(reported.allSatisfy { $0.1 == [.cameBack, .wentAway] })
  }

  @Test func `what comes and goes is reported every five seconds at most`() {
    var pace = ChangePace()
    pace.record(.cameBack, at: .seconds(10), fraction: 0)
    #expect(pace.take(at: .seconds(11)) == .cameBack)
    pace.record(.wentAway, at: .seconds(12), fraction: 0)
    #expect(pace.pause(at: .seconds(12)) == .seconds(4))
    #expect(pace.take(at: .seconds(13)) == nil)
    #expect(pace.take(at: .seconds(16)) == .wentAway)
    pace.record(.cameBack, at: .seconds(100), fraction: 0)
    #expect(pace.take(at: .seconds(101)) == .cameBack)
  }

  @Test func `chance makes it later by up to a second, as the first of a burst drew it`() {
    for (fraction, extra) in [(0, 0), (0.5, 500), (1, 1000), (7, 1000), (-1, 0)] {
      var pace = ChangePace()
      pace.record(.cameBack, at: .zero, fraction: fraction)
      pace.record(.cameBack, at: .zero, fraction: 0.25)
      #expect(pace.pause(at: .zero) == .milliseconds(1000 + extra))
      #expect(pace.take(at: .milliseconds(999 + extra)) == nil)
      #expect(pace.take(at: .milliseconds(1000 + extra)) == .cameBack)
    }
  }
}
