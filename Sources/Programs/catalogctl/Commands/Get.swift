import ArgumentParser
import Catalog
import JSONFormat
import LogStore

struct Get: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", _superCommandName: "catalogctl",
    abstract: "Print a product by id, or by its exact barcode or another code of it.",
    discussion: """
      Nothing is interpreted; 'scan' does that. A product that the server sent as deleted is printed too, and marked; \
      'scan' does not find it. --barcode also finds a product by a code in the table of codes, if it is no product's \
      barcode. The product's codes come after its fields; with --json "codes":[…], if the catalogue has any codes. Exit \
      code 1 if no product is found.
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
        try products(barcode: barcode ?? "", snapshot)
      }
    for (index, product) in products.enumerated() {
      let codes = try snapshot.codes(ofProduct: product.id)
      if output.json {
        JSONText.product(product, codes: snapshot.hasCodeTable ? codes : nil).print()
      } else {
        if index > 0 { Console.print("") }
        printFields(of: product)
        if codes.isEmpty { continue }
        Console.print("")
        codes.print()
      }
    }
    if products.isEmpty { throw Failure(.no, "no product has \(id.map { "id \($0)" } ?? "barcode \(barcode ?? "")")") }
  }

  /// The products with a barcode, or else one with this further code.
  private func products(barcode: String, _ snapshot: CatalogSnapshot) throws -> [Product] {
    let own = try snapshot.products(barcode: barcode)
    if !own.isEmpty { return own }
    let code = Array(barcode.utf8)
    let found = try snapshot.withProduct(code: code.span) { (view, _) throws(StoreError) in try snapshot.copy(view) }
    return found.map { [$0] } ?? []
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
