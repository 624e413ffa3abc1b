import ArgumentParser
import DocumentFormat
import Documents
import LogStore

struct DocumentsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "documents", abstract: "Read, change and query the documents beside the catalogue.",
    discussion: """
      A document is a JSON object with a field id, a text or a number, in a collection. JSON has no dates and no \
      bytes: they are printed as texts, and what is put has none.

      An ID on the command line is a text; if no document has that id and it reads as a number, the number. With \
      --json-id it is JSON and nothing else: 5 is the number, "5" the text.
      """,
    subcommands: [
      ListDocuments.self, CountDocuments.self, GetDocument.self, PutDocuments.self, DeleteDocument.self,
      UpdateDocuments.self, QueryDocuments.self, DocumentIndexes.self, CompactDocuments.self,
    ])
}

/// The options that select the documents' user.
struct DocumentOptions: ParsableArguments {
  static let storeName = "documents"

  @OptionGroup var owner: OwnerOptions

  /// The store for reading; `nil` if the user has no documents. Creates nothing.
  func existing(tracing trace: Tracer? = nil) throws -> DocumentStore? {
    guard let location = try owner.store.workspace.store(Self.storeName, of: owner.userID()) else { return nil }
    var options = DocumentStore.Options()
    let log = try Tracer.ofEnvironment()
    options.trace = if let trace, let log { .both(trace, log) } else { trace ?? log }
    return try DocumentStore.inspect(location, options: options)
  }

  /// The store for writing. Creates missing directories.
  func writable(_ write: WriteOptions) throws -> DocumentStore {
    var options = DocumentStore.Options()
    options.lockTimeout = write.lockTimeout
    options.trace = try Tracer.ofEnvironment()
    let location = try owner.store.workspace.makeStore(Self.storeName, of: owner.userID())
    return try DocumentStore.inspect(location, options: options)
  }
}

/// An id on the command line.
struct DocumentID: ParsableArguments {
  @Argument(help: "The document's id.") var id: String
  @Flag(name: .customLong("json-id"), help: "The id is JSON: 5 is a number, \"5\" a text.") var isJSON = false

  func validate() throws {
    if isJSON, Self.scalar(id) == nil { throw ValidationError("--json-id: the id is no JSON text or number") }
  }

  /// The possible values of the id, in the order in which they are tried.
  var candidates: [DocumentValue] { Self.candidates(id, isJSON: isJSON) }

  static func candidates(_ id: String, isJSON: Bool) -> [DocumentValue] {
    let value = scalar(id)
    if isJSON { return value.map { [$0] } ?? [] }
    if let value, value.kind == .number { return [.text(id), value] }
    return [.text(id)]
  }

  /// The string or number that `json` represents.
  private static func scalar(_ json: String) -> DocumentValue? {
    guard let value = try? DocumentValue(json: json), value.kind == .text || value.kind == .number else { return nil }
    return value
  }
}

/// A list of documents, printed for people or for programs.
struct DocumentList {
  private let isJSON: Bool
  private var table = Table("ID", "DOCUMENT")
  private(set) var count = 0

  init(_ output: OutputOptions) { isJSON = output.json }

  mutating func add(_ id: DocumentValue, _ document: DocumentValue) {
    count += 1
    if isJSON {
      Console.print(document.json)
      return
    }
    let shown = if case .text(let text) = id { Table.cell(text, limit: 36) } else { Table.cell(id.json, limit: 36) }
    table.add(shown, Table.cell(document.json, limit: max(20, Console.columns - 38)))
  }

  func end() { if !isJSON { table.print() } }
}
