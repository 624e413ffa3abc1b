import Catalog
import CatalogSync
import JSONFormat
import Workspace

/// The report of a synchronisation, for people and for programs.
struct SyncReport {
  /// The maximum number of rows and sets that a message lists; a report as JSON has all of them.
  private static let shownCount = 20

  private let report: ImportReport

  init(_ report: ImportReport) { self.report = report }

  /// The fields of the JSON report, without those that only some commands have.
  func fields(seconds: Double) -> [(String, JSONText)] {
    report.update.fields(bytesIn: report.payload.bytesIn) + [("seconds", .double((seconds * 1000).rounded() / 1000))]
      + report.update.notices.fields
  }

  /// Prints the report.
  func print(seconds: Double) {
    let update = report.update
    let counts = update.counts
    let codes =
      "; \(Quantity.of(counts.codesWritten, "code")) written, \(Quantity.count(counts.codesDeleted)) deleted,"
      + " \(Quantity.count(counts.codesIgnored)) ignored"
    Console.print(
      "\(update.mode.name) update, commit \(update.sequence): \(Quantity.of(counts.productsUpserted, "product"))"
        + " upserted, \(Quantity.count(counts.productsDeleted)) deleted;"
        + " \(Quantity.of(counts.relationsWritten, "relation")) written,"
        + " \(Quantity.count(counts.relationsDeleted)) deleted, \(Quantity.count(counts.relationsIgnored)) ignored"
        + (counts.hasCodes ? codes : ""))
    Console.print(
      "\(Quantity.bytes(report.payload.bytesIn)) in \(Quantity.rounded(seconds)) s; cursor \(update.cursor.shown)")
  }

  /// Warns about values that were changed on import, and about references that the update broke.
  func warn() {
    let defaulted = report.payload.defaulted
    if defaulted.total > 0 {
      let fields = defaulted.byField.map { "\($0.name) \($0.count) ×" }.joined(separator: ", ")
      Console.say("catalogctl: fields of another type than theirs took their default: \(fields)")
    }
    let notices = report.update.notices
    if notices.collapsed > 0 {
      Console.say(
        "catalogctl: warning: \(Quantity.of(notices.collapsed, "product")) with the id of another product of the answer,"
          + " or none: the last of each id counts")
    }
    if notices.skipped.count > 0 {
      Console.say(
        "catalogctl: warning: \(Quantity.of(notices.skipped.count, "row")) beyond a limit of the format skipped;"
          + " ask the server's operator for a correction")
      for row in notices.skipped.first { Console.say("  \(row)") }
      sayRest(notices.skipped.count - notices.skipped.first.count, "row")
    }
    let broken = notices.brokenSets
    if broken.isEmpty { return }
    Console.say("catalogctl: warning: this update deleted components of \(Quantity.of(broken.count, "set"))")
    for set in broken.prefix(Self.shownCount) {
      Console.say("  set \(set.id) lacks \(set.missing.joined(separator: ", "))")
    }
    sayRest(broken.count - Self.shownCount, "set", "; --json lists all of them")
  }

  private func sayRest(_ count: Int, _ noun: String, _ advice: String = "") {
    if count > 0 { Console.say("  and \(Quantity.of(count, "more " + noun))\(advice)") }
  }
}
