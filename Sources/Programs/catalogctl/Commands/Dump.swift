import ArgumentParser
import Catalog
import CatalogFiles
import CatalogSync

struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Print every row as NDJSON, in an order that depends on the content alone.",
    discussion:
      "Products by id, then relations by set, component and id. With neither flag, both. --json changes nothing.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Products.") var products = false
  @Flag(help: "Relations.") var relations = false
  @Option(help: ArgumentHelp("The state at an earlier commit.", valueName: "sequence")) var at: UInt64?

  func run() throws {
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    var export = RowExport(.ndjson)
    export.includesProducts = products || !relations
    export.includesRelations = relations || !products
    try export.write(snapshot) { Console.print($0) }
  }
}

extension Failure {
  static func noCommit(_ sequence: UInt64) -> Failure {
    Failure(.no, "commit \(sequence) is not kept; 'catalogctl log' lists those that are")
  }
}
