import ArgumentParser
import Catalog
import CatalogSync
import CatalogWire
import JSONOutput

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Replace the catalogue by the rows of a file, as a full update.",
    discussion: """
      NDJSON as 'dump' prints it, or CSV where the file's name ends in .csv; - is standard input. In CSV the first record \
      names the columns; id has to be among them. What is wrong is told with line and column, and nothing changes \
      then. Without --cursor the cursor is empty: the next sync brings everything from the server.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var accept: UpdateOptions
  @Option(help: ArgumentHelp("The cursor that the rows stand for.", valueName: "text")) var cursor = ""
  @Option(help: "ndjson or csv, whatever the file is called.") var format: RowFileFormat?
  @Argument(help: "The file to read; - is standard input.") var file: String

  func validate() throws {
    let limit = WireLimits().cursorByteCount
    guard cursor.utf8.count <= limit else { throw ValidationError("--cursor is at most \(limit) bytes") }
  }

  func run() throws {
    // A file that is not there should be told before a store is made.
    let input = try InputFile(file)
    // Nobody can tell where the rows come from: no other user may begin with this catalogue from now on.
    try store.workspace.forgetOrigin(of: store.userID())
    let writer = try store.writer(waiting: write.milliseconds)
    defer { writer.close() }
    try writer.roomForFullUpdate().warnIfScarce()
    var rows = try RowImport(writer, format ?? RowFileFormat(path: file), accept.gate)
    do {
      while let piece = try input.next() { try rows.consume(piece.span) }
      let (update, summary) = try rows.finish(cursor: cursor)
      print(update, defaulted: summary.defaulted.total)
      if summary.defaulted.total > 0 {
        Console.say("catalogctl: \(summary.defaulted.total) fields of another type than theirs took their default")
      }
    } catch {
      rows.cancel()
      throw Failure(named: input.name, error)
    }
  }

  private func print(_ update: UpdateReport, defaulted: Int) {
    let counts = update.counts
    if output.json {
      JSONText.object([
        ("mode", .text(update.mode.name)), ("sequence", .uint(update.sequence)),
        ("generation", .uint(update.generation)),
        (
          "products",
          .object([("upserted", .int(counts.productsUpserted)), ("deleted", .int(counts.productsDeleted))])
        ),
        (
          "relations",
          .object([("written", .int(counts.relationsWritten)), ("deleted", .int(counts.relationsDeleted))])
        ),
        ("defaulted", .int(defaulted)), ("cursor", .text(update.cursor)),
      ]).print()
    } else {
      Console.print(
        "commit \(update.sequence): \(Quantity.count(counts.productsUpserted)) products,"
          + " \(Quantity.count(counts.relationsWritten)) relations; \(Quantity.count(counts.productsDeleted)) products and"
          + " \(Quantity.count(counts.relationsDeleted)) relations are gone; cursor "
          + (update.cursor.isEmpty ? "empty: the next sync brings everything" : update.cursor.shown))
    }
  }
}
