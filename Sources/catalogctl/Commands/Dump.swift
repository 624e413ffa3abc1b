import ArgumentParser
import Catalog
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
    var snapshot = try store.snapshot()
    if let at { snapshot = try snapshot.commit(at) }
    var export = RowExport(.ndjson)
    export.includesProducts = products || !relations
    export.includesRelations = relations || !products
    try export.write(snapshot) { Console.print($0) }
  }
}

extension CatalogSnapshot {
  /// The catalogue at commit `sequence`.
  ///
  /// - Throws: `Failure` with exit code 1 where this generation does not hold it.
  func commit(_ sequence: UInt64) throws -> CatalogSnapshot {
    guard let commit = try at(sequence) else { throw Failure.noCommit(sequence) }
    return commit
  }
}

extension Failure {
  static func noCommit(_ sequence: UInt64) -> Failure {
    Failure(.no, "commit \(sequence) is not in this generation; 'catalogctl log' lists those that are")
  }
}
