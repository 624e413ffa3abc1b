import ArgumentParser
import Catalog
import JSONFormat

struct Diff: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print the products, relations and codes in which two commits differ.",
    discussion: """
      From commit A to commit B, in either direction, also across the last full update while the generation before it \
      is kept. For people field by field; with --json a line for each row: \
      {"change":"added"|"removed"|"changed","type":"product"|"relation"|"code","id":…,"before":{…}|null,"after":{…}|null}. \
      Exit code 0 whether or not they differ, 1 if one of them is not kept.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: ArgumentHelp("The commit to compare from.", valueName: "a")) var from: UInt64
  @Argument(help: ArgumentHelp("The commit to compare with it.", valueName: "b")) var to: UInt64

  func run() throws {
    let changes = try store.commit(to).changes(since: store.commit(from))
    for change in changes.products {
      guard let row = change.after ?? change.before else { continue }
      if output.json {
        printJSON(
          change.name, "product", row.id, change.before.map(JSONText.product), change.after.map(JSONText.product))
      } else {
        printFields(of: change, "product \(row.id)  \(row.name)")
      }
    }
    for change in changes.relations {
      guard let row = change.after ?? change.before else { continue }
      if output.json {
        printJSON(
          change.name, "relation", row.id, change.before.map(JSONText.relation), change.after.map(JSONText.relation))
      } else {
        printFields(of: change, "relation \(row.productId) → \(row.subProductId)  \(row.id)")
      }
    }
    for change in changes.codes {
      guard let row = change.after ?? change.before else { continue }
      if output.json {
        printJSON(change.name, "code", row.id, change.before.map(JSONText.code), change.after.map(JSONText.code))
      } else {
        printFields(of: change, "code of product \(row.productId)  \(row.words)")
      }
    }
    if !output.json { Console.say(summary(changes)) }
  }

  private func printJSON(_ change: String, _ type: String, _ id: String, _ before: JSONText?, _ after: JSONText?) {
    JSONText.object([
      ("change", .text(change)), ("type", .text(type)), ("id", .text(id)), ("before", before ?? .null),
      ("after", after ?? .null),
    ]).print()
  }

  /// Prints the heading of a row, and then each changed field.
  private func printFields<Row: FieldRow>(of change: CatalogChange<Row>, _ heading: String) {
    let (sign, style): (String, Console.Style) =
      switch change.name {
      case "added": ("+", .green)
      case "removed": ("-", .red)
      default: ("~", .yellow)
      }
    Console.print(Console.styled("\(sign) \(Table.cell(heading, limit: 100))", style))
    guard let before = change.before, let after = change.after else { return }
    for (old, new) in zip(before.fields, after.fields) {
      // Compare bytes, not characters: another Unicode spelling of an accented letter is a change.
      if old.value.utf8.elementsEqual(new.value.utf8) { continue }
      Console.print("    \(old.name): \(shown(old.value)) → \(shown(new.value))")
    }
  }

  private func shown(_ value: String) -> String { value.isEmpty ? "\"\"" : Table.cell(value, limit: 60) }

  private func summary(_ changes: CatalogChanges) -> String {
    if changes.isEmpty { return "no difference" }
    func count<Row>(_ list: [CatalogChange<Row>]) -> String {
      let kinds = ["added", "removed", "changed"].map { kind in "\(list.count { $0.name == kind }) \(kind)" }
      return kinds.joined(separator: ", ")
    }
    let codes = changes.codes.isEmpty ? "" : "; codes: \(count(changes.codes))"
    return "products: \(count(changes.products)); relations: \(count(changes.relations))\(codes)"
  }
}
