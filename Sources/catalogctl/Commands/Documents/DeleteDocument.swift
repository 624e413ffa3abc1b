import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct DeleteDocument: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a document.", discussion: "Exit code 1 if there is none.")

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The collection.") var collection: String
  @OptionGroup var id: DocumentID

  func run() throws {
    // Create nothing if there is nothing to delete.
    if try isThere() {
      let collection = try documents.writable(write).untypedCollection(collection)
      for candidate in id.candidates where try collection.delete(candidate) {
        DurableChange.note("the document was deleted")
        if output.json { JSONText.object([("deleted", .int(1))]).print() }
        return
      }
    }
    if output.json { JSONText.object([("deleted", .int(0))]).print() }
    throw Failure(.no, output.json ? "" : "\(collection) has no document \(id.id)")
  }

  private func isThere() throws -> Bool {
    guard let collection = try documents.existing()?.untypedCollection(collection) else { return false }
    return try id.candidates.contains { try collection.get($0) != nil }
  }
}
