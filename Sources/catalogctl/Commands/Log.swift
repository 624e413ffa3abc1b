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
        Quantity.count(entry.upserted), entry.deleted.map(Quantity.count) ?? "–",
        Quantity.count(entry.state.counts.relationsWritten), entry.relationsDeleted.map(Quantity.count) ?? "–",
        Quantity.bytes(entry.commit.byteCount), Table.cell(entry.state.cursor))
    }
    return table
  }

  private static func json(_ entry: CatalogCommit) -> JSONText {
    let counts = entry.state.counts
    return .object([
      ("sequence", .uint(entry.commit.sequence)), ("generation", .uint(entry.commit.generation)),
      ("time", .text(Moment.text(entry.commit.time))), ("mode", .text(entry.state.mode.name)),
      (
        "products",
        .object([("upserted", .int(entry.upserted)), ("deleted", entry.deleted.map(JSONText.int) ?? .null)])
      ),
      (
        "relations",
        .object([
          ("written", .int(counts.relationsWritten)),
          ("deleted", entry.relationsDeleted.map(JSONText.int) ?? .null),
          ("ignored", .int(counts.relationsIgnored)),
        ])
      ),
      ("defaulted", .int(counts.defaulted)), ("cursor", .text(entry.state.cursor)),
      ("bytes", .int(entry.commit.byteCount)), ("previous", .bool(entry.isPrevious)),
    ])
  }
}

extension CatalogCommit {
  /// Whether the commit contains all rows. Rows that it omitted were reported when it was written.
  private var isBase: Bool { state.mode == .full || state.mode == .repair }

  fileprivate var upserted: Int { isBase ? products : state.counts.productsUpserted }
  fileprivate var deleted: Int? { isBase ? nil : state.counts.productsDeleted }
  fileprivate var relationsDeleted: Int? { isBase ? nil : state.counts.relationsDeleted }
}
