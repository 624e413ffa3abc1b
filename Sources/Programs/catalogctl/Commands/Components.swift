import ArgumentParser
import Catalog
import JSONFormat

struct Components: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "components",
    abstract: "List what a set consists of.",
    discussion: "Exit code 1 if there is neither such a product nor such a set.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The set's product id.") var id: String

  func run() throws {
    let snapshot = try store.snapshot()
    let components = try snapshot.components(of: id)
    if components.isEmpty, try !snapshot.containsProduct(id: id) {
      throw Failure(.no, "no product has id \(id)")
    }
    if output.json {
      components.json(ofSet: id).print()
      return
    }
    if components.isEmpty { Console.say("\(id) is a product, but no set") }
    var table = Table(">PIECES", "COMPONENT", "BARCODE", "NAME")
    for component in components {
      let product = component.product
      table.add(
        String(component.relation.groupNum), Table.cell(component.relation.subProductId, limit: 28),
        Table.cell(product?.barcode ?? "", limit: 24),
        try product.map { Table.cell($0.name, limit: 60) } ?? missing(component.relation.subProductId, snapshot))
    }
    table.print()
  }

  /// Why a component is missing.
  private func missing(_ id: String, _ snapshot: CatalogSnapshot) throws -> String {
    Console.styled(
      try snapshot.containsProduct(id: id) ? "missing: marked as deleted" : "missing from the catalogue", .red)
  }
}
