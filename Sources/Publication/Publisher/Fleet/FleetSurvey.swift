package import Essentials

/// Which devices have what, and which need somebody.
package struct FleetSurvey: Sendable {
  /// The longest time without a report, in seconds. Devices report once a day.
  package static let silence: TimeInterval = 2 * 86_400

  /// What a device is, the first of these that it is.
  package enum Condition: String, Sendable, CaseIterable {
    /// It has not reported for two days.
    case silent
    /// It has reported a problem.
    case problem
    /// It serves an older state than it should.
    case behind
    case current
  }

  /// What devices have in common that count as one.
  struct Kind: Hashable, Sendable {
    var catalogue: String?
    var ring: Double?
    var sequence: UInt64
    var target: UInt64?
    var problemCode: String?
    var isSilent: Bool

    /// Whether the devices were given a state: they serve it, or they should and say why they do not.
    func wasGiven(_ state: UInt64) -> Bool {
      sequence == state || problemCode != nil && target == state && sequence < state
    }
  }

  /// The devices of a catalogue that are in one ring.
  private struct Group: Hashable, Sendable {
    var catalogue: String?
    var ring: Double?
  }

  /// The devices that were given a state.
  package struct Trial: Sendable, Equatable {
    /// The devices that serve the state, or should and say why they do not.
    package var devices = 0
    /// The number of them that have a problem.
    package var problems = 0
    /// The number of them that are silent.
    package var silent = 0

    /// The share of devices with a problem, in percent.
    package var percent: Double { devices == 0 ? 0 : Double(problems) * 100 / Double(devices) }
  }

  private let now: Date
  /// The number of devices of each kind.
  private(set) var counts: [Kind: Int] = [:]
  /// The newest state that devices of a group should have.
  private var newestOfGroup: [Group: UInt64] = [:]
  /// The newest state of each catalogue; the key `nil` is for reports that name no catalogue.
  package private(set) var newest: [String?: UInt64] = [:]

  /// Reads all reports once. Memory: that of the different kinds of devices.
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
    counts[kind(of: report), default: 0] += 1
  }

  private func kind(of report: FleetReport) -> Kind {
    Kind(
      catalogue: report.catalogue, ring: report.ring, sequence: report.sequence, target: report.target,
      problemCode: report.problemCode, isSilent: now.timeIntervalSince(report.received) > Self.silence)
  }

  /// The state that a device should have: what the publisher had for it, or for another device of its ring.
  package func target(of report: FleetReport) -> UInt64 { target(of: kind(of: report)) }

  private func target(of kind: Kind) -> UInt64 {
    max(kind.target ?? kind.sequence, newestOfGroup[Group(catalogue: kind.catalogue, ring: kind.ring)] ?? 0)
  }

  package func condition(of report: FleetReport) -> Condition { condition(of: kind(of: report)) }

  func condition(of kind: Kind) -> Condition {
    if kind.isSilent { return .silent }
    if kind.problemCode != nil { return .problem }
    return kind.sequence < target(of: kind) ? .behind : .current
  }

  /// Counts the devices that were given a state of any catalogue.
  package func trial(of sequence: UInt64) -> Trial { trial { kind in kind.wasGiven(sequence) } }

  /// Counts the devices that were given a state of a catalogue.
  ///
  /// - Parameters:
  ///   - catalogue: The catalogue; `nil` for the devices that name none.
  ///   - includesUnnamed: Whether devices that name no catalogue count as well.
  package func trial(of sequence: UInt64, in catalogue: String?, includesUnnamed: Bool = false) -> Trial {
    trial { kind in
      kind.wasGiven(sequence) && (kind.catalogue == catalogue || includesUnnamed && kind.catalogue == nil)
    }
  }

  private func trial(where isIncluded: (Kind) -> Bool) -> Trial {
    var trial = Trial()
    for (kind, count) in counts where isIncluded(kind) {
      trial.devices += count
      if kind.problemCode != nil { trial.problems += count }
      if kind.isSilent { trial.silent += count }
    }
    return trial
  }
}
