import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct DocumentIndexes: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "List, add and drop the indexes of collections.",
    discussion: """
      An index on a field finds documents by an equal value, by one of several values or by null, and counts the groups of \
      that field. A program that opens a collection with its own list of indexes replaces what was declared here.
      """,
    subcommands: [ListIndexes.self, AddIndex.self, DropIndex.self])
}

struct ListIndexes: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the indexes of a collection, or of all.")

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @Argument(help: "The collection; without it, all of them.") var collection: String?

  func run() throws {
    guard let store = try documents.existing() else { return }
    var table = Table("COLLECTION", "PATH", "PREFIXES")
    for name in try collection.map({ [$0] }) ?? store.snapshot().collectionNames {
      for index in try store.untypedCollection(name).indexes() {
        if output.json {
          JSONText.object([
            ("collection", .text(name)), ("path", .text(index.path.description)),
            ("prefixes", .bool(index.hasPrefixes)),
          ]).print()
        } else {
          table.add(Table.cell(name), Table.cell(index.path.description), index.hasPrefixes ? "yes" : "no")
        }
      }
    }
    if !output.json { table.print() }
  }
}

struct AddIndex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add an index on a field, and fill it from the documents, in one commit.",
    discussion: """
      A field has one index at most. One that is there already stays; with --prefixes, an index that does not know the \
      beginnings of texts is replaced by one that does. To take the beginnings away again, drop the index and add it.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The collection.") var collection: String
  @Argument(help: ArgumentHelp("The field, with dots between the names that lead to it.", valueName: "field"))
  var path: String
  @Flag(help: "Index the beginnings of texts too, so that hasprefix 'A' and like 'A%' use the index.")
  var prefixes = false

  func run() throws {
    let field = try IndexArgument.path(path)
    let known = try documents.existing()?.untypedCollection(collection).indexes() ?? []
    let present = known.first { $0.path == field }
    // One index a field: one with prefixes does all that one without does.
    let wanted = IndexDescription(field, hasPrefixes: prefixes || present?.hasPrefixes == true)
    let isNew = present != wanted
    if isNew {
      try documents.writable(write).untypedCollection(collection).declare(known.filter { $0.path != field } + [wanted])
      DurableChange.note("the index on \(field) of \(collection) is complete")
    }
    if output.json {
      JSONText.object([("collection", .text(collection)), ("path", .text(field.description)), ("added", .bool(isNew))])
        .print()
    } else {
      let use = wanted.hasPrefixes ? ", which hasprefix and like 'A%' use too" : ""
      let words = "\(Table.cell(collection)) has an index on \(Table.cell(field.description))"
      Console.print(words + (isNew ? use : " already" + use))
    }
  }
}

struct DropIndex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop the index on a field.",
    discussion: "Its room in the file is freed as documents are written again. Exit code 1 if there is no such index.")

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The collection.") var collection: String
  @Argument(help: ArgumentHelp("The field, with dots between the names that lead to it.", valueName: "field"))
  var path: String

  func run() throws {
    let field = try IndexArgument.path(path)
    let known = try documents.existing()?.untypedCollection(collection).indexes() ?? []
    let kept = known.filter { $0.path != field }
    let isThere = kept.count < known.count
    if isThere {
      try documents.writable(write).untypedCollection(collection).declare(kept)
      DurableChange.note("the index on \(field) of \(collection) is dropped")
    }
    if output.json {
      JSONText.object([
        ("collection", .text(collection)), ("path", .text(field.description)), ("dropped", .bool(isThere)),
      ])
      .print()
    }
    if !isThere { throw Failure(.no, output.json ? "" : "\(collection) has no index on \(field)") }
  }
}

/// The field of an index on the command line.
enum IndexArgument {
  static func path(_ text: String) throws -> FieldPath {
    do { return try FieldPath(parsing: text) } catch { throw Failure(.usage, "\(error)") }
  }
}
