import ArgumentParser
import Catalog
import JSONFormat

struct Log: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits that are kept, newest first, or follow new ones.",
    discussion: """
      A full update begins a new file. The file before it is kept for keepPreviousDays (a setting, 7 without it), and \
      its commits are listed after those of the present one (with --json "previous":true): 'rollback', 'diff' and \
      'dump --at' reach them. A compaction drops the commits before it. What a full update left out was told when it \
      was made; here it is not known: with --json, null.

      With --follow each new commit is a line, of whichever process, and nothing else is listed. A catalogue that does \
      not exist yet is waited for. A compaction is no commit. The command ends at SIGINT or SIGTERM with exit code 0, \
      and with 65 if the catalogue is damaged. It stays with its user even if another user signs in.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Print each new commit as it appears, until the command is interrupted.") var follow = false
  @Option(
    help: ArgumentHelp("With --follow: how often to check for a commit (default: 1).", valueName: "seconds"))
  var interval: Double?

  func validate() throws {
    if interval != nil, !follow { throw ValidationError("--interval comes with --follow") }
    if let interval, !(interval >= 0.001 && interval <= 86_400) {
      throw ValidationError("--interval is 0.001 to 86400 seconds")
    }
  }

  func run() async throws {
    if follow { return try await followCommits() }
    guard let history = try store.history() else { return }
    let commits = try history.commits()
    if output.json {
      for commit in commits { commit.json.print() }
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

  private func followCommits() async throws {
    let user = try store.userID()
    let workspace = store.workspace
    let start = try store.snapshot()
    let changes = CatalogObservation(since: start, interval: .seconds(interval ?? 1)) {
      try workspace.catalogue(of: user)
    }
    let isJSON = output.json
    do {
      try await TerminationSignals.cancelling {
        Console.say("catalogctl: following the commits of \(user) after commit \(start.sequence), until interrupted")
        for try await change in changes { Self.print(change, isJSON) }
      }
    } catch {
      // The catalogue was fine when the command began.
      try store.orRemedies(user) { throw error }
    }
  }

  /// Prints a line for each commit, and a message if some cannot be listed.
  private static func print(_ change: CatalogObservation.Change, _ isJSON: Bool) {
    if change.isReplacement {
      Console.say(
        "catalogctl: warning: another file replaced the catalogue at commit \(change.before.sequence); 'catalogctl log'"
          + " lists its commits")
    } else if !change.hasAllCommits {
      Console.say(
        "catalogctl: warning: some commits after \(change.before.sequence) cannot be listed: a compaction dropped them")
    }
    for commit in change.commits {
      if isJSON { commit.json.print() } else { Console.print(line(commit)) }
    }
  }

  private static func line(_ entry: CatalogCommit) -> String {
    let counts = entry.counts
    return "commit \(entry.commit.sequence)  \(Moment.text(entry.commit.time))  \(entry.state.mode.name)"
      + "  products +\(text(counts.productsUpserted)) −\(text(counts.productsDeleted))"
      + "  relations +\(text(counts.relationsWritten)) −\(text(counts.relationsDeleted))"
      + (entry.state.hasCodes ? "  codes +\(text(counts.codesWritten)) −\(text(counts.codesDeleted))" : "")
      + "  \(Quantity.bytes(entry.commit.byteCount))  \(Table.cell(entry.state.cursor))"
  }

  private static func table(_ commits: [CatalogCommit]) -> Table {
    let hasCodes = commits.contains(where: \.state.hasCodes)
    var table = Table(
      [">COMMIT", "TIME", "MODE", ">UPSERTED", ">DELETED", ">RELATIONS +", ">RELATIONS −"]
        + (hasCodes ? [">CODES +", ">CODES −"] : []) + [">SIZE", "CURSOR"])
    for entry in commits {
      let counts = entry.counts
      let rows = [
        String(entry.commit.sequence), Moment.text(entry.commit.time), entry.state.mode.name,
        text(counts.productsUpserted), text(counts.productsDeleted), text(counts.relationsWritten),
        text(counts.relationsDeleted),
      ]
      table.add(
        rows + (hasCodes ? [text(counts.codesWritten), text(counts.codesDeleted)] : [])
          + [Quantity.bytes(entry.commit.byteCount), Table.cell(entry.state.cursor)])
    }
    return table
  }

  /// A count for people; a dash if it is not known.
  private static func text(_ count: Int?) -> String { count.map(Quantity.count) ?? "–" }
}
