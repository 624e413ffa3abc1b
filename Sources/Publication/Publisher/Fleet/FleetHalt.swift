package import Essentials
package import PublicationFormat

/// The share of devices that may fail before a state goes to no more of them.
package struct FleetHalt: Sendable, Equatable {
  /// The share in percent, 0 to 100.
  package var percent: Double

  package init(percent: Double) { self.percent = percent }

  /// Checks how a state fares with the devices that were given it.
  ///
  /// - Parameter name: What the message begins with, if there is more than one catalogue.
  /// - Returns: What was found, for people.
  /// - Throws: ``FleetError/withheld(_:)`` if too many devices have a problem, or no device has reported the state.
  package func check(_ trial: FleetSurvey.Trial, _ sequence: UInt64, of name: String? = nil) throws(FleetError)
    -> String
  {
    let name = name.map { $0 + ": " } ?? ""
    guard trial.devices > 0 else {
      throw .withheld("\(name)no device has reported the state \(sequence) yet: the next ring is withheld")
    }
    let devices = "\(trial.devices) device\(trial.devices == 1 ? "" : "s")"
    let silent = trial.silent > 0 ? "; \(trial.silent) of them did not report for two days" : ""
    let limit = PublicationHead.Ring.text(ofPercent: percent)
    let verb = trial.problems == 1 ? "reports" : "report"
    let found =
      "\(name)\(trial.problems) of \(devices) with the state \(sequence) \(verb) a problem"
      + " (\(Self.rounded(trial.percent)) %)"
    if trial.percent > percent { throw .withheld("\(found), more than \(limit) %: the next ring is withheld\(silent)") }
    return "\(found), not more than \(limit) %\(silent)"
  }

  private static func rounded(_ percent: Double) -> String {
    let tenths = Int((percent * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

extension FleetHalt {
  /// The states that a change of rings gives to devices which have an older one, and which other devices have already.
  ///
  /// A state that no device has is not among them, because nothing can be known of it, and neither is one that is older
  /// than what the devices have: a rollback must always be possible.
  static func widened(from former: PublicationHead, to head: PublicationHead) -> [UInt64] {
    let ends = Set((former.rings + head.rings).map(\.percent) + [100]).sorted()
    var given: Set<UInt64> = []
    var known: Set<UInt64> = []
    var start = 0.0
    for end in ends where end > start {
      let (old, new) = (former.state(ofDevice: start).sequence, head.state(ofDevice: start).sequence)
      known.insert(old)
      if new > old { given.insert(new) }
      start = end
    }
    return given.intersection(known).sorted()
  }
}

extension FleetHalt {
  /// Checks that a change of rings gives no state to more devices that too many of the devices fail to take which were
  /// given it before.
  ///
  /// - Returns: What was found, a line for each state.
  /// - Throws: ``FleetError/withheld(_:)``; errors of reading the reports.
  package func check(
    _ snapshot: FleetStore.Snapshot, from former: PublicationHead, to head: PublicationHead, now: Date
  ) throws -> [String] {
    let sequences = Self.widened(from: former, to: head)
    if sequences.isEmpty { return [] }
    let survey = try FleetSurvey(snapshot, now: now)
    return try sequences.map { sequence in
      let trial = survey.trial(of: sequence, in: head.catalogue, includesUnnamed: true)
      return try check(trial, sequence)
    }
  }
}
