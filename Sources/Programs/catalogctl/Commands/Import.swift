import ArgumentParser
import Catalog
import CatalogFiles
import CatalogSources
import CatalogSync
import JSONFormat
import RowFiles
import RowSources
import ServerAnswers
import Workspace

struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Take the rows of a file into the catalogue: all of it, or what differs.",
    discussion: """
      NDJSON as 'dump' prints it or one JSON array, or a table, CSV or TSV, as the contents show; - is standard input. \
      Each may be packed with gzip or zstd, and be in any encoding that the system knows. In a table the first record \
      names the columns.

      The file is the whole catalogue, and replaces it. With --delete-missing it is the whole catalogue too, but only \
      the difference is written; with --upsert, what the file does not have stays. Rows that are the same write \
      nothing. A file without relations leaves those of the catalogue alone in both cases. The cursor is then kept; \
      otherwise it is empty without --cursor, and the next sync brings everything from the server.

      Columns with the names of fields, or with common names such as ean, sku, product_name or 条码, are recognised, and \
      so are the separator and the encoding; what was recognised is printed before anything happens. --column, \
      --constant and --map say what the others mean. --dry-run shows the first rows as products, and changes nothing.

      With --upsert --match barcode a row is about the product that has its barcode, in any spelling of a GTIN: a \
      price list of a supplier changes products without adding one. Rows whose barcode no product has, several have, \
      or that have none, are left out and counted.

      Barcodes are counted by what a program for tables may have done to them, with the first of each kind and the \
      step of a mapping that mends it. A mapping may also take some rows only ("rows": "Price != ''").

      Further codes of a product, such as that of a case, come from rows with "type":"code" of NDJSON, from columns and \
      further rows of products as a mapping says ("codes", "group"), or with --codes from a table of its own, whose rows \
      have productId, or the field of the product that --join names, code, quantity, unit and kind; common names are \
      recognised. A code whose product is not found is left out and counted. With codes from any of these, a product \
      without one has none; otherwise --upsert and --delete-missing leave the codes of the catalogue alone.

      postgresql://USER@HOST/DATABASE with --products 'SELECT …' or --table NAME reads a database through libpq, with \
      its environment variables and password file. With --since COLUMN the greatest value of a column up to the server's \
      time becomes the cursor, and the next import with it reads newer rows only.

      Nothing is lost silently, and both formats follow the same rules. A number where a text is expected is taken as \
      it is written; a text that is a number, true or false is taken where one is expected; null and an empty text are \
      the default; without 'type' a row is a product. A row without an id, an unknown key, a duplicate id of a \
      product, and a value of another kind or beyond the limits are errors: the first 20 are shown with line, column, \
      value and remedy, then how many there are, and nothing changes (exit code 65). A file with rows of which none is \
      taken is an error too; newer rows of a database of which none is taken (--since) are nothing to write. \
      --on-duplicate, --unknown and --without-id accept what is meant that way, and count it.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var write: WriteOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var accept: UpdateOptions
  @Option(help: ArgumentHelp("The cursor that the rows stand for.", valueName: "text")) var cursor: String?
  @Flag(help: "Add and change what the file has, and leave the rest.") var upsert = false
  @Option(
    help: ArgumentHelp(
      "With --upsert: take a row for the product that has its barcode, and add no product.", valueName: "barcode"))
  var match: MatchedField?
  @Flag(help: "Write the difference only, and delete what the file does not have.") var deleteMissing = false
  @OptionGroup var mapping: MappingOptions
  @Option(
    help: ArgumentHelp("With a database: a statement that returns a row for each product.", valueName: "SQL"))
  var products: String?
  @Option(
    help: ArgumentHelp(
      "With a database: a statement that returns productId, subProductId and groupNum of each part of a set.",
      valueName: "SQL"))
  var relations: String?
  @Option(
    help: ArgumentHelp(
      "A table of codes: a file, or with a database a statement that returns productId, code, quantity, unit and kind.",
      valueName: "file|SQL"), completion: .file())
  var codes: String?
  @Option(
    help: ArgumentHelp(
      "The field of the product that a row of the table of codes names; the id if nothing is said.",
      valueName: "id|skuCode|barcode"))
  var join: String?
  /// What 'init' proposes as the codes of a mapping that says nothing of them: a mapping with codes and group.
  @Option(help: .hidden) var proposedCodes: String?
  @OptionGroup var database: DatabaseOptions
  @Option(
    help: ArgumentHelp("How the file is written, whatever it contains and is called.", valueName: "csv|tsv|ndjson|json")
  )
  var format: RowFileFormat?
  @Flag(help: "Show what would be imported, and change nothing.") var dryRun = false
  @OptionGroup var irregularities: RowRuleOptions
  @Flag(help: "Take a product whose id is empty, as a server may have sent one.") var allowEmptyId = false
  @Flag(help: "Set a damaged catalogue aside and start a new one.") var replaceDamaged = false
  @Argument(
    help: ArgumentHelp(
      "The file to read, - for standard input, or the address of a PostgreSQL database.", valueName: "source"),
    completion: .file()) var file: String

  func validate() throws {
    let limit = WireLimits().cursorByteCount
    if upsert, deleteMissing { throw ValidationError("give --upsert or --delete-missing, one of them") }
    if match != nil, !upsert {
      throw ValidationError("--match changes products that are there; it goes with --upsert alone")
    }
    if upsert || deleteMissing, replaceDamaged {
      throw ValidationError("--replace-damaged sets the catalogue aside, so there is nothing to compare the file with")
    }
    if let join {
      do { _ = try MappingFile.join(join) } catch { throw ValidationError("--join: \(error.message)") }
    }
    if match != nil, codes != nil {
      throw ValidationError("--match barcode finds products by their barcodes; import --codes without it")
    }
    if file == "-", codes == "-" { throw ValidationError("standard input has the products or the codes, one of them") }
    guard (cursor ?? "").utf8.count <= limit else { throw ValidationError("--cursor is at most \(limit) bytes") }
    if DatabaseQuery.isURL(file) {
      if format != nil || mapping.encoding != nil || mapping.delimiter != nil || irregularities.areOfTables {
        throw ValidationError(
          "--format, --encoding, --delimiter, --excel and --uneven-rows are for files, not for a database")
      }
      if database.since != nil, cursor != nil { throw ValidationError("--since sets the cursor; leave --cursor out") }
    } else if products != nil || relations != nil || database.areGiven {
      throw ValidationError(
        "--products, --relations, --table, --since and --statement-timeout belong to a database, postgresql://…")
    }
  }

  /// What the rows are.
  ///
  /// - Parameter isNewer: Whether they are the newer rows of a database.
  private func mode(_ isNewer: Bool) -> RowImport.Mode {
    upsert || isNewer ? .upsert : deleteMissing ? .difference : .replace
  }

  /// Opens the source.
  ///
  /// - Returns: The source, and what its rows are. Where the cursor of a database cannot be used, all rows are compared.
  private func open(_ map: MappingFile) throws -> (InputFile, RowImport.Mode) {
    guard DatabaseQuery.isURL(file) else { return (try InputFile(file), mode(false)) }
    var query = try database.query(file, products: products, relations: relations, map)
    map.addCodes(to: &query)
    if query.since != nil, !deleteMissing, let cursor = try store.reader()?.snapshot().cursor, !cursor.isEmpty {
      query.lastSeen = cursor
    }
    do {
      let input = try InputFile(query)
      for notice in input.notices { Console.say("catalogctl: \(input.name): \(notice)") }
      let isCompared = query.lastSeen != nil && !input.hasNewerOnly && !upsert
      return (input, isCompared ? .difference : mode(input.hasNewerOnly))
    } catch { throw Failure(named: query.name, error) }
  }

  /// - Parameter isIncrement: Whether the rows are the newer ones of a database.
  private func rules(_ file: MappingFile, _ isIncrement: Bool) -> RowRules {
    var rules = file.rules
    rules.isIncrement = isIncrement
    rules.allowsEmptyIds = allowEmptyId
    rules.allowsAbsentColumns = upsert
    rules.matchesCodes = match != nil
    rules.skipsEmptyCodes = DatabaseQuery.isURL(self.file)
    return rules
  }

  /// Adds the declarations of a mapping to those of the user, so that this import writes their indexes.
  ///
  /// - Returns: The declarations before; `nil` if they are the same.
  private func declare(_ fields: DeclaredFields) throws -> DeclaredFields? {
    if fields.isEmpty { return nil }
    var declared = try store.fields()
    let before = declared
    for name in fields.names {
      guard let declaration = fields[name] else { continue }
      do { try declared.set(name, declaration) } catch { throw Failure(.usage, "extra of the mapping: \(error)") }
    }
    if declared == before { return nil }
    try setFields(declared)
    return before
  }

  private func setFields(_ declared: DeclaredFields) throws {
    var workspace = store.workspace
    workspace.lockTimeout = write.lockTimeout
    try workspace.settings(of: store.userID()).change {
      try $0.set(named: IndexSettings.Name.fields.rawValue, to: declared.value)
    }
  }

  func run() throws {
    let start = ContinuousClock.now
    // Report a missing file before a store is created.
    var map = try mapping.file()
    try mapping.checkSaving()
    irregularities.apply(to: &map)
    map.format = format ?? map.format
    try addCodes(to: &map)
    let table = try map.codesFrom?.file.map { try CodeTableInput($0, map, accept.limits) }
    let (opened, mode) = try open(map)
    if dryRun { return try rehearse(opened, map, mode, table) }
    // A pipe may be slow, so the catalogue is locked only after all of it has arrived.
    let input: InputFile
    do { input = try opened.arrived(nextTo: store.workspace.makeCatalogue(of: store.userID())) } catch {
      throw Failure(named: opened.name, error)
    }
    try table?.arrive(nextTo: store.workspace.makeCatalogue(of: store.userID()))
    // The indexes of the fields are written with the rows. An import that is refused leaves no declarations behind.
    let formerFields = try declare(map.extra)
    var isWritten = false
    defer { if !isWritten, let formerFields { try? setFields(formerFields) } }
    let writer = try store.writer(lockTimeout: write.lockTimeout, replacesDamaged: replaceDamaged)
    defer { writer.close() }
    let next = writer.nextSequence
    if mode == .replace { try writer.roomForFullUpdate().warnIfScarce() }
    var text = try InputText(rows: input, encoding: encoding(map), limits: accept.limits)
    var piece = try beginning(&text, input.name)
    let format = try rowFormat(map, piece)
    var rows = try RowImport(
      writer, format, mode, accept.lossLimit, rules: rules(map, input.hasNewerOnly), mapping: map.mapping)
    if let join = map.codesFrom?.table.join {
      try rows.expectCodes(joinedBy: join)
      if table == nil { rows.joinCodes() }
    }
    var isReported = false
    var name = input.name
    do {
      while let bytes = piece {
        try rows.consume(bytes.span)
        // In CSV the columns are known now.
        if !isReported, rows.columns.contains(where: { $0.number != nil }) {
          isReported = true
          tell(rows.columns, map, text.guess, input.name)
        }
        piece = rows.isOver ? nil : try text.next()
      }
      try rows.settle()
      if !isReported { tell(rows.columns, map, text.guess, input.name) }
      let (columns, delimiter) = (rows.columns, rows.delimiter)
      if let table {
        name = table.name
        try table.read(rules: { try rows.beginCodes($0, rules: $1, mapping: $2) }) { piece in
          try rows.consume(piece.span)
          return !rows.isOver
        }
        try rows.settle()
        table.tell(rows.columns)
      }
      let newest = input.newest ?? ""
      if newest.utf8.count > WireLimits().cursorByteCount {
        throw Failure(.data, "the newest value of the column of --since is too long for a cursor; take another column")
      }
      let hasNewerOnly = input.hasNewerOnly
      let orphanCount = rows.orphans.count
      let (update, summary) = try rows.finish(
        cursor: cursor ?? input.newest,
        checking: { summary, counts in if !hasNewerOnly { try checkMatched(summary, counts) } }
      ) { summary, codes in
        if let table, !accept.acceptLoss {
          name = table.name
          try table.checkNotEmpty(codes, summary, orphanCount, writer.snapshot().codeCount)
        }
        if mode != .upsert, summary.products == 0, try !accept.acceptLoss && writer.snapshot().productCount > 0 {
          name = input.name
          throw Self.emptyFile(summary)
        }
        // The origin of the rows is unknown, so no other user may adopt this catalogue from now on.
        try store.workspace.forgetOrigin(of: store.userID())
      }
      isWritten = true
      // Of the file that was read last, the end is known too.
      MappingFile.tellAbsent(table == nil ? rows.columns : columns, input.name, isUpsert: mode == .upsert)
      writer.sayWhatWasSetAside()
      if update.sequence >= next { DurableChange.report("commit \(update.sequence) is durable") }
      try mapping.save(Self.noting(delimiter, format, map), columns)
      let orphans = mode == .replace ? try writer.snapshot().orphans() : nil
      report(
        update, summary, rows.codeSummary, rows.counts, isWritten: update.sequence >= next,
        leftOut: rows.orphans.count, orphans: orphans,
        speaksOfCodes: map.codesFrom != nil || map.mapping.speaksOfCodes, seconds: ContinuousClock.now - start)
      BarcodeTable(summary.barcodes, columns, map.mapping).say(input.name)
      BarcodeTable(codes: summary.codeHealth, map, isTable: false).say(input.name)
      table?.say(rows.codeSummary)
      sayOrphans(rows.orphans, map)
    } catch RowFileError.refused(let faults) {
      rows.cancel()
      try refuse(faults, name, isOfCodes: name != input.name)
    } catch {
      rows.cancel()
      let failure = Failure(named: name, error)
      // Programs get a report of any error in the file.
      if output.json, failure.code == .data {
        let error = Self.error(failure.message, in: name == input.name ? nil : name)
        printRefusal(rows.summary, rows.counts, [error], count: 1)
      }
      throw failure
    }
  }

  /// The encoding of the source; `nil` to guess it. A database sends UTF-8.
  private func encoding(_ map: MappingFile) -> String? { DatabaseQuery.isURL(file) ? "UTF-8" : map.encoding }

  /// The first text of the source; `nil` for an empty one.
  ///
  /// - Throws: `Failure`, which programs get as a report.
  private func beginning(_ text: inout InputText, _ name: String) throws -> [UInt8]? {
    do { return try text.next() } catch {
      let failure = Failure(named: name, error)
      if output.json, failure.code == .data, !dryRun {
        printRefusal(RowFileSummary(), nil, [Self.error(failure.message, in: nil)], count: 1)
      }
      throw failure
    }
  }

  /// The format of the source, of which `text` is the beginning.
  ///
  /// - Throws: `Failure` for options that the format does not have.
  private func rowFormat(_ map: MappingFile, _ text: [UInt8]?) throws -> RowFileFormat {
    if DatabaseQuery.isURL(file) { return .ndjson }
    let format =
      map.format ?? RowFileFormat(of: text ?? [], named: file, hasDelimiter: map.mapping.delimiter != nil)
    if irregularities.areOfTables, format == .ndjson {
      throw Failure(.usage, "--excel and --uneven-rows are for tables, CSV and TSV; leave them out, or give --format")
    }
    return format
  }

  /// Tells people what was recognised. A column of ids is not used where barcodes say which products rows are.
  private func tell(_ columns: [RowColumnUse], _ map: MappingFile, _ guess: EncodingGuess?, _ name: String) {
    var used = columns
    if match != nil {
      for index in used.indices { used[index].fields.removeAll { $0 == "id" } }
      for index in used.indices where used[index].fields.isEmpty { used[index].isAutomatic = false }
    }
    map.tell(used, guess, name)
    for column in columns where match != nil && column.fields.contains("id") && !column.isAbsent {
      Console.say(
        "catalogctl: \(name): the ids of the column \(column.name.shown) are not used, as --match barcode finds products"
          + " by barcode; leave --match out to find them by id")
    }
  }

  /// The mapping with the separator that was recognised, if it is not that of the format.
  private static func noting(_ delimiter: UInt8?, _ format: RowFileFormat, _ map: MappingFile) -> MappingFile {
    var map = map
    if map.mapping.delimiter == nil, delimiter != format.delimiter { map.mapping.delimiter = delimiter }
    return map
  }

  /// The error for a file that would empty the catalogue.
  private static func emptyFile(_ summary: RowFileSummary) -> Failure {
    let rows =
      summary.rows == 0 ? "there are no rows in it" : "none of its \(Quantity.of(summary.rows, "row")) is a product"
    return Failure(.data, rows + ", and the catalogue has some; --accept-loss empties it; nothing was changed")
  }

  /// Reads the file, and shows what an import would do.
  private func rehearse(
    _ input: InputFile, _ map: MappingFile, _ mode: RowImport.Mode, _ table: CodeTableInput?
  ) throws {
    var text = try InputText(rows: input, encoding: encoding(map), limits: accept.limits)
    var piece = try beginning(&text, input.name)
    let format = try rowFormat(map, piece)
    var reader = RowFileReader(format, rules: rules(map, input.hasNewerOnly), mapping: map.mapping)
    var sink = RehearsalSink()
    // Without a user, as in the first try of 'init', there is no catalogue to lose anything of.
    let known = mode == .replace ? try? store.reader()?.snapshot() : try store.reader()?.snapshot()
    if mode != .replace || known?.productCount ?? 0 > 0 {
      sink.merge = try CatalogMerge(known, deletesMissing: mode != .upsert)
      sink.merge?.matchesCodes = match != nil
    }
    if let join = map.codesFrom?.table.join {
      sink.join = try CodeJoin(join, isWhole: mode != .upsert, known)
      sink.joinsCodes = table == nil
    }
    var name = input.name
    do {
      while let bytes = piece {
        try reader.consume(bytes.span, into: &sink)
        piece = reader.isOver ? nil : try text.next()
      }
      let result = Result { () throws(RowFileError) in try reader.finish(into: &sink) }
      tell(reader.columns, map, text.guess, input.name)
      if !output.json {
        for row in sink.first { Console.print(String(decoding: row, as: UTF8.self)) }
      }
      let summary = try result.get()
      if reader.speaksOfCodes || map.codesFrom != nil { sink.merge?.keepsCodes = false }
      var codeSummary: RowFileSummary?
      if let table {
        name = table.name
        codeSummary = try table.rehearse(into: &sink)
        if !accept.acceptLoss {
          try table.checkNotEmpty(codeSummary, summary, sink.join?.orphanCount ?? 0, known?.codeCount ?? 0)
        }
        name = input.name
      }
      MappingFile.tellAbsent(reader.columns, input.name, isUpsert: mode == .upsert)
      if mode != .upsert, summary.products == 0, !accept.acceptLoss, known?.productCount ?? 0 > 0 {
        throw Self.emptyFile(summary)
      }
      try sink.merge?.finish()
      try sink.merge?.checkLosses(accept.lossLimit)
      if !input.hasNewerOnly { try checkMatched(summary, sink.merge?.counts) }
      let kept = Self.kept(summary, sink.merge?.counts)
      // A full update counts no differences.
      if mode == .replace { sink.merge = nil }
      try mapping.save(Self.noting(reader.delimiter, format, map), reader.columns)
      if output.json {
        JSONText.object(
          [("dryRun", .bool(true)), ("sample", .array(sink.first.map(JSONText.raw)))]
            + fields(summary, codeSummary, kept: kept, sink.merge?.counts, [])
        ).print()
      } else {
        let codeCount = summary.codes + (codeSummary?.codes ?? 0) - (sink.join?.orphanCount ?? 0)
        let codes = codeCount == 0 ? "" : ", \(Quantity.of(codeCount, "further code"))"
        let difference = sink.merge.map { ": " + Self.words($0.counts, hasCodes: codeCount > 0) } ?? ""
        Console.print(
          "\(Quantity.of(summary.rows, "row")) read, \(Quantity.count(kept)) would be kept\(codes)\(difference); nothing was changed"
        )
      }
      warn(summary, sink.merge?.counts)
      BarcodeTable(summary.barcodes, reader.columns, map.mapping).say(input.name)
      BarcodeTable(codes: summary.codeHealth, map, isTable: false).say(input.name)
      table?.say(codeSummary)
      if let join = sink.join { sayOrphans((join.orphanCount, join.firstOrphan), map) }
    } catch RowFileError.refused(let faults) {
      try refuse(faults, name, isOfCodes: name != input.name)
    } catch { throw Failure(named: name, error) }
  }

  /// Reports the faults of the file and ends with an error.
  private func refuse(_ faults: RowFaults, _ name: String, isOfCodes: Bool) throws -> Never {
    if output.json {
      let errors = faults.first.map {
        Self.error(
          $0.message, in: isOfCodes ? name : nil, line: $0.line, element: $0.element, column: $0.column,
          value: $0.value)
      }
      printRefusal(faults.summary, nil, errors, count: faults.count)
    }
    for fault in faults.first { Console.say("catalogctl: \(name): \(fault)") }
    sayProposal(faults)
    throw Failure(.data, "\(name): \(faults); nothing was changed")
  }

  /// An error as JSON. Without a line, it concerns the entire file; only rows of a JSON array have a number, and only
  /// errors of the table of codes have a file.
  private static func error(
    _ message: String, in file: String?, line: Int? = nil, element: Int? = nil, column: String? = nil,
    value: String? = nil
  ) -> JSONText {
    .object(
      [
        ("line", line.map(JSONText.int) ?? .null), ("column", .optional(column)), ("value", .optional(value)),
        ("message", .text(message)),
      ] + (file.map { [("file", .text($0))] } ?? []) + (element.map { [("row", .int($0))] } ?? []))
  }

  /// A warning as JSON: how many rows there are of its kind, and the first of them.
  private static func warning(_ warning: RowWarning) -> JSONText {
    .object(
      [
        ("rows", .int(warning.count)), ("line", .int(warning.line)), ("column", .text(warning.column)),
        ("value", .text(warning.value)), ("message", .text(warning.message)),
      ] + (warning.element.map { [("row", .int($0))] } ?? []))
  }

  private func printRefusal(
    _ summary: RowFileSummary, _ counts: MergeCounts?, _ errors: [JSONText], count: Int
  ) {
    JSONText.object(fields(summary, nil, kept: 0, counts, errors) + [("errorCount", .int(count))]).print()
  }

  /// The number of rows that the catalogue takes.
  private static func kept(_ summary: RowFileSummary, _ counts: MergeCounts?) -> Int {
    summary.products + summary.relations + summary.codeRows + summary.furtherRows - summary.duplicates
      - (counts?.unknownCodes ?? 0)
      - (counts?.ambiguousCodes ?? 0)
  }

  /// Refuses a file of which no row is about a product of the catalogue.
  private func checkMatched(_ summary: RowFileSummary, _ counts: MergeCounts?) throws {
    guard match != nil, let counts, summary.rows > 0, Self.kept(summary, counts) == 0 else { return }
    warn(ofCodes: counts, withoutCode: summary.withoutCode)
    throw Failure(
      .data,
      "none of its \(Quantity.of(summary.rows, "row")) is taken: \(Quantity.count(counts.unknownCodes)) had a barcode"
        + " that no product has, \(Quantity.count(counts.ambiguousCodes)) one that several have, and"
        + " \(Quantity.count(summary.withoutCode)) none; nothing was changed")
  }

  /// The JSON fields about the rows of the file, and of a table of codes.
  private func fields(
    _ summary: RowFileSummary, _ codes: RowFileSummary?, kept: Int, _ counts: MergeCounts?, _ errors: [JSONText]
  ) -> [(String, JSONText)] {
    [
      ("rowsRead", .int(summary.rows)), ("rowsKept", .int(kept)), ("duplicates", .int(summary.duplicates)),
      ("withoutId", .int(summary.withoutID)), ("paddedIds", .int(summary.paddedIDs)),
      ("rowsLeftOut", .int(summary.leftOut)), ("furtherValues", .int(summary.furtherParts)),
      // A full update does not compare rows with their previous state.
      ("added", counts.map { .int($0.added) } ?? .null), ("changed", counts.map { .int($0.changed) } ?? .null),
      ("unchanged", counts.map { .int($0.unchanged) } ?? .null), ("deleted", counts.map { .int($0.deleted) } ?? .null),
      ("ignored", .object(summary.ignored.sorted { $0.key < $1.key }.map { ($0.key, .int($0.value)) })),
      ("errors", .array(errors)), ("warnings", .array(summary.warnings.map(Self.warning))),
    ] + BarcodeTable(summary.barcodes, [], RowMapping()).fields
      + BarcodeTable.fields(ofCodes: [summary.codeHealth, codes?.codeHealth].compactMap(\.self))
      + matchFields(summary, counts)
  }

  /// The JSON fields about the products that were found by their barcodes.
  private func matchFields(_ summary: RowFileSummary, _ counts: MergeCounts?) -> [(String, JSONText)] {
    if match == nil { return [] }
    return [
      ("unknownCodes", .int(counts?.unknownCodes ?? 0)), ("ambiguousCodes", .int(counts?.ambiguousCodes ?? 0)),
      ("withoutCode", .int(summary.withoutCode)),
    ]
  }

  /// The counts of a difference for people.
  private static func words(_ counts: MergeCounts, hasCodes: Bool) -> String {
    func words(_ what: String, _ added: Int, _ changed: Int, _ unchanged: Int, _ deleted: Int) -> String {
      "\(Quantity.of(added, what)) added, \(Quantity.count(changed)) changed,"
        + " \(Quantity.count(unchanged)) unchanged, \(Quantity.count(deleted)) deleted"
    }
    let rows = words("row", counts.added, counts.changed, counts.unchanged, counts.deleted)
    let codes = counts.codes
    if !hasCodes, codes == MergeCounts.Codes() { return rows }
    return rows + "; " + words("code", codes.added, codes.changed, codes.unchanged, codes.deleted)
  }

  private func report(
    _ update: UpdateReport, _ summary: RowFileSummary, _ table: RowFileSummary?, _ merged: MergeCounts?,
    isWritten: Bool, leftOut: Int, orphans: CatalogSnapshot.Orphans?, speaksOfCodes: Bool, seconds: Duration
  ) {
    let counts = update.counts
    let ignoredCodes = counts.codesIgnored + (merged?.codes.ignored ?? 0) + leftOut
    let ignoredRelations = merged?.ignored ?? 0
    let hasCodes = speaksOfCodes || summary.codes + counts.codesWritten + counts.codesDeleted + ignoredCodes > 0
    let codes: [(String, JSONText)] =
      [
        (
          "codes",
          .object(
            [
              ("written", .int(counts.codesWritten)), ("deleted", .int(counts.codesDeleted)),
              ("ignored", .int(ignoredCodes)),
            ] + (orphans.map { [("orphans", .int($0.codes))] } ?? []))
        )
      ] + (merged.map { [("codeChanges", Self.changes($0.codes))] } ?? [])
    if output.json {
      JSONText.object(
        [
          ("mode", .text(update.mode.name)), ("sequence", .uint(update.sequence)),
          ("generation", .uint(update.generation)),
          (
            "products",
            .object([("upserted", .int(counts.productsUpserted)), ("deleted", .int(counts.productsDeleted))])
          ),
          (
            "relations",
            .object(
              [
                ("written", .int(counts.relationsWritten)), ("deleted", .int(counts.relationsDeleted)),
                ("ignored", .int(counts.relationsIgnored + ignoredRelations)),
              ] + (orphans.map { [("orphans", .int($0.relations))] } ?? []))
          ),
        ] + (hasCodes ? codes : []) + [
          ("defaulted", .int(counts.defaulted)), ("cursor", .text(update.cursor)), ("bytesIn", .int(summary.bytesIn)),
          ("seconds", .double(((seconds / .milliseconds(1)).rounded()) / 1000)),
        ] + fields(summary, table, kept: Self.kept(summary, merged), merged, [])
      ).print()
    } else if let merged {
      let commit = isWritten ? "commit \(update.sequence)" : "nothing to write, commit \(update.sequence) stays"
      Console.print("\(commit): \(Self.words(merged, hasCodes: hasCodes))")
    } else {
      var written = [
        Quantity.of(counts.productsUpserted, "product"), Quantity.of(counts.relationsWritten, "relation"),
      ]
      var gone = [Quantity.of(counts.productsDeleted, "product"), Quantity.of(counts.relationsDeleted, "relation")]
      if hasCodes {
        written.append(Quantity.of(counts.codesWritten, "code"))
        gone.append(Quantity.of(counts.codesDeleted, "code"))
      }
      let cursor = update.cursor.isEmpty ? "empty: the next sync brings everything" : update.cursor.shown
      Console.print(
        "commit \(update.sequence): \(written.joined(separator: ", ")); gone: \(gone.joined(separator: ", "));"
          + " cursor \(cursor)")
    }
    if let merged, merged.codes.ignored > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(merged.codes.ignored, "code")) left out: the catalogue has no product with the id")
    }
    if ignoredRelations > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(ignoredRelations, "relation")) left out: the catalogue has no product with the id of the set"
      )
    }
    if let orphans { Self.say(orphans) }
    warn(summary, merged)
  }

  /// The changes of codes as JSON.
  private static func changes(_ codes: MergeCounts.Codes) -> JSONText {
    .object([
      ("added", .int(codes.added)), ("changed", .int(codes.changed)), ("unchanged", .int(codes.unchanged)),
      ("deleted", .int(codes.deleted)),
    ])
  }

  /// Tells people which relations and codes of a full update belong to no product.
  private static func say(_ orphans: CatalogSnapshot.Orphans) {
    if let first = orphans.firstRelation {
      Console.say(
        "catalogctl: \(Quantity.of(orphans.relations, "relation")) kept whose set is no product of the catalogue; the"
          + " first: \(first.id.shown) of \(first.productId.shown)")
    }
    if let first = orphans.firstCode {
      Console.say(
        "catalogctl: \(Quantity.of(orphans.codes, "code")) kept whose product is not in the catalogue, so that no scan"
          + " finds them; the first: \(first.code.shown) of \(first.productId.shown)")
    }
  }

  /// Warns about irregularities that an option allowed.
  private func warn(_ summary: RowFileSummary, _ counts: MergeCounts?) {
    if summary.leftOut > 0 {
      Console.say("catalogctl: \(Quantity.of(summary.leftOut, "row")) left out by the condition of the mapping (rows)")
    }
    if summary.furtherParts > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(summary.furtherParts, "further value")) of cells with several left out (split); \"codes\" with"
          + " \"split\" in a mapping keeps further barcodes")
    }
    warn(ofCodes: counts, withoutCode: summary.withoutCode)
    if summary.duplicates > 0 {
      Console.say("catalogctl: \(Quantity.of(summary.duplicates, "product")) gave way to a later one with the same id")
    }
    for notice in summary.notices { Console.say("catalogctl: \(notice)") }
    if summary.withoutID > 0 {
      Console.say("catalogctl: \(Quantity.of(summary.withoutID, "row")) without an id left out")
    }
    if !summary.ignored.isEmpty {
      let keys = summary.ignored.sorted { $0.key < $1.key }.map {
        "\($0.key.isEmpty ? "others" : $0.key) \($0.value) ×"
      }
      Console.say("catalogctl: values under unknown keys were left out: \(keys.joined(separator: ", "))")
    }
  }

  /// Warns about rows whose barcode is not that of one product.
  private func warn(ofCodes counts: MergeCounts?, withoutCode: Int) {
    guard match != nil, let counts else { return }
    if counts.unknownCodes > 0 {
      let first = counts.firstUnknown.map(\.shown).joined(separator: ", ")
      Console.say(
        "catalogctl: \(Quantity.of(counts.unknownCodes, "row")) left out: no product has the barcode; the first:"
          + " \(first)")
    }
    if counts.ambiguousCodes > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(counts.ambiguousCodes, "row")) left out: several products have the barcode; rows"
          + " with an id, without --match, say which one is meant")
      for code in counts.firstAmbiguous {
        let ids = code.ids.prefix(5).map(\.shown).joined(separator: ", ") + (code.ids.count > 5 ? ", …" : "")
        Console.say("  \(code.code.shown): the products \(ids)")
      }
    }
    if withoutCode > 0 { Console.say("catalogctl: \(Quantity.of(withoutCode, "row")) without a barcode left out") }
  }
}

/// A field by which --match finds the products of rows.
enum MatchedField: String, ExpressibleByArgument, CaseIterable { case barcode }
