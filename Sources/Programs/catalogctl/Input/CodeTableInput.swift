import Catalog
import CatalogFiles
import CatalogSources
import Essentials
import LogStore
import RowFiles
import RowSources
import ServerAnswers

/// The file with a table of codes, which an import reads after the products.
final class CodeTableInput {
  private var input: InputFile
  private let map: MappingFile
  private let limits: WireLimits
  /// The name for messages.
  let name: String
  /// The encoding, if it was guessed.
  private var guess: EncodingGuess?

  /// Opens the file.
  ///
  /// - Parameters:
  ///   - path: The path of the file; `-` is standard input.
  ///   - map: The mapping, which says what the columns mean.
  ///   - limits: The limits of decompression.
  /// - Throws: `Failure` with exit code 66.
  init(_ path: String, _ map: MappingFile, _ limits: WireLimits) throws {
    input = try InputFile(path)
    name = input.name
    self.map = map
    self.limits = limits
  }

  /// Waits until a pipe has arrived, so that the catalogue is not locked meanwhile.
  func arrive(nextTo location: StoreLocation) throws {
    do { input = try input.arrived(nextTo: location) } catch { throw Failure(named: name, error) }
  }

  private var rules: RowRules {
    var rules = RowRules()
    rules.readsExcelTexts = map.isExcel
    rules.allowsUnevenRows = map.isUneven
    return rules
  }

  /// Reads the text.
  ///
  /// - Parameters:
  ///   - begin: Receives the format of the file, the rules and the mapping, before any text.
  ///   - body: Receives the text piece by piece, until it returns `false`.
  /// - Throws: The errors of reading and of both.
  func read(
    rules begin: (RowFileFormat, RowRules, RowMapping) throws -> Void, _ body: ([UInt8]) throws -> Bool
  ) throws {
    var text = try InputText(rows: input, encoding: map.codesFrom?.encoding, limits: limits)
    var piece = try text.next()
    try begin(format(of: piece), rules, map.mappingOfCodes)
    while let bytes = piece, try body(bytes) { piece = try text.next() }
    guess = text.guess
  }

  /// The format of the file, of which `text` is the beginning.
  private func format(of text: [UInt8]?) -> RowFileFormat {
    RowFileFormat(of: text ?? [], named: name, hasDelimiter: map.codesFrom?.delimiter != nil)
  }

  /// Reads the table into a rehearsal.
  ///
  /// - Returns: The summary of the table.
  /// - Throws: `RowFileError.refused` with its faults; the errors of reading.
  func rehearse(into sink: inout RehearsalSink) throws -> RowFileSummary {
    var text = try InputText(rows: input, encoding: map.codesFrom?.encoding, limits: limits)
    var piece = try text.next()
    var reader = RowFileReader(format(of: piece), rules: rules, mapping: map.mappingOfCodes)
    sink.joinsCodes = true
    while let bytes = piece {
      try reader.consume(bytes.span, into: &sink)
      piece = reader.isOver ? nil : try text.next()
    }
    guess = text.guess
    let summary = try reader.finish(into: &sink)
    tell(reader.columns)
    return summary
  }

  /// Checks that a table that is empty, or of which no code finds its product, does not take all codes away.
  ///
  /// - Parameters:
  ///   - summary: The summary of the table.
  ///   - products: The summary of the products, which may have codes too.
  ///   - orphanCount: The number of codes of the table whose product is not there.
  ///   - codeCount: The number of codes that the catalogue has.
  /// - Throws: `Failure` with exit code 65.
  func checkNotEmpty(
    _ summary: RowFileSummary?, _ products: RowFileSummary, _ orphanCount: Int, _ codeCount: Int
  ) throws {
    guard let summary, summary.codes == orphanCount, products.codes == 0, codeCount > 0 else { return }
    let field = map.codesFrom?.table.join.key ?? "id"
    let problem =
      orphanCount == 0
      ? "there are no codes in it"
      : "no product has the \(field) that its \(Quantity.of(orphanCount, "code")) \(orphanCount == 1 ? "names" : "name")"
        + " (--join says which field they name)"
    throw Failure(
      .data,
      "\(problem), and the catalogue has \(Quantity.count(codeCount)); --accept-loss takes it"
        + " as it is, and the products have none then; nothing was changed")
  }

  /// Tells people what was recognised.
  func tell(_ columns: [RowColumnUse]) {
    var told = MappingFile()
    told.encoding = map.codesFrom?.encoding
    told.tell(columns, guess, name, encodingRemedy: "\"encoding\" of codesFrom in a mapping names another")
  }

  /// Tells people how many codes there are.
  func say(_ summary: RowFileSummary?) {
    guard let summary else { return }
    if summary.rows == 0 {
      return Console.say("catalogctl: \(name): there are no rows in it, so no product has a code from it")
    }
    Console.say(
      "catalogctl: \(name): \(Quantity.of(summary.codes, "code")) in \(Quantity.of(summary.rows, "row"))"
        + (summary.withoutCodes > 0 ? ", \(Quantity.count(summary.withoutCodes)) of them without a code" : "")
        + (summary.leftOut > 0 ? ", \(Quantity.count(summary.leftOut)) left out by the condition" : ""))
    for notice in summary.notices { Console.say("catalogctl: \(name): \(notice)") }
    BarcodeTable(codes: summary.codeHealth, map, isTable: true).say(name)
  }
}

extension Import {
  /// Puts --codes and --join into the mapping.
  ///
  /// - Throws: `Failure` with exit code 64 for options that do not go together.
  func addCodes(to map: inout MappingFile) throws {
    if let proposedCodes {
      do throws(MappingFile.Invalid) {
        let proposed = try MappingFile(json: Array(proposedCodes.utf8)).mapping
        map.mapping.codes += proposed.codes
        map.mapping.group = map.mapping.group ?? proposed.group
      } catch { throw Failure(.usage, "--proposed-codes: \(error.message)") }
    }
    if let codes {
      var from = map.codesFrom ?? MappingFile.CodesFrom()
      let isDatabase = DatabaseQuery.isURL(file)
      if isDatabase, codes.allSatisfy({ $0.isWhitespace || $0 == ";" }) {
        throw Failure(.usage, "--codes is empty; give a SELECT")
      }
      let directory = FileManager.default.currentDirectoryPath
      (from.file, from.query) =
        isDatabase ? (nil, codes) : (codes == "-" || codes.hasPrefix("/") ? codes : "\(directory)/\(codes)", nil)
      map.codesFrom = from
    }
    if let join {
      if map.codesFrom == nil {
        throw Failure(
          .usage, "--join says how a table of codes is joined; give it with --codes, or codesFrom in a mapping")
      }
      do { map.codesFrom?.table.join = try MappingFile.join(join) } catch {
        throw Failure(.usage, "--join: \(error.message)")
      }
    }
    if let from = map.codesFrom {
      if from.file == nil, from.query == nil {
        throw Failure(.usage, MappingFile.CodesFrom.isNowhere + ", or give --codes")
      }
      do { try from.checkQuery() } catch { throw Failure(.usage, error.message) }
    }
    if map.codesFrom?.query != nil, !DatabaseQuery.isURL(file) {
      throw Failure(.usage, "codesFrom: query is for a database; give the codes of a file in a file")
    }
    if match != nil, map.codesFrom != nil || map.mapping.speaksOfCodes {
      throw Failure(
        .usage, "--match barcode finds products by their barcodes; a mapping with codes goes without it")
    }
  }

  /// Reads the file, and finds what a mapping could say of further codes in it.
  ///
  /// - Returns: A mapping with nothing but codes and group, and whether a column shows that rows with the same id are
  ///   packages; `nil` if the file shows none, or the mapping speaks of codes,
  ///   or the file cannot be read. The import says then what is wrong.
  func proposal() -> (map: MappingFile, hasPackages: Bool)? {
    guard codes == nil, match == nil, !DatabaseQuery.isURL(file), var map = try? mapping.file() else { return nil }
    irregularities.apply(to: &map)
    if map.codesFrom != nil || map.mapping.speaksOfCodes { return nil }
    guard let input = try? InputFile(file),
      var text = try? InputText(rows: input, encoding: map.encoding, limits: accept.limits)
    else { return nil }
    var sink = CodeProposal()
    do {
      var piece = try text.next()
      let format =
        format ?? map.format
        ?? RowFileFormat(of: piece ?? [], named: file, hasDelimiter: map.mapping.delimiter != nil)
      var reader = RowFileReader(format, rules: CodeProposal.rules(map.rules), mapping: map.mapping)
      while let bytes = piece {
        try reader.consume(bytes.span, into: &sink)
        piece = reader.isOver ? nil : try text.next()
      }
      // Faults are those of the import, which come next.
      _ = try? reader.finish(into: &sink)
      var found = MappingFile()
      (found.mapping.codes, found.mapping.group) = sink.proposed(map.mapping, reader.columns)
      return found.mapping.speaksOfCodes ? (found, CodeProposal.hasPackages(reader.columns)) : nil
    } catch { return nil }
  }

  /// Tells people of a mapping with codes and group that takes a file that was refused, if there is one.
  ///
  /// Remedies for single rows and columns may leave out codes.
  func sayProposal(_ faults: RowFaults) {
    guard faults[.unknownKey] + faults[.missingId] + faults[.duplicateId] > 0, file != "-",
      !DropFolder.File.isStream(file), let found = proposal()?.map.mapping, var map = try? mapping.file()
    else { return }
    irregularities.apply(to: &map)
    map.format = format ?? map.format
    map.mapping.codes = found.codes
    map.mapping.group = found.group
    for unknown in [map.unknown, .ignore] {
      map.unknown = unknown
      guard isTaken(map) else { continue }
      let text = String(decoding: map.text([]).dropLast(), as: UTF8.self)
      Console.say(
        "catalogctl: \(file): if its further rows and columns are codes and packages of the same product, this mapping"
          + " (--map) takes the file with all of them: \(text)")
      if unknown == .ignore, faults[.unknownKey] > 0 {
        Console.say(
          "catalogctl: \(file): it leaves unknown columns out; if one says how many pieces a code stands for, add"
            + " {\"quantity\": {\"column\": \"…\"}} to its codes")
      }
      return
    }
  }

  /// Whether an import of the file with a mapping would find no fault.
  private func isTaken(_ map: MappingFile) -> Bool {
    guard let input = try? InputFile(file),
      var text = try? InputText(rows: input, encoding: map.encoding, limits: accept.limits)
    else { return false }
    var sink = RehearsalSink()
    do {
      var piece = try text.next()
      let format =
        map.format ?? RowFileFormat(of: piece ?? [], named: file, hasDelimiter: map.mapping.delimiter != nil)
      var reader = RowFileReader(format, rules: map.rules, mapping: map.mapping)
      while let bytes = piece {
        try reader.consume(bytes.span, into: &sink)
        piece = reader.isOver ? nil : try text.next()
      }
      return try reader.finish(into: &sink).products > 0
    } catch { return false }
  }

  /// Tells people which codes of a table have no product.
  func sayOrphans(_ orphans: (count: Int, first: (code: String, product: String)?), _ map: MappingFile) {
    guard orphans.count > 0, let first = orphans.first else { return }
    let field = map.codesFrom?.table.join.key ?? "id"
    Console.say(
      "catalogctl: \(Quantity.of(orphans.count, "code")) left out: no product has the \(field); the first: the code"
        + " \(first.code.shown) of \(first.product.shown)")
  }
}
