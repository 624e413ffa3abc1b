import ArgumentParser
import Catalog
import CatalogSync

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the catalogue into a file, as NDJSON or CSV.",
    discussion: """
      NDJSON as 'dump' prints it, or CSV where the file's name ends in .csv: one table with the column 'type', the 25 \
      fields of a product, and the two ids of a relation. 'import' takes either back. The file is one commit, whatever \
      is written meanwhile, and appears whole or not at all; - is standard output.
      """)

  @OptionGroup var store: StoreOptions
  @Option(help: "The state at an earlier commit.") var at: UInt64?
  @Option(help: "ndjson or csv, whatever the file is called.") var format: RowFileFormat?
  @Argument(help: "The file to write; - is standard output.") var file: String

  func run() throws {
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    let export = RowExport(format ?? RowFileFormat(path: file))
    if file == "-" { return try export.write(snapshot) { Console.print($0) } }
    let output = try OutputFile(file)
    do {
      try export.write(snapshot, to: output.write)
      try output.publish()
    } catch {
      output.discard()
      throw error
    }
    Console.say(
      "\(file): \(Quantity.count(snapshot.productCount)) products, \(Quantity.count(snapshot.relationCount)) relations,"
        + " commit \(snapshot.sequence)")
  }
}

extension RowFileFormat: ExpressibleByArgument {}
