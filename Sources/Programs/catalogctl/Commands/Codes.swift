import ArgumentParser
import Catalog
import JSONFormat

struct Codes: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "codes",
    abstract: "List the further codes of a product: those of its inner packs and cases, and former ones.",
    discussion: """
      They are the rows of the table of codes, sorted by code. A scan of one finds the product, as a scan of its own \
      barcode does, which 'get' prints. Exit code 1 if there is neither such a product nor a code of it.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The product's id.") var id: String

  func run() throws {
    let snapshot = try store.snapshot()
    let codes = try snapshot.codes(ofProduct: id)
    let product = try snapshot.product(id: id)
    if codes.isEmpty, product == nil { throw Failure(.no, "no product has id \(id)") }
    if output.json {
      JSONText.codes(codes, ofProduct: id).print()
      return
    }
    if codes.isEmpty {
      let fields = snapshot.fields.names.filter { snapshot.fields[$0]?.isCode == true }.joined(separator: ", ")
      let others = fields.isEmpty ? "" : " in the table of codes; 'get' shows those of the field \(fields)"
      Console.say("\(id) is a product, but has no code besides its barcode\(others)")
    }
    codes.print()
    if codes.isEmpty || product?.delFlag == 0 { return }
    Console.say(
      product == nil
        ? "the catalogue lacks product \(id): no scan finds these codes"
        : "product \(id) is marked as deleted: no scan finds these codes")
  }
}
