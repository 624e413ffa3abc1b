import ArgumentParser
import Catalog
import CatalogRows
import CatalogFiles
import CatalogSources
import CatalogSync
import JSONFormat
import RowFiles
import RowSources

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the catalogue into a file, as NDJSON or CSV.",
    discussion: """
      The file's extension says how: .ndjson or .jsonl as 'dump' prints it, .csv as one table with the column 'type', \
      the 25 fields of a product, and the two ids of a relation, and, if there are \
      codes, the three fields that only a code has; .gz after one of these packs it. Another extension is \
      refused without --format. 'import' takes each of them back. The file is one commit, whatever is written \
      meanwhile, and appears whole or not at all; - is standard output, and has no report.

      --columns writes only some fields of the products, and no rows of relations or codes. A field of one's own is \
      extra.NAME, and the further codes are codes and codeCount, as for 'products': 'import' does not take such a \
      column back, but those of a file without --columns. --excel is for spreadsheets, which take 007 for a number and \
      =1+1 for a formula: texts that they would change are written as ="007", which 'import' reads back.

      --map and --column write a table for the program that the mapping reads: with its names of columns, its decimal \
      commas, dates and words for true, its separator and its encoding. 'import' with the same mapping reads it back. \
      A field that the mapping joins, or captures from a text, cannot be written: leave it out with --columns. Other \
      fields have a column of their own name if a product has a value, and so have the fields that --unknown keep \
      stored. There are no relations and no codes.

      --codes FILE writes the codes into a file of their own, by its extension too: a table with productId, code, \
      quantity, unit, kind and id, or NDJSON. 'import --codes' reads it back, next to the products in whatever form.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions
  @Option(help: "The state at an earlier commit.") var at: UInt64?
  @Option(
    help: ArgumentHelp("How to write it, whatever the file is called.", valueName: "ndjson|csv|tsv"),
    transform: RowFileFormat.written) var format: RowFileFormat?
  @Option(help: ArgumentHelp("Only these fields of the products, in this order.", valueName: "names")) var columns:
    String?
  @OptionGroup var mapping: MappingOptions
  @Option(
    help: ArgumentHelp("Write the codes into this file instead, as 'import --codes' reads it.", valueName: "file"),
    completion: .file()) var codes: String?
  @Flag(help: "Write CSV or TSV so that a spreadsheet keeps every text as it is.") var excel = false
  @Argument(help: "The file to write; - is standard output.", completion: .file()) var file: String

  func validate() throws {
    if mapping.saveMap != nil { throw ValidationError("export writes no mapping; use 'import --dry-run --save-map'") }
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
    if let codes, RowFileFormat(writtenTo: codes) == nil || codes == "-" || codes == file {
      throw ValidationError(
        "--codes \(codes): name another file .ndjson, .jsonl, .csv or .tsv (.gz packs it), as its extension says how the"
          + " codes are written")
    }
    if excel, format == nil ? file != "-" && rowFormat(MappingFile()) == .ndjson : format == .ndjson {
      throw ValidationError("--excel is for tables; name the file .csv or .tsv, or give --format")
    }
  }

  /// The format. Standard output has that of the mapping.
  private func rowFormat(_ map: MappingFile) -> RowFileFormat {
    if let format { return format }
    if file == "-" { return map.format ?? (mapping.areGiven ? .csv : .ndjson) }
    return RowFileFormat(writtenTo: file) ?? .ndjson
  }

  /// The columns of a table of a mapping: those of the 25 fields.
  private static func plain(_ fields: [ProductQueryField]) throws -> [ProductField] {
    try fields.map { field in
      guard let plain = field.plain else {
        throw Failure(
          .usage,
          "--columns: \(field.key.shown) is no column of a table of a mapping; leave --columns out, which writes all"
            + " fields of one's own, or leave the mapping out")
      }
      return plain
    }
  }

  /// What is written, and how.
  private func export(_ map: MappingFile, _ declared: DeclaredFields) throws -> RowExport {
    var writer = RowFileWriter(rowFormat(map))
    let isTable = writer.style != nil
    if excel, !map.mapping.hasQuotes { throw Failure(.usage, "--excel needs quotes; leave --no-quotes out") }
    if excel, !isTable { throw Failure(.usage, "--excel is for tables; name the file .csv or .tsv, or give --format") }
    if mapping.areGiven, !isTable {
      throw Failure(.usage, "a mapping writes tables; name the file .csv or .tsv, or give --format")
    }
    let columns = try columns.map { text in
      try ExpressionArgument.parsed("--columns", text) { try ProductColumns(parsing: text, declared: declared).fields }
    }
    var plain = RowMapping()
    plain.delimiter = map.mapping.delimiter
    let isMapped = map.mapping != plain
    let hasOwn = columns?.contains { $0.plain == nil } ?? false
    let fields = hasOwn && !isMapped ? nil : try columns.map(Self.plain)
    writer.columns = fields
    writer.isForExcel = excel
    writer.delimiter = map.mapping.delimiter
    writer.hasMark = encoder(map) == nil
    var export = RowExport(writer)
    export.includesRelations = columns == nil
    export.includesCodes = columns == nil
    if hasOwn { export.columns = columns }
    if !isMapped { return export }
    export.includesRelations = false
    export.includesCodes = false
    do throws(RowRefusal) { export.mapping = try ReverseMapping(map.mapping, fields: fields) } catch {
      throw Failure(.usage, error.message)
    }
    return export
  }

  /// The name of the encoding to convert to; `nil` for UTF-8.
  private func encoder(_ map: MappingFile) -> String? {
    map.encoding.flatMap { ["utf-8", "utf8"].contains($0.lowercased()) ? nil : $0 }
  }

  /// Writes the rows in the encoding of the mapping.
  private func write(
    _ export: RowExport, _ snapshot: CatalogSnapshot, _ map: MappingFile, to write: ([UInt8]) throws -> Void
  ) throws {
    do {
      guard let name = encoder(map) else { return try export.write(snapshot, to: write) }
      let encoder = EncodedOutput(try TextEncoder(name))
      try export.write(snapshot) { try write(encoder.encode($0)) }
      try write(encoder.finish())
    } catch let refusal as RowRefusal {
      throw Failure(.data, "\(file): \(refusal.message); nothing was written")
    } catch SourceError.unknownEncoding(let name) {
      throw Failure(.usage, "\(SourceError.unknownEncoding(name: name))")
    } catch let error as SourceError {
      throw Failure(.data, "\(file): \(error); nothing was written")
    }
  }

  /// Writes the table of codes into the file of --codes, which is not yet published.
  private func writeCodes(_ snapshot: CatalogSnapshot, _ map: MappingFile) throws -> OutputFile? {
    guard let codes else { return nil }
    var writer = RowFileWriter(RowFileFormat(writtenTo: codes) ?? .ndjson)
    writer.isForExcel = excel
    let target = try OutputFile(codes, isCompressed: RowFileFormat.isCompressed(path: codes))
    do {
      try RowExport(writer).writeCodes(snapshot, decimal: map.mapping.decimal == UInt8(ascii: ",") ? "," : ".") {
        try target.write($0)
      }
    } catch {
      target.discard()
      throw error
    }
    return target
  }

  func run() throws {
    let map = try mapping.file()
    var export = try export(map, store.fields())
    if codes != nil { export.includesCodes = false }
    let snapshot = try at.map(store.commit) ?? store.snapshot()
    let relationCount = export.includesRelations ? snapshot.relationCount : 0
    if export.mapping != nil, columns == nil, snapshot.relationCount > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(snapshot.relationCount, "relation")) left out: a table of a mapping has products only;"
          + " 'export' without a mapping writes all")
    }
    let codeCount = export.includesCodes || codes != nil ? snapshot.codeCount : 0
    if export.mapping != nil, columns == nil, codes == nil, snapshot.codeCount > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(snapshot.codeCount, "code")) left out: a table of a mapping has products only;"
          + " --codes writes them into a file of their own")
    }
    let table = try writeCodes(snapshot, map)
    if file == "-" {
      do {
        try write(export, snapshot, map) { Console.print($0) }
        try table?.publish()
      } catch {
        table?.discard()
        throw error
      }
      return
    }
    let target = try OutputFile(file, isCompressed: RowFileFormat.isCompressed(path: file))
    do {
      try write(export, snapshot, map) { try target.write($0) }
      try target.publish()
      try table?.publish()
    } catch {
      target.discard()
      table?.discard()
      throw error
    }
    DurableChange.report("\(file) is complete")
    if output.json {
      JSONText.object(
        [
          ("file", .text(file)), ("products", .int(snapshot.productCount)), ("relations", .int(relationCount)),
        ] + (codeCount > 0 || codes != nil ? [("codes", .int(codeCount))] : []) + [
          ("sequence", .uint(snapshot.sequence)), ("bytes", .int(target.byteCount)),
        ]
      ).print()
    } else {
      Console.say(
        "\(file): \(Quantity.of(snapshot.productCount, "product")),"
          + " \(Quantity.of(relationCount, "relation"))"
          + (codeCount > 0 ? ", \(Quantity.of(codeCount, "code"))" + (codes.map { " (\($0))" } ?? "") : "")
          + ", commit \(snapshot.sequence)")
    }
  }
}

/// An encoder that closures share.
private final class EncodedOutput {
  private var encoder: TextEncoder

  init(_ encoder: consuming TextEncoder) { self.encoder = encoder }

  func encode(_ text: [UInt8]) throws -> [UInt8] { try encoder.encode(text) }

  func finish() -> [UInt8] { encoder.finish() }
}

extension RowFileFormat: ExpressibleByArgument {
  /// A JSON array is read like NDJSON, which recognises it.
  public init?(argument: String) {
    if argument == "json" { self = .ndjson } else { self.init(rawValue: argument) }
  }

  /// What the formats of a file to read are called.
  public static var allValueStrings: [String] { ["csv", "tsv", "ndjson", "json"] }

  /// The format of a file to write.
  ///
  /// - Throws: `ValidationError` for another name, and for a JSON array.
  static func written(_ argument: String) throws -> RowFileFormat {
    if argument == "json" {
      throw ValidationError("export writes no JSON array; take ndjson, and 'jq -s .' makes an array of it")
    }
    guard let format = RowFileFormat(rawValue: argument) else {
      throw ValidationError("\"\(argument)\" is no format; take ndjson, csv or tsv")
    }
    return format
  }
}
