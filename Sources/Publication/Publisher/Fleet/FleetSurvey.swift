package import Essentials

/// Which devices have what, and which need somebody: counted in one pass over the reports, and asked in a second one.
package struct FleetSurvey: Sendable {
  /// The longest time without a report, in seconds. Devices report once a day.
  package static let silence: TimeInterval = 2 * 86_400

  /// What a device is, in the order in which it counts: a device that is silent is nothing else.
  package enum Condition: String, Sendable, CaseIterable {
    /// It has not reported for two days.
    case silent
    /// It has reported a problem.
    case problem
    /// It serves an older state than it should.
    case behind
    case current
  }

  /// The devices of a catalogue that are in one ring.
  package struct Group: Hashable, Sendable {
    package var catalogue: String?
    package var ring: Double?
  }

  /// The devices that were given a state.
  package struct Trial: Sendable, Equatable {
    /// The devices that serve the state, or should and say why they do not.
    package var devices = 0
    /// Those of them that have a problem.
    package var problems = 0
    /// Those of them that are silent.
    package var silent = 0

    /// The share of devices with a problem, in percent.
    package var percent: Double { devices == 0 ? 0 : Double(problems) * 100 / Double(devices) }
  }

  private let now: Date
  /// The newest state that devices of a group have or should have.
  private var newestOfGroup: [Group: UInt64] = [:]
  /// The newest state of each catalogue, with `nil` for reports that name none.
  package private(set) var newest: [String?: UInt64] = [:]

  /// Reads the reports for the states that devices should have.
  package init(_ snapshot: FleetStore.Snapshot, now: Date) throws {
    self.now = now
    try snapshot.forEach { add($0) }
  }

  /// Counts reports that are there.
  init(_ reports: some Sequence<FleetReport>, now: Date) {
    self.now = now
    for report in reports { add(report) }
  }

  private mutating func add(_ report: FleetReport) {
    let sequence = report.target ?? report.sequence
    let group = Group(catalogue: report.catalogue, ring: report.ring)
    newestOfGroup[group] = max(newestOfGroup[group] ?? 0, sequence)
    newest[report.catalogue] = max(newest[report.catalogue] ?? 0, report.sequence, sequence)
  }

  /// The state that a device should have: what the publisher had for it, or what another device of its ring has meanwhile.
  package func target(of report: FleetReport) -> UInt64 {
    let group = Group(catalogue: report.catalogue, ring: report.ring)
    return max(report.target ?? report.sequence, newestOfGroup[group] ?? 0)
  }

  package func condition(of report: FleetReport) -> Condition {
    if isSilent(report) { return .silent }
    if report.problem != nil { return .problem }
    return report.sequence < target(of: report) ? .behind : .current
  }

  private func isSilent(_ report: FleetReport) -> Bool { now.timeIntervalSince(report.received) > Self.silence }

  /// Counts the devices that were given a state.
  ///
  /// - Parameter isIncluded: Whether the state is one of the catalogue that a report is about.
  package func trial(
    of sequence: UInt64, _ snapshot: FleetStore.Snapshot, where isIncluded: (FleetReport) -> Bool
  ) throws -> Trial {
    var trial = Trial()
    try snapshot.forEach { report in
      if isIncluded(report) { add(report, to: &trial, of: sequence) }
    }
    return trial
  }

  func add(_ report: FleetReport, to trial: inout Trial, of sequence: UInt64) {
    let hasFailed = report.problem != nil
    // A device that could not take the state serves an older one, and its report says what it should have.
    guard report.sequence == sequence || hasFailed && report.target == sequence && report.sequence < sequence else {
      return
    }
    trial.devices += 1
    if hasFailed { trial.problems += 1 }
    if isSilent(report) { trial.silent += 1 }
  }
}
