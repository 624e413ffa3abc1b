import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct UpdateDocuments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update", abstract: "Assign values to fields of the documents that meet a condition.",
    discussion: """
      catalogctl documents update members --where "user.age >= 65" --set "user.isSenior = true, user.group = 'B'"

      Fields and values are written as in conditions ('documents query --help'). A missing object on the way to a \
      field is created; an array on the way stands for each of its elements. All documents are changed in one commit, \
      or none. With --dry-run nothing is written. The number is that of the documents that differ afterwards; exit \
      code 1 if it is 0.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Option(name: .customLong("where"), help: ArgumentHelp("The condition.", valueName: "expr")) var filter: String?
  @Flag(help: "Change all documents of the collection.") var all = false
  @Option(name: .customLong("set"), help: ArgumentHelp("The new values: field = value, …", valueName: "fields"))
  var assignments: String
  @Flag(help: "Say how many documents would change, and change none.") var dryRun = false
  @Argument(help: "The collection.") var collection: String

  func validate() throws {
    if (filter == nil) != all { throw ValidationError("give --where or --all, one of them") }
  }

  func run() throws {
    let condition = try filter.map(ExpressionArgument.condition) ?? .always
    let edit = try ExpressionArgument.parsed("--set", assignments) {
      try DocumentEdit(parsing: assignments, createsObjects: true)
    }
    // A dry run first, so that nothing is created or locked if no document changes.
    var count =
      try documents.existing()?.untypedCollection(collection).update(edit, where: condition, isDryRun: true) ?? 0
    if count > 0, !dryRun {
      count = try documents.writable(write).untypedCollection(collection).update(edit, where: condition)
      DurableChange.report("\(Quantity.of(count, "document")) changed, durably")
    }
    if output.json {
      JSONText.object([("updated", .int(count))] + (dryRun ? [("dryRun", .bool(true))] : [])).print()
    } else {
      Console.print("\(Quantity.of(count, "document")) \(dryRun ? "would change" : "changed")")
    }
    if count == 0 { throw Failure(.no, output.json ? "" : "no document of \(collection) would differ") }
  }
}
