import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct DocumentIndexes: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index", abstract: "List, add and drop the indexes of collections.",
    discussion: """
      An index on a field finds documents by an equal value, by one of several values or by null, and counts the \
      groups of that field. An ordered index also finds them by a range of values or the beginning of a text, and in \
      the order of the field; one of several fields does so among the documents with equal values of the first ones. A \
      program that opens a collection with its own list of indexes replaces what was declared here.
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
    var table = Table("COLLECTION", "PATH", "KIND", "PREFIXES")
    for name in try collection.map({ [$0] }) ?? store.snapshot().collectionNames {
      for index in try store.untypedCollection(name).indexes() {
        if output.json {
          JSONText.object([
            ("collection", .text(name)), ("path", .text(IndexArgument.text(index))),
            ("prefixes", .bool(index.hasPrefixes)), ("ordered", .bool(index.isOrdered)),
          ]).print()
        } else {
          table.add(
            Table.cell(name), Table.cell(IndexArgument.text(index)), index.isOrdered ? "ordered" : "equality",
            index.hasPrefixes ? "yes" : "no")
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
      catalogctl documents index add members user.status.lastSeen --ordered

      catalogctl documents index add members user.city,user.status.lastSeen --ordered

      A field has one index of each kind at most. One that is there already stays; with --prefixes, an index that does \
      not know the beginnings of texts is replaced by one that does. To take the beginnings away again, drop the index \
      and add it. An ordered index knows them. It is used for an order, and one of several fields at all, while each \
      document has exactly one value in its fields, which is no array and no object.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The collection.") var collection: String
  @Argument(help: IndexArgument.help) var path: String
  @Flag(help: "Index the beginnings of texts too, so that hasprefix 'A' and like 'A%' use the index.")
  var prefixes = false
  @Flag(help: "Add an index for ranges of values and for the order of the field, or of several fields.")
  var ordered = false

  func validate() throws {
    if ordered, prefixes { throw ValidationError("an ordered index needs no --prefixes") }
  }

  func run() throws {
    let fields = try IndexArgument.paths(path)
    if fields.count > 1, !ordered {
      throw Failure(
        .usage, "an index of several fields is an ordered one: add --ordered; a comma inside a name is written \\,")
    }
    let known = try documents.existing()?.untypedCollection(collection).indexes() ?? []
    let isSame = { (index: IndexDescription) in index.paths == fields && index.isOrdered == ordered }
    let present = known.first(where: isSame)
    // One index of each kind a field: one with prefixes does all that one without does.
    let wanted =
      ordered
      ? IndexDescription(ordered: fields)
      : IndexDescription(fields[0], hasPrefixes: prefixes || present?.hasPrefixes == true)
    let isNew = present != wanted
    let name = IndexArgument.text(wanted)
    if isNew {
      try documents.writable(write).untypedCollection(collection).declare(known.filter { !isSame($0) } + [wanted])
      DurableChange.report("the index on \(name) of \(collection) is complete")
    }
    if output.json {
      JSONText.object([("collection", .text(collection)), ("path", .text(name)), ("added", .bool(isNew))]).print()
    } else {
      let use = wanted.hasPrefixes ? ", which hasprefix and like 'A%' use too" : ""
      let words = "\(Table.cell(collection)) has an \(ordered ? "ordered " : "")index on \(Table.cell(name))"
      Console.print(words + (isNew ? use : " already" + use))
    }
  }
}

struct DropIndex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drop", abstract: "Drop the indexes on a field, or on several.",
    discussion: """
      Drops the indexes on exactly these fields. Their room in the file is freed as documents are written again. Exit \
      code 1 if there is no such index.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Argument(help: "The collection.") var collection: String
  @Argument(help: IndexArgument.help) var path: String
  @Flag(help: "Drop the ordered index only.") var ordered = false

  func run() throws {
    let fields = try IndexArgument.paths(path)
    let known = try documents.existing()?.untypedCollection(collection).indexes() ?? []
    let kept = known.filter { $0.paths != fields || ordered && !$0.isOrdered }
    let isThere = kept.count < known.count
    let name = IndexArgument.text(fields)
    if isThere {
      try documents.writable(write).untypedCollection(collection).declare(kept)
      DurableChange.report("the index on \(name) of \(collection) is dropped")
    }
    if output.json {
      JSONText.object([("collection", .text(collection)), ("path", .text(name)), ("dropped", .bool(isThere))]).print()
    }
    if !isThere {
      throw Failure(.no, output.json ? "" : "\(collection) has no \(ordered ? "ordered " : "")index on \(name)")
    }
  }
}

/// The fields of an index on the command line.
enum IndexArgument {
  static let help = ArgumentHelp(
    "The field, with dots between the names that lead to it; several fields of an ordered index with commas.",
    valueName: "field")

  static func path(_ text: String) throws -> FieldPath {
    do { return try FieldPath(parsing: text) } catch { throw Failure(.usage, "\(error)") }
  }

  /// The fields that commas separate. A backslash takes the next character as it is.
  static func paths(_ text: String) throws -> [FieldPath] {
    var parts = [""]
    var isEscaped = false
    for scalar in text.unicodeScalars {
      if scalar == ",", !isEscaped {
        parts.append("")
        continue
      }
      parts[parts.count - 1].unicodeScalars.append(scalar)
      isEscaped = scalar == "\\" && !isEscaped
    }
    return try parts.map(path)
  }

  /// The fields as ``paths(_:)`` reads them.
  static func text(_ paths: [FieldPath]) -> String {
    paths.map { $0.description.split(separator: ",", omittingEmptySubsequences: false).joined(separator: "\\,") }
      .joined(separator: ",")
  }

  static func text(_ index: IndexDescription) -> String { text(index.paths) }
}
