import ArgumentParser
import DocumentFormat
import Essentials
import JSONFormat
import PublicationFormat
import Publisher

struct FleetStatus: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show which devices have what, and who is behind and why.",
    discussion: """
      Reads what 'fleet collect' keeps in DIR, also while it runs. A device is behind if it serves an older state than \
      the publisher had for it, or for another device of its ring. It is silent if it has not reported for two days. \
      Devices that need somebody come first; with --json all devices, ordered by their ids, one a line.

      With --halt PERCENT it ends with 1 if more than PERCENT of the devices that were given the newest state of their \
      catalogue report a problem, or if no device has reported at all. So a script can go on with the next ring: \
      fleet status --from DIR --halt 2% && publish ring … . 'publish ring --fleet DIR --halt 2%' does both.
      """)

  /// The options are common to all commands; this one opens no store of a user.
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: ArgumentHelp("Where 'fleet collect' keeps the reports.", valueName: "dir"), completion: .directory)
  var from: String
  @Option(help: ArgumentHelp("The share of devices that may have a problem, such as 2%.", valueName: "percent"))
  var halt: PercentArgument?
  @Option(
    help: ArgumentHelp("With --halt: the state to judge, instead of the newest that was reported.", valueName: "number")
  )
  var sequence: UInt64?
  @Flag(help: "Show all devices, not only the first \(Self.shownCount).") var all = false

  private static let shownCount = 50

  func validate() throws {
    if from.isEmpty { throw ValidationError("--from names no directory") }
    if sequence != nil, halt == nil { throw ValidationError("--sequence belongs to --halt") }
    if sequence == 0 { throw ValidationError("--sequence is at least 1") }
  }

  func run() throws {
    let now = Date()
    let reports = try FleetStore.reading(from)
    let snapshot = try reports.snapshot()
    let survey = try FleetSurvey(snapshot, now: now)
    if output.json {
      try snapshot.forEach(isOrdered: true) { Self.json($0, survey).print() }
    } else {
      try show(snapshot, survey, now)
    }
    if let halt { try check(halt.halt, survey) }
  }

  private static func json(_ report: FleetReport, _ survey: FleetSurvey) -> JSONText {
    .object([
      ("device", .text(report.id)), ("sequence", .uint(report.sequence)), ("digest", .optional(report.digest)),
      ("since", .optional(report.since.map(DateText.text))), ("age", report.age.map(JSONText.int) ?? .null),
      ("mirror", .optional(report.mirror)), ("problem", .optional(report.problem)),
      ("version", .optional(report.version)), ("catalogue", .optional(report.catalogue)),
      ("ring", report.ring.map { .raw(Array(PublicationHead.Ring.text(ofPercent: $0).utf8)) } ?? .null),
      ("target", .uint(survey.target(of: report))), ("number", .uint(report.number)),
      ("time", .optional(report.time.map(DateText.text))), ("condition", .text(survey.condition(of: report).rawValue)),
      ("received", .text(DateText.text(report.received))),
    ])
  }

  // MARK: For people

  private func show(_ snapshot: FleetStore.Snapshot, _ survey: FleetSurvey, _ now: Date) throws {
    var counts: [FleetSurvey.Condition: Int] = [:]
    var rows: [FleetSurvey.Condition: [[String]]] = [:]
    let hasCatalogues = survey.newest.count > 1
    try snapshot.forEach(isOrdered: true) { report in
      let condition = survey.condition(of: report)
      counts[condition, default: 0] += 1
      guard all || rows[condition]?.count ?? 0 < Self.shownCount else { return }
      rows[condition, default: []].append(Self.row(report, condition, survey, now, hasCatalogues))
    }
    let sorted = FleetSurvey.Condition.allCases.flatMap { rows[$0] ?? [] }
    let shown = all ? sorted[...] : sorted.prefix(Self.shownCount)
    var table = Table(
      ["DEVICE", "CONDITION", ">STATE", ">RING"] + (hasCatalogues ? ["CATALOGUE"] : [])
        + ["SINCE", "REPORTED", "VERSION", "WHY"])
    for row in shown { table.add(row) }
    table.print()
    let total = counts.values.reduce(0, +)
    if total == 0 { return Console.print("no device has reported yet") }
    if shown.count < total {
      Console.print("… and \(Quantity.of(total - shown.count, "more device")); --all shows them")
    }
    let words: [(FleetSurvey.Condition, String)] = [
      (.current, "current"), (.behind, "behind"), (.problem, "with a problem"), (.silent, "silent"),
    ]
    let parts = words.compactMap { condition, name in counts[condition].map { "\(Quantity.count($0)) \(name)" } }
    Console.print("\(Quantity.of(total, "device")): \(parts.joined(separator: ", "))")
  }

  private static func row(
    _ report: FleetReport, _ condition: FleetSurvey.Condition, _ survey: FleetSurvey, _ now: Date,
    _ hasCatalogues: Bool
  ) -> [String] {
    let target = survey.target(of: report)
    var reasons: [String] = []
    if condition == .silent {
      let days = Int(now.timeIntervalSince(report.received) / 86_400)
      reasons.append("no report for \(Quantity.of(days, "day"))")
    }
    if let problem = report.problem { reasons.append(problem) }
    if report.sequence < target { reasons.append("should have \(target)") }
    return [Table.cell(report.id), condition.rawValue, "\(report.sequence)"]
      + [report.ring.map { PublicationHead.Ring.text(ofPercent: $0) + " %" } ?? ""]
      + (hasCatalogues ? [Table.cell(report.catalogue ?? "")] : [])
      + [
        report.since.map { Table.cell(DateText.text($0)) } ?? "", Self.minute(report.received),
        Table.cell(report.version ?? "", limit: 20), Table.cell(reasons.joined(separator: "; "), limit: 120),
      ]
  }

  private static func minute(_ date: Date) -> String { Moment.text(Int64(date.timeIntervalSince1970 * 1e6)) }

  // MARK: --halt

  private func check(_ halt: FleetHalt, _ survey: FleetSurvey) throws {
    if let sequence {
      let found = try halt.check(survey.trial(of: sequence), sequence)
      Console.say("catalogctl: \(found)")
      return
    }
    let states = survey.newest.sorted { $0.key ?? "" < $1.key ?? "" }
    if states.isEmpty { throw FleetError.withheld("no device has reported yet: the next ring is withheld") }
    for (catalogue, sequence) in states {
      let trial = survey.trial(of: sequence, in: catalogue)
      let name = catalogue.map { "catalogue \($0)" } ?? "devices that name no catalogue"
      let found = try halt.check(trial, sequence, of: states.count > 1 ? name : nil)
      Console.say("catalogctl: \(found)")
    }
  }
}
