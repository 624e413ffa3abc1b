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
      // Byte for byte: to a String's == two normal forms of Unicode are the same.
      let isCurrent = current.map { $0.utf8.elementsEqual(id.utf8) } ?? false
      let snapshot = try location.flatMap { try CatalogReader.open($0)?.snapshot() } ?? .empty
      if output.json {
        JSONText.object([
          ("id", .text(id)), ("current", .bool(isCurrent)), ("bytes", .int(bytes)),
          ("products", .int(snapshot.productCount)), ("cursor", .text(snapshot.cursor)),
        ]).print()
      }
      table.add(
        Table.cell(id), isCurrent ? "yes" : "", Quantity.count(snapshot.productCount),
        Quantity.bytes(bytes), snapshot.cursor)
    }
    if !output.json { table.print() }
  }
}
