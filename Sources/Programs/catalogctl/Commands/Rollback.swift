import ArgumentParser
import Catalog
import JSONFormat

struct Rollback: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rollback", abstract: "Make the state at an earlier commit current again, as a new commit.",
    discussion: """
      The cursor goes back with it, so the next sync asks for everything since then. The commits in between stay in \
      the log, and going back can be taken back.

      A full update or an import that went wrong is undone in this way too: the generation before it is kept for \
      keepPreviousDays (a setting, 7 without it), unless the room is needed or 'compact --drop-previous' deletes it. \
      Such a rollback writes a new file, and needs room for a third copy of the catalogue. It can be taken back too; \
      the other commits of the older generation are gone after it, because one previous generation is kept. Documents \
      and the upload queue are not touched. Exit code 1 if the commit is not kept.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The number of the commit, as 'catalogctl log' lists it.") var sequence: UInt64

  func run() throws {
    // A user without a catalogue has no commits.
    guard let history = try store.history() else { throw Failure.noCommit(sequence) }
    let generation = history.current.generation
    let writer = try store.writer(lockTimeout: write.lockTimeout)
    defer { writer.close() }
    guard let report = try writer.rollback(to: sequence) else { throw Failure.noCommit(sequence) }
    DurableChange.report("the state of commit \(sequence) is current again, durably, as commit \(report.sequence)")
    let counts = report.counts
    if output.json {
      let codes: [(String, JSONText)] =
        counts.hasCodes
        ? [("codes", .object([("written", .int(counts.codesWritten)), ("deleted", .int(counts.codesDeleted))]))] : []
      let rows: [(String, JSONText)] = [
        ("mode", .text(report.mode.name)), ("sequence", .uint(report.sequence)),
        ("generation", .uint(report.generation)), ("restored", .uint(sequence)),
        (
          "products",
          .object([("upserted", .int(counts.productsUpserted)), ("deleted", .int(counts.productsDeleted))])
        ),
        (
          "relations",
          .object([("written", .int(counts.relationsWritten)), ("deleted", .int(counts.relationsDeleted))])
        ),
      ]
      JSONText.object(rows + codes + [("cursor", .text(report.cursor))]).print()
    } else {
      defer {
        if report.generation != generation {
          Console.say(
            "commit \(report.sequence - 1), which was current, can still be gone back to; of the commits before the last full"
              + " update only this state is left")
        }
      }
      Console.print(
        "commit \(report.sequence) is as commit \(sequence) was: \(Quantity.of(counts.productsUpserted, "product")) put"
          + " again, \(Quantity.count(counts.productsDeleted)) deleted; cursor \(report.cursor.shown)")
    }
  }
}
