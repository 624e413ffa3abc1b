import ArgumentParser
import Catalog
import JSONFormat

struct Complete: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete",
    abstract: "Tell which sets a series of scans makes whole, and what open sets lack.",
    discussion: "Without codes, reads them from standard input, one a line.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "Codes as the reader sends them.") var codes: [String] = []

  func run() throws {
    var codes = codes
    if codes.isEmpty { try InputFile("-").forEachLine { codes.append($0) } }
    let options = try store.matchingOptions()
    let snapshot = try store.snapshot()
    let result = try snapshot.complete(codes, options: options)
    if output.json { result.json.print() } else { try show(result, snapshot) }
  }

  private func show(_ result: SetCompletion, _ snapshot: CatalogSnapshot) throws {
    func name(_ id: ProductID) throws -> String {
      Table.cell(try snapshot.product(id: id.text)?.name ?? "", limit: 56)
    }
    for (set, count) in result.complete.sorted(by: { $0.key < $1.key }) {
      Console.print("\(Console.styled("complete", .green))    \(count) × \(set.text.shown)  \(try name(set))")
    }
    // The most complete sets first, because a person can act on those.
    let open = result.incomplete.sorted { a, b in
      let missing = (a.value.values.reduce(0, +), b.value.values.reduce(0, +))
      return missing.0 != missing.1 ? missing.0 < missing.1 : a.key < b.key
    }
    for (set, missing) in open {
      Console.print("\(Console.styled("incomplete", .yellow))  \(set.text.shown)  \(try name(set))")
      for (component, count) in missing.sorted(by: { $0.key < $1.key }) {
        Console.print("            lacks \(count) × \(component.text.shown)  \(try name(component))")
      }
    }
    for (set, faults) in result.faults.sorted(by: { $0.key < $1.key }) {
      for fault in faults {
        Console.print("\(Console.styled("fault", .red))       \(set.text.shown) \(fault.shown)")
      }
    }
    for code in result.unknown { Console.print("\(Console.styled("unknown", .red))     \(Table.cell(code))") }
    for code in result.repeated { Console.print("repeated    \(Table.cell(code))  counted once") }
  }
}
