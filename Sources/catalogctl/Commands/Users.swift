import ArgumentParser
import Catalog

struct Users: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List the users that have stores here.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let workspace = store.workspace
    let current = try workspace.currentUser()
    var table = Table("USER", "SIGNED IN", ">PRODUCTS", ">SIZE", "CURSOR")
    for id in try workspace.users() {
      let bytes = try workspace.byteCount(of: id)
      let location = try workspace.catalogue(of: id)
      let snapshot = try location.flatMap { try CatalogReader.open($0)?.snapshot() } ?? .empty
      if output.json {
        JSONText.object([
          ("id", .text(id)), ("current", .bool(id == current)), ("bytes", .int(bytes)),
          ("products", .int(snapshot.productCount)), ("cursor", .text(snapshot.cursor)),
        ]).print()
      }
      table.add(
        Table.cell(id), id == current ? "yes" : "", Quantity.count(snapshot.productCount),
        Quantity.bytes(bytes), snapshot.cursor)
    }
    if !output.json { table.print() }
  }
}
