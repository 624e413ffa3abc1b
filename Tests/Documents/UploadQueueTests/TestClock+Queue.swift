import UploadQueue
import WaitingTestSupport

extension TestClock {
  /// A clock that sleeping sets forward.
  convenience init(seed: UInt64 = 1) { self.init(moves: true, seed: seed) }

  var environment: QueueEnvironment {
    QueueEnvironment(now: { self.now }, random: { self.random() }, sleep: { try await self.sleep($0) })
  }
}
