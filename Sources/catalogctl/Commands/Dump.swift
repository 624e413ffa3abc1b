import ArgumentParser
import Catalog
import CatalogRows
import CatalogWire
import LogStore

struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print every row as NDJSON, in an order that depends on the content alone.",
    discussion: "Products by id, then relations by set, component and id. With neither flag, both.")

  @OptionGroup var store: StoreOptions
  @Flag(help: "Products.") var products = false
  @Flag(help: "Relations.") var relations = false
  @Option(help: ArgumentHelp("The state at an earlier commit.", valueName: "sequence")) var at: UInt64?

  func run() throws {
    var snapshot = try store.snapshot()
    if let at { snapshot = try snapshot.commit(at) }
    var output = OutputBuffer()
    if products || !relations { try dumpProducts(snapshot, &output) }
    if relations || !products { try dumpRelations(snapshot, &output) }
    output.flush()
  }

  private func dumpProducts(_ snapshot: CatalogSnapshot, _ output: inout OutputBuffer) throws {
    var row = ProductRow()
    for offset in try snapshot.productOffsetsById() {
      let product = try snapshot.withProduct(at: offset) { (view) throws(StoreError) in try Product(view) }
      product?.fill(&row)
      output.line { RowJSON.appendDump(row, to: &$0) }
    }
  }

  private func dumpRelations(_ snapshot: CatalogSnapshot, _ output: inout OutputBuffer) throws {
    var relations: [Relation] = []
    try snapshot.forEachRelation { relations.append($0) }
    relations.sort(by: Relation.precedes)
    var row = RelationRow()
    for relation in relations {
      relation.fill(&row)
      output.line { RowJSON.appendDump(row, to: &$0) }
    }
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
