package import Essentials
import PublicationFormat

/// The fleet in the text format of Prometheus. The number of series is bounded, whatever devices report.
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
    var trials: [String?: FleetSurvey.Trial] = [:]
    var silent = 0
    try snapshot.forEach { report in
      let condition = survey.condition(of: report)
      let ring = rings.name(report.ring.map(PublicationHead.Ring.text(ofPercent:)) ?? "")
      devices[[catalogues.known(report.catalogue ?? ""), ring, condition.rawValue], default: 0] += 1
      if let code = report.problemCode { problems[codes.name(code), default: 0] += 1 }
      if condition == .silent { silent += 1 }
      if let newest = survey.newest[report.catalogue] {
        survey.add(
          report, to: &trials[report.catalogue, default: FleetSurvey.Trial()], of: newest)
      }
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
    let newest = survey.newest.filter { catalogues.contains($0.key ?? "") }.sorted { $0.key ?? "" < $1.key ?? "" }
    text.head("shelfmark_fleet_newest_sequence", "gauge", "The newest state that a device has or should have.")
    for (catalogue, sequence) in newest {
      text.add("shelfmark_fleet_newest_sequence", [("catalogue", catalogue ?? "")], Int(clamping: sequence))
    }
    text.head("shelfmark_fleet_newest_devices", "gauge", "Devices that were given the newest state.")
    for (catalogue, _) in newest {
      text.add("shelfmark_fleet_newest_devices", [("catalogue", catalogue ?? "")], trials[catalogue]?.devices ?? 0)
    }
    text.head("shelfmark_fleet_newest_problem_devices", "gauge", "Those of them that have a problem.")
    for (catalogue, _) in newest {
      text.add(
        "shelfmark_fleet_newest_problem_devices", [("catalogue", catalogue ?? "")], trials[catalogue]?.problems ?? 0)
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
