import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct DeleteDocument: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a document, those that meet a condition, or all.",
    discussion: """
      catalogctl documents delete members ana
      catalogctl documents delete members --where "user.status.isOnline == false" --dry-run
      catalogctl documents delete members --all

      One commit. With --dry-run nothing is deleted, and the number is that of the documents that would be. Exit code \
      1 if there is no such document.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The collection.") var collection: String
  @Argument(help: "The document's id.") var id: String?
  @Flag(name: .customLong("json-id"), help: "The id is JSON: 5 is a number, \"5\" a text.") var isJSON = false
  @Option(
    name: .customLong("where"), help: ArgumentHelp("Delete the documents that meet this condition.", valueName: "expr"))
  var filter: String?
  @Flag(help: "Delete all documents of the collection.") var all = false
  @Flag(help: "Say how many documents would be deleted, and delete none.") var dryRun = false

  func validate() throws {
    guard [id != nil, filter != nil, all].count(where: { $0 }) == 1 else {
      throw ValidationError("give an id, --where or --all, one of them")
    }
    if isJSON, id == nil { throw ValidationError("--json-id goes with an id") }
    if isJSON, let id, DocumentID.candidates(id, isJSON: true).isEmpty {
      throw ValidationError("--json-id: the id is no JSON text or number")
    }
  }

  func run() throws {
    let condition = try filter.map(ExpressionArgument.condition)
    let count = try condition.map(delete) ?? (all ? deleteAll() : id.map(delete) ?? 0)
    if count > 0, !dryRun { DurableChange.report("\(Quantity.of(count, "document")) deleted, durably") }
    if output.json {
      JSONText.object([("deleted", .int(count))] + (dryRun ? [("dryRun", .bool(true))] : [])).print()
    } else if id == nil || dryRun {
      Console.print("\(Quantity.of(count, "document")) \(dryRun ? "would be deleted" : "deleted")")
    }
    if count > 0 { return }
    let what = id.map { "document \($0)" } ?? (all ? "documents" : "document that meets the condition")
    throw Failure(.no, output.json ? "" : "\(collection) has no \(what)")
  }

  /// The store to change; `nil` if the collection has no document. Creates nothing.
  private func changeable(_ count: (UntypedCollection) throws -> Int) throws -> UntypedCollection? {
    guard let existing = try documents.existing()?.untypedCollection(collection), try count(existing) > 0 else {
      return nil
    }
    return try documents.writable(write).untypedCollection(collection)
  }

  private func delete(id: String) throws -> Int {
    let candidates = DocumentID.candidates(id, isJSON: isJSON)
    let found = try changeable { existing in try candidates.contains { try existing.get($0) != nil } ? 1 : 0 }
    guard let found else { return 0 }
    if dryRun { return 1 }
    for candidate in candidates where try found.delete(candidate) { return 1 }
    return 0
  }

  private func delete(where condition: Condition) throws -> Int {
    guard let existing = try documents.existing()?.untypedCollection(collection) else { return 0 }
    if dryRun { return try existing.delete(where: condition, isDryRun: true) }
    return try changeable { try $0.count() }?.delete(where: condition) ?? 0
  }

  private func deleteAll() throws -> Int {
    if dryRun { return try documents.existing()?.untypedCollection(collection).count() ?? 0 }
    return try changeable { try $0.count() }?.deleteAll() ?? 0
  }
}
