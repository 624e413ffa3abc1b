import ArgumentParser
import Catalog
import CatalogFiles
import CatalogSync

struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Print every row as NDJSON, in an order that depends on the content alone.",
    discussion:
      "Products by id, then relations by set, component and id, then codes by product, code and id. Without a flag, all. "
      + "--json changes nothing.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Flag(help: "Products.") var products = false
  @Flag(help: "Relations.") var relations = false
  @Flag(help: "Rows of the table of codes.") var codes = false
  @Option(help: ArgumentHelp("The state at an earlier commit.", valueName: "sequence")) var at: UInt64?

  func run() throws {
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    var export = RowExport(.ndjson)
    let isAll = !products && !relations && !codes
    export.includesProducts = products || isAll
    export.includesRelations = relations || isAll
    export.includesCodes = codes || isAll
    try export.write(snapshot) { Console.print($0) }
  }
}

extension Failure {
  static func noCommit(_ sequence: UInt64) -> Failure {
    Failure(.no, "commit \(sequence) is not kept; 'catalogctl log' lists those that are")
  }
}
