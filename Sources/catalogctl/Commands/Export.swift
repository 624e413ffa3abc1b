import ArgumentParser
import Catalog
import CatalogSync
import CatalogWire
import JSONFormat

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the catalogue into a file, as NDJSON or CSV.",
    discussion: """
      The file's extension says how: .ndjson or .jsonl as 'dump' prints it, .csv as one table with the column 'type', the 25 \
      fields of a product, and the two ids of a relation; .gz after one of these packs it. Another extension is refused \
      without --format. 'import' takes each of them back. The file is one commit, whatever is written meanwhile, and appears \
      whole or not at all; - is standard output, and has no report.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: "The state at an earlier commit.") var at: UInt64?
  @Option(help: "ndjson, csv or tsv, whatever the file is called.") var format: RowFileFormat?
  @Argument(help: "The file to write; - is standard output.", completion: .file()) var file: String

  func validate() throws {
    if file == "-" {
      if output.json, let format, format != .ndjson {
        let name = format.rawValue.uppercased()
        throw ValidationError("standard output has either \(name) or, with --json, JSON; write the \(name) into a file")
      }
    } else if format == nil, RowFileFormat(writtenTo: file) == nil {
      throw ValidationError(
        "\(file): no rows can be written with this extension; name the file .ndjson, .jsonl, .csv or .tsv (.gz packs "
          + "it), or give --format")
    }
  }

  func run() throws {
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    let export = RowExport(format ?? RowFileFormat(writtenTo: file) ?? .ndjson)
    if file == "-" { return try export.write(snapshot) { Console.print($0) } }
    let target = try OutputFile(file, isCompressed: RowFileFormat.isCompressed(path: file))
    do {
      try export.write(snapshot, to: target.write)
      try target.publish()
    } catch {
      target.discard()
      throw error
    }
    DurableChange.note("\(file) is complete")
    if output.json {
      JSONText.object([
        ("file", .text(file)), ("products", .int(snapshot.productCount)), ("relations", .int(snapshot.relationCount)),
        ("sequence", .uint(snapshot.sequence)), ("bytes", .int(target.byteCount)),
      ]).print()
    } else {
      Console.say(
        "\(file): \(Quantity.of(snapshot.productCount, "product")),"
          + " \(Quantity.of(snapshot.relationCount, "relation")), commit \(snapshot.sequence)")
    }
  }
}

extension RowFileFormat: ExpressibleByArgument {
  /// A JSON array is read like NDJSON, which recognises it.
  public init?(argument: String) {
    if argument == "json" { self = .ndjson } else { self.init(rawValue: argument) }
  }
}
