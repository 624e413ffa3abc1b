import WaitingTestSupport

@testable import UploadQueue

extension TestClock {
  /// A clock that sleeping sets forward.
  convenience init(seed: UInt64 = 1) { self.init(moves: true, seed: seed) }

  var environment: QueueEnvironment {
    QueueEnvironment(now: { self.now }, random: { self.random() }, sleep: { try await self.sleep($0) })
  }
}

extension QueueTime {
  /// A time that both clocks say.
  init(_ time: Int64) { self.init(wall: time, steady: time) }
}
