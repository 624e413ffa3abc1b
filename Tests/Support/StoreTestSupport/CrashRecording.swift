import RandomTestSupport

/// One run of a workload on a device that keeps its disk before each change, with what the workload was told.
package final class CrashRecording<Shown: Hashable> {
  package let device: SimulatedDevice
  /// What was reported last.
  package private(set) var reported: Shown
  /// From this number of changes on, these states are allowed.
  private var marks: [(from: Int, allowed: [Shown])]

  /// Begins on a device that shows `reported`.
  package init(_ device: SimulatedDevice, showing reported: Shown) {
    self.device = device
    self.reported = reported
    marks = [(0, [reported])]
    device.record()
  }

  /// One step, which returns what it reports as done. A crash on the way leaves what was there before, or that.
  package func step(_ body: () throws -> Shown) throws {
    let start = device.operations
    let next = try body()
    let end = device.operations
    if end > start {
      marks.append((start + 1, [reported, next]))
      marks.append((end, [next]))
    } else {
      marks[marks.count - 1].allowed = [next]
    }
    reported = next
  }

  /// What may be found after a crash behind this number of changes.
  package func allowed(after changes: Int) -> [Shown] { marks.last { $0.from <= changes }!.allowed }
}

/// Crashes recorded workloads at every change, recovers from each crash, and crashes during the recovery.
package struct CrashExplorer<Shown: Hashable> {
  /// What a store shows to whoever starts there. Throws if that is not a whole state.
  private let show: (SimulatedDevice) throws -> Shown
  /// Recovers, and goes on by a commit or so; every step of it can be crashed in turn.
  private let goOn: (CrashRecording<Shown>) throws -> Void
  /// Images tried for each crash point of a workload, for each recovery, for the recovery of that, …
  private let samples: [Int]

  /// What each image showed, by its digest.
  private var known: [UInt64: Int] = [:]
  /// Crashes in all; many of them leave the same.
  package private(set) var crashes = 0
  package private(set) var points = 0

  package init(
    samples: [Int], show: @escaping (SimulatedDevice) throws -> Shown,
    goOn: @escaping (CrashRecording<Shown>) throws -> Void
  ) {
    self.samples = samples
    self.show = show
    self.goOn = goOn
  }

  /// Crash states that differ in a name or a byte.
  package var distinctStates: Int { known.count }

  package mutating func explore(_ recording: CrashRecording<Shown>, _ random: inout SeededGenerator) throws {
    for (point, disk) in recording.device.recorded.enumerated() {
      points += 1
      for _ in 0..<(disk.isSettled ? 1 : samples[0]) {
        try crash(disk, recording, point, 0, "", &random)
      }
    }
  }

  private mutating func crash(
    _ disk: SimulatedDisk, _ recording: CrashRecording<Shown>, _ point: Int, _ level: Int, _ path: String,
    _ random: inout SeededGenerator
  ) throws {
    let survival = SimulatedDisk.Survival.random(&random)
    let image = disk.crashed(survival, &random)
    let allowed = recording.allowed(after: point)
    let path = path + "crash after change \(point), \(survival) survives; "
    crashes += 1
    let digest = image.digest
    if let shown = known[digest] {
      guard allowed.contains(where: { $0.hashValue == shown }) else {
        throw CrashFailure(path: path, what: "it shows what was neither reported nor on its way")
      }
      return
    }
    do {
      let device = SimulatedDevice(image)
      let shown = try show(device)
      guard allowed.contains(shown) else {
        throw CrashFailure(path: "", what: "it shows \(shown), allowed are \(allowed)")
      }
      known[digest] = shown.hashValue
      let recovery = CrashRecording(device, showing: shown)
      try goOn(recovery)
      guard level + 1 < samples.count else { return }
      let disks = recovery.device.recorded
      for _ in 0..<samples[level + 1] {
        let point = Int.random(in: disks.indices, using: &random)
        try crash(disks[point], recovery, point, level + 1, path + "during the recovery: ", &random)
      }
    } catch let failure as CrashFailure where failure.path.hasPrefix("crash") {
      throw failure
    } catch {
      throw CrashFailure(path: path, what: "\(error)")
    }
  }
}

/// Which crash was not survived.
package struct CrashFailure: Error, CustomStringConvertible {
  let path: String
  let what: String
  package var description: String { path + String(what.prefix(2000)) }
}
