import PublicationSync
import Testing

struct PollScheduleTests {
  private let start: Int64 = 1_800_000_123_456_789

  private func schedule(_ phase: Double, jitter: Double = 0.1) -> PollSchedule {
    PollSchedule(interval: .seconds(300), jitter: jitter, phase: phase)
  }

  @Test(arguments: [0, 0.25, 0.5, 0.999])
  func `a device asks at its moment of each interval, whenever it was started`(phase: Double) {
    for offset in stride(from: Int64(0), to: 600_000_000, by: 7_000_001) {
      let wait = schedule(phase).untilMoment(start + offset)
      #expect(wait >= .zero && wait < .seconds(300))
      let moment =
        start + offset + wait.components.seconds * 1_000_000 + wait.components.attoseconds / 1_000_000_000_000
      #expect(moment % 300_000_000 == Int64(phase * 300_000_000))
    }
  }

  @Test func `the next poll is between a half and one and a half intervals away, and jitter adds a twentieth`() {
    for offset in stride(from: Int64(0), to: 300_000_000, by: 1_000_003) {
      for fraction in [0, 0.5, 1] {
        let pause = schedule(0.3).pause(start + offset, fraction: fraction)
        #expect(pause >= .seconds(150 - 15) && pause <= .seconds(450 + 15))
      }
    }
    #expect(schedule(0.3, jitter: 7).jitter == 1 && schedule(0.3, jitter: -1).jitter == 0)
  }

  @Test func `devices whose power returns at once ask evenly over the interval`() {
    var counts = [Int](repeating: 0, count: 30)
    for device in 0..<30_000 {
      let wait = schedule(PublicationClient.pollPhase(of: "device \(device)")).untilMoment(start)
      counts[Int(wait.components.seconds) / 10] += 1
    }
    #expect(counts.allSatisfy { $0 > 800 && $0 < 1200 }, "\(counts)")
  }

  @Test func `pauses after failures double up to the interval, and an address without a head is left for hours`() {
    let pauses = (1...8).map { schedule(0).pause(afterFailure: $0, first: .seconds(5), fraction: 0.5) }
    #expect(pauses == [5, 10, 20, 40, 80, 160, 300, 300].map(Duration.seconds))
    #expect(schedule(0).pause(afterFailure: 1, first: .seconds(5), fraction: 1) == .seconds(5.5))
    let gone = [1, 2, 9].map { PollSchedule.pause(afterGone: $0, fraction: 0) }
    #expect(gone == [3600, 7200, 86_400].map(Duration.seconds))
    #expect(PollSchedule.pause(afterGone: 1, fraction: 1) == .seconds(4500))
    #expect(PollSchedule.pauseBeforeBase(spread: 600, fraction: 0.5) == .seconds(300))
  }

  @Test func `a poll that a mirror has answered asks the origin about once an hour`() {
    let schedule = PollSchedule(interval: .seconds(300), jitter: 0, phase: 0)
    #expect((0..<3600).count { schedule.asksOriginToo(fraction: Double($0) / 3600) } == 300)
    let rare = PollSchedule(interval: .seconds(7200), jitter: 0, phase: 0)
    #expect(rare.asksOriginToo(fraction: 1))
  }
}
