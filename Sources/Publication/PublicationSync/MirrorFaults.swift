import Synchronization

/// What mirrors did wrong. It changes nothing for the device, which checks all that it gets.
package final class MirrorFaults: Sendable {
  package enum Kind: Sendable, Equatable {
    /// It answered with other bytes than were published.
    case wrong
    /// It has an older state than the device.
    case older
  }

  package struct Fault: Sendable, Equatable {
    package var kind: Kind
    package var mirror: String
    package var reason: String
  }

  private let faults = Mutex<[Fault]>([])
  /// The mirrors that gave no answer, and are not asked again: one that is off would cost its time-out for each file.
  private let unreachable = Mutex<Set<String>>([])

  init() {}

  /// The faults so far, at most one of each kind and mirror.
  package var all: [Fault] { faults.withLock { $0 } }

  func isUnreachable(_ mirror: String) -> Bool { unreachable.withLock { $0.contains(mirror) } }
  func isUnreachable(_ mirror: String, _ value: Bool) {
    _ = unreachable.withLock { if value { $0.insert(mirror).inserted } else { $0.remove(mirror) != nil } }
  }

  func add(_ kind: Kind, _ mirror: String, _ reason: String) {
    faults.withLock { faults in
      if faults.contains(where: { $0.kind == kind && $0.mirror == mirror }) { return }
      faults.append(Fault(kind: kind, mirror: mirror, reason: reason))
    }
  }
}
