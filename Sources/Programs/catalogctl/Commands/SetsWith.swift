import ArgumentParser
import Catalog
import JSONFormat

struct SetsWith: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sets-with",
    abstract: "List the sets that a product is a component of.",
    discussion: "Exit code 1 if no set contains it.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The component's product id.") var id: String

  func run() throws {
    let snapshot = try store.snapshot()
    let sets = try snapshot.sets(with: id)
    if output.json {
      JSONText.object([("subProductId", .text(id)), ("sets", .array(sets.map(JSONText.text)))]).print()
    } else {
      FoundProducts.print(
        try sets.map { set in
          var unknown = Product()
          unknown.id = set
          unknown.name = "(not in the catalogue)"
          return try snapshot.product(id: set) ?? unknown
        })
    }
    if sets.isEmpty { throw Failure(.no, output.json ? "" : "\(id) is a component of no set") }
  }
}
