import ArgumentParser
import Catalog
import JSONFormat

struct Get: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", _superCommandName: "catalogctl",
    abstract: "Print a product by id or by its exact barcode.",
    discussion: """
      Nothing is interpreted; 'scan' does that. A product that the server sent as deleted is printed too, and marked; \
      'scan' does not find it. Exit code 1 if no product is found.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: "The product's id.") var id: String?
  @Option(help: ArgumentHelp("The product's barcode.", valueName: "code")) var barcode: String?

  func validate() throws {
    guard (id == nil) != (barcode == nil) else {
      throw ValidationError("give --id ID or --barcode CODE, one of them")
    }
  }

  func run() throws {
    let snapshot = try store.snapshot()
    let products: [Product] =
      if let id {
        try snapshot.product(id: id).map { [$0] } ?? []
      } else {
        try snapshot.products(barcode: barcode ?? "")
      }
    for (index, product) in products.enumerated() {
      if output.json {
        JSONText.product(product).print()
      } else {
        if index > 0 { Console.print("") }
        printFields(of: product)
      }
    }
    if products.isEmpty { throw Failure(.no, "no product has \(id.map { "id \($0)" } ?? "barcode \(barcode ?? "")")") }
  }

  private func printFields(of product: Product) {
    var table = Table("FIELD", "VALUE")
    for field in product.fields where field.name != "extra" || !field.value.isEmpty {
      let isMark = field.name == "delFlag" && product.delFlag != 0
      table.add(
        field.name, Table.cell(field.value, limit: 100) + (isMark ? "  deleted: no scan finds this product" : ""))
    }
    table.print()
  }
}
