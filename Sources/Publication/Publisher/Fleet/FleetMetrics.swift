package import Essentials
import PublicationFormat

/// The fleet in the text format of Prometheus. The number of series is bounded, whatever devices report: the most
/// frequent values of a label have series of their own.
package struct FleetMetrics {
  private static let catalogueLimit = 16
  private static let ringLimit = 4 * PublicationHead.ringLimit
  private static let codeLimit = 48

  private var bytes: [UInt8] = []

  /// Counts the devices.
  ///
  /// - Parameter counters: How many reports came since the start of the process, by what became of them.
  package static func text(
    _ snapshot: FleetStore.Snapshot, now: Date, counters: [(String, Int)]
  ) throws -> [UInt8] {
    let survey = try FleetSurvey(snapshot, now: now)
    let catalogues = Names(survey.newest.keys.map { $0 ?? "" }.sorted(), limit: catalogueLimit)
    var rings = Names(limit: ringLimit)
    var codes = Names(limit: codeLimit)
    var devices: [[String]: Int] = [:]
    var problems: [String: Int] = [:]
    var silent = 0
    let kinds = survey.counts.sorted { ($0.value, $1.key.sequence) > ($1.value, $0.key.sequence) }
    for (kind, count) in kinds {
      let condition = survey.condition(of: kind)
      let ring = rings.name(kind.ring.map(PublicationHead.Ring.text(ofPercent:)) ?? "")
      devices[[catalogues.known(kind.catalogue ?? ""), ring, condition.rawValue], default: 0] += count
      if let code = kind.problemCode { problems[codes.name(code), default: 0] += count }
      if condition == .silent { silent += count }
    }
    var text = FleetMetrics()
    text.head(
      "shelfmark_fleet_devices", "gauge", "Devices by catalogue, by the percent of their ring, and by condition.")
    for (labels, count) in devices.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      text.add(
        "shelfmark_fleet_devices", [("catalogue", labels[0]), ("ring", labels[1]), ("condition", labels[2])], count)
    }
    text.head("shelfmark_fleet_problem_devices", "gauge", "Devices whose last report has a problem, by its code.")
    for (code, count) in problems.sorted(by: { $0.key < $1.key }) {
      text.add("shelfmark_fleet_problem_devices", [("code", code)], count)
    }
    text.head("shelfmark_fleet_silent_devices", "gauge", "Devices that have not reported for two days.")
    text.add("shelfmark_fleet_silent_devices", [], silent)
    var newest: [(catalogue: String, sequence: UInt64, trial: FleetSurvey.Trial)] = []
    for (catalogue, sequence) in survey.newest where catalogues.contains(catalogue ?? "") {
      newest.append((catalogue ?? "", sequence, survey.trial(of: sequence, in: catalogue)))
    }
    newest.sort { $0.catalogue < $1.catalogue }
    text.head("shelfmark_fleet_newest_sequence", "gauge", "The newest state that a device has or should have.")
    for (catalogue, sequence, _) in newest {
      text.add("shelfmark_fleet_newest_sequence", [("catalogue", catalogue)], Int(clamping: sequence))
    }
    text.head("shelfmark_fleet_newest_devices", "gauge", "Devices that were given the newest state.")
    for (catalogue, _, trial) in newest {
      text.add("shelfmark_fleet_newest_devices", [("catalogue", catalogue)], trial.devices)
    }
    text.head("shelfmark_fleet_newest_problem_devices", "gauge", "The number of them that have a problem.")
    for (catalogue, _, trial) in newest {
      text.add("shelfmark_fleet_newest_problem_devices", [("catalogue", catalogue)], trial.problems)
    }
    text.head("shelfmark_fleet_reports_total", "counter", "Reports that arrived, by what became of them.")
    for (outcome, count) in counters { text.add("shelfmark_fleet_reports_total", [("outcome", outcome)], count) }
    return text.bytes
  }

  private mutating func head(_ name: String, _ kind: String, _ help: String) {
    bytes += Array("# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n".utf8)
  }

  private mutating func add(_ name: String, _ labels: [(String, String)], _ value: Int) {
    let text = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
    bytes += Array((labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(text)} \(value)\n").utf8)
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }

  /// The values of a label, of which there are at most a certain number; the others are `other`.
  private struct Names {
    private var known: Set<String>
    private let limit: Int

    init(_ names: [String] = [], limit: Int) {
      known = Set(names.prefix(limit))
      self.limit = limit
    }

    func contains(_ name: String) -> Bool { known.contains(name) }

    func known(_ name: String) -> String { known.contains(name) ? name : "other" }

    mutating func name(_ name: String) -> String {
      if known.count < limit { known.insert(name) }
      return known(name)
    }
  }
}
