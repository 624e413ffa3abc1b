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

      --columns writes only some fields of the products, and no relations. --excel is for spreadsheets, which take 007 for a \
      number and =1+1 for a formula: texts that they would change are written as ="007". 'import' does not read that back.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: "The state at an earlier commit.") var at: UInt64?
  @Option(help: "ndjson, csv or tsv, whatever the file is called.") var format: RowFileFormat?
  @Option(help: ArgumentHelp("Only these fields of the products, in this order.", valueName: "names")) var columns:
    String?
  @Flag(help: "Write CSV or TSV so that a spreadsheet keeps every text as it is.") var excel = false
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
    if excel, rowFormat.delimiter == nil {
      throw ValidationError("--excel is for tables; name the file .csv or .tsv, or give --format")
    }
  }

  private var rowFormat: RowFileFormat { format ?? RowFileFormat(writtenTo: file) ?? .ndjson }

  func run() throws {
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    var writer = RowFileWriter(rowFormat)
    writer.columns = try columns.map { text in
      try ExpressionArgument.parsed("--columns", text) { try ProductColumns(parsing: text).fields }
    }
    writer.isForExcel = excel
    var export = RowExport(writer)
    export.includesRelations = columns == nil
    let relationCount = columns == nil ? snapshot.relationCount : 0
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
        ("file", .text(file)), ("products", .int(snapshot.productCount)), ("relations", .int(relationCount)),
        ("sequence", .uint(snapshot.sequence)), ("bytes", .int(target.byteCount)),
      ]).print()
    } else {
      Console.say(
        "\(file): \(Quantity.of(snapshot.productCount, "product")),"
          + " \(Quantity.of(relationCount, "relation")), commit \(snapshot.sequence)")
    }
  }
}

extension RowFileFormat: ExpressibleByArgument {
  /// Creates the format that an argument names.
  public init?(argument: String) { self.init(named: argument) }
}
