import ArgumentParser
import Catalog
import JSONOutput

struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "List the commits of this generation, newest first.",
    discussion: """
      A full update or a compaction begins a new generation, and with it a new list. What a full update left out was told \
      when it was made; here it is not known: with --json, null.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    var table = Table(
      ">COMMIT", "TIME", "MODE", ">UPSERTED", ">DELETED", ">RELATIONS +", ">RELATIONS −", ">SIZE", "CURSOR")
    for entry in try store.snapshot().history() {
      let counts = entry.state.counts
      // The base of a generation holds what it holds; what it left out is told once, when it is written.
      let isBase = entry.state.mode == .full || entry.state.mode == .repair
      let deleted = isBase ? nil : counts.productsDeleted
      let relationsDeleted = isBase ? nil : counts.relationsDeleted
      let upserted = isBase ? entry.products : counts.productsUpserted
      if output.json {
        JSONText.object([
          ("sequence", .uint(entry.commit.sequence)), ("generation", .uint(entry.commit.generation)),
          ("time", .text(Moment.text(entry.commit.time))), ("mode", .text(entry.state.mode.name)),
          (
            "products",
            .object([("upserted", .int(upserted)), ("deleted", deleted.map(JSONText.int) ?? .null)])
          ),
          (
            "relations",
            .object([
              ("written", .int(counts.relationsWritten)),
              ("deleted", relationsDeleted.map(JSONText.int) ?? .null),
              ("ignored", .int(counts.relationsIgnored)),
            ])
          ),
          ("defaulted", .int(counts.defaulted)), ("cursor", .text(entry.state.cursor)),
          ("bytes", .int(entry.commit.byteCount)),
        ]).print()
      }
      table.add(
        String(entry.commit.sequence), Moment.text(entry.commit.time), entry.state.mode.name,
        Quantity.count(upserted), deleted.map(Quantity.count) ?? "–", Quantity.count(counts.relationsWritten),
        relationsDeleted.map(Quantity.count) ?? "–", Quantity.bytes(entry.commit.byteCount),
        Table.cell(entry.state.cursor))
    }
    if !output.json { table.print() }
  }
}
