import ArgumentParser
import Catalog
import JSONFormat

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits that are kept, newest first.",
    discussion: """
      A full update begins a new file. The file before it is kept for keepPreviousDays (a setting, 7 without it), and its \
      commits are listed after those of the present one (with --json "previous":true): 'rollback', 'diff' and 'dump --at' \
      reach them. A compaction drops the commits before it. What a full update left out was told when it was made; here it is \
      not known: with --json, null.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    guard let history = try store.history() else { return }
    let commits = try history.commits()
    if output.json {
      for commit in commits { Self.json(commit).print() }
    } else {
      Self.table(commits.filter { !$0.isPrevious }).print()
      let previous = commits.filter(\.isPrevious)
      if !previous.isEmpty {
        Console.print("")
        Console.print(Console.styled("Before the last full update, still kept:", .bold))
        Self.table(previous).print()
      }
    }
    if let failure = history.previousFailure {
      Console.say("catalogctl: warning: the commits before the last full update cannot be read: \(failure)")
    }
  }

  private static func table(_ commits: [CatalogCommit]) -> Table {
    var table = Table(
      ">COMMIT", "TIME", "MODE", ">UPSERTED", ">DELETED", ">RELATIONS +", ">RELATIONS −", ">SIZE", "CURSOR")
    for entry in commits {
      table.add(
        String(entry.commit.sequence), Moment.text(entry.commit.time), entry.state.mode.name,
        text(entry.counts.productsUpserted), text(entry.counts.productsDeleted),
        text(entry.counts.relationsWritten), text(entry.counts.relationsDeleted),
        Quantity.bytes(entry.commit.byteCount), Table.cell(entry.state.cursor))
    }
    return table
  }

  /// A count for people; a dash if it is not known.
  private static func text(_ count: Int?) -> String { count.map(Quantity.count) ?? "–" }

  private static func json(_ entry: CatalogCommit) -> JSONText {
    func number(_ count: Int?) -> JSONText { count.map(JSONText.int) ?? .null }
    let counts = entry.counts
    return .object([
      ("sequence", .uint(entry.commit.sequence)), ("generation", .uint(entry.commit.generation)),
      ("time", .text(Moment.text(entry.commit.time))), ("mode", .text(entry.state.mode.name)),
      (
        "products",
        .object([("upserted", number(counts.productsUpserted)), ("deleted", number(counts.productsDeleted))])
      ),
      (
        "relations",
        .object([
          ("written", number(counts.relationsWritten)), ("deleted", number(counts.relationsDeleted)),
          ("ignored", .int(entry.state.counts.relationsIgnored)),
        ])
      ),
      ("defaulted", .int(entry.state.counts.defaulted)), ("cursor", .text(entry.state.cursor)),
      ("bytes", .int(entry.commit.byteCount)), ("previous", .bool(entry.isPrevious)),
    ])
  }
}
