import ArgumentParser
import Catalog
import JSONFormat

struct Get: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a product by id, or by its barcode or another code of it.",
    discussion: """
      A product that the server sent as deleted is printed too, and marked; 'scan' does not find it. If no product has \
      exactly this barcode, --barcode finds what a scan of it finds before it looks for parts: a code of the table of \
      codes or of a declared field (see 'fields'), the same code in other capitals, and a GTIN with another number of \
      digits. Nothing else is interpreted; 'scan' does that. The product's codes of the table come after its fields; \
      with --json "codes":[…], if the catalogue has any. Exit code 1 if no product is found.
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

  /// The products with a barcode, or else those that a scan of it finds.
  private func products(barcode: String, _ snapshot: CatalogSnapshot) throws -> [Product] {
    let own = try snapshot.products(barcode: barcode)
    return own.isEmpty ? try snapshot.products(scannedAs: barcode) : own
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
