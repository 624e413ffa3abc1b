import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct ListDocuments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the collections, or the documents of one.",
    discussion: "Documents come in the order in which they stand in the file; 'query --order' gives them another one.")

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var window: WindowOptions
  @Argument(help: "The collection whose documents to list.") var collection: String?

  func run() throws {
    guard let store = try documents.existing() else { return }
    guard let collection else { return try listCollections(store) }
    var list = DocumentList(output)
    try store.untypedCollection(collection).query(offset: window.offset, limit: window.limit) { list.add($0, $1) }
    list.end()
  }

  private func listCollections(_ store: DocumentStore) throws {
    var table = Table("COLLECTION", ">DOCUMENTS", "INDEXES")
    for name in try store.snapshot().collectionNames.dropFirst(window.offset).prefix(window.limit ?? .max) {
      let collection = try store.untypedCollection(name)
      let (count, indexes) = (try collection.count(), try collection.indexes())
      if output.json {
        let list = indexes.map { index in
          JSONText.object([
            ("path", .text(IndexArgument.text(index))), ("prefixes", .bool(index.hasPrefixes)),
            ("ordered", .bool(index.isOrdered)),
          ])
        }
        JSONText.object([("name", .text(name)), ("documents", .int(count)), ("indexes", .array(list))]).print()
      } else {
        let paths = indexes.map {
          IndexArgument.text($0) + ($0.hasPrefixes ? " (prefixes)" : $0.isOrdered ? " (ordered)" : "")
        }
        table.add(
          Table.cell(name), Quantity.count(count),
          Table.cell(paths.joined(separator: ", "), limit: max(20, Console.columns - 64)))
      }
    }
    table.print()
  }
}
