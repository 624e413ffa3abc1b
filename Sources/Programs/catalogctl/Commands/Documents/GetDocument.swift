import ArgumentParser
import DocumentFormat
import Documents

struct GetDocument: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get", abstract: "Print a document as JSON.", discussion: "Exit code 1 if no document has this id.")

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The collection.") var collection: String
  @OptionGroup var id: DocumentID

  func run() throws {
    if let collection = try documents.existing()?.untypedCollection(collection) {
      for candidate in id.candidates {
        guard let document = try collection.get(candidate) else { continue }
        // On a terminal, control characters are removed; programs get the document unchanged.
        Console.print(output.json || !Console.isTerminal ? document.json : document.json.shown)
        return
      }
    }
    throw Failure(.no, output.json ? "" : "\(collection) has no document \(id.id)")
  }
}
