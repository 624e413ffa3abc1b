import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct CountDocuments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count", abstract: "Print the number of documents of a collection.",
    discussion: """
      With --where, of those that meet the condition; 'documents query --help' explains conditions. A count is an \
      answer: 0 is printed too, with exit code 0.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @Option(
    name: .customLong("where"), help: ArgumentHelp("The condition; without it, all documents.", valueName: "expr"))
  var filter: String?
  @Argument(help: "The collection.") var collection: String

  func run() throws {
    let condition = try filter.map(ExpressionArgument.condition) ?? .always
    let count = try documents.existing()?.untypedCollection(collection).count(condition) ?? 0
    if output.json { JSONText.object([("count", .int(count))]).print() } else { Console.print("\(count)") }
  }
}
