public import CatalogRows
internal import JSONFormat
public import ServerAnswers
internal import TextFormat

/// A strict reader of rows from a person's own NDJSON file, with one JSON object per line.
///
/// The rules are those of ``CSVRows``: nothing is lost silently. Reading continues after a faulty line;
/// ``finish(into:)`` reports all faults of the file together. Lines of white space are skipped. Memory: one chunk, one
/// line of at most `WireLimits/tokenByteCount`, and up to 30 bytes for the id of each product. Use ``RowLines`` to
/// read a server's rows.
///
/// A ``RowMapping`` gives keys of other names their fields. With one, a text that begins with `[` is a JSON array,
/// whose elements are the rows.
public struct NDJSONRows: ~Copyable {
  /// Rows are nested one level deep.
  private static let rowDepth = 1

  /// The meaning of a key: the column of ``RowCells`` that it fills, and its number as a source of computed values.
  private struct KeyUse {
    var column: Int?
    var source: Int?
    /// Whether a common name decided: in a row that has the field's own name, the key means nothing.
    var isAutomatic = false
  }

  /// The maximum number of different keys.
  private static let keyLimit = 4096

  private let lineByteCount: Int
  private var splitter: LineSplitter
  private var tokens: JSONTokenizer
  private var matcher = KeyMatcher(RowCells.columns.prefix(RowCells.ownCount).map(\.name))
  private var codeMatcher = KeyMatcher(["type", "barcode"] + CodeField.allCases.map(\.key))
  private var cells = RowCells()
  private var checker: RowChecker
  private let mapping: RowMapping?
  /// Whether there is a mapping: a question for each key, which copies no mapping.
  private let isMapped: Bool
  private let nulls: NullWords?
  private var plan: RowFieldPlan
  /// The condition of the rows that are taken, the number of each key that it asks for, and those that no row had.
  private var filter: RowFilter?
  private var filterSlots: [String: Int] = [:]
  private var unseenFilter: Set<String> = []
  /// The number of each key that has codes or their quantities, and those of them that mean nothing else.
  private var codeSlots: [String: Int] = [:]
  private var codeKeys: Set<String> = []
  /// Whether keys with common names have the quantity and the unit of the further rows of a product, and the keys so far.
  private var findsColumnsOfRows = false
  private var seenKeys: Set<String> = []
  /// Whether the current row is a code.
  private var isCode = false
  /// What the keys of a table of codes mean, those that no row had so far, and the fields that have no key yet.
  private var tableKeys: [String: Int?] = [:]
  private var isTableBound = false
  /// Whether a row was no relation.
  private var hasProducts = false
  /// The meaning of the keys so far that need more than ``matcher``, and the fields taken.
  private var keys: [String: KeyUse] = [:]
  private var takenFields = [String?](repeating: nil, count: RowCells.columns.count)
  /// The keys whose common names fill columns, and those of them that no row has used so far.
  private var guesses: [Int: String] = [:]
  private var unusedGuesses: Set<Int> = []
  /// In the current row, a bit for each column whose own key has come, and for each one that a key with a common name
  /// has filled.
  private var exactColumns: UInt64 = 0
  private var guessedColumns: UInt64 = 0
  /// The keys that the mapping names, and no row had so far.
  private var unseen: Set<String> = []
  /// The keys, and the fields that they fill.
  private(set) var uses: [RowColumnUse] = []
  /// The reader of an array; `nil` for a text with a row on each line.
  private var array: JSONArraySplitter?
  /// The number of elements that were read.
  private var elements = 0
  /// The first bytes, until one of them is no white space.
  private var head: [UInt8] = []
  private var isDecided = false
  private var blankLines = BlankLines()
  /// Whether the rest of the file is ignored.
  private(set) var isOver = false
  private var failure: RowFileError?

  /// Creates a reader of a new file.
  ///
  /// - Parameters:
  ///   - rules: What the file may contain besides valid rows.
  ///   - limits: The bounds on memory. One line has at most `tokenByteCount` bytes.
  ///   - mapping: What the keys mean; `nil` if they have the names of the fields.
  public init(rules: RowRules = RowRules(), limits: WireLimits = WireLimits(), mapping: RowMapping? = nil) {
    checker = RowChecker(rules, mapping)
    self.mapping = mapping
    isMapped = mapping != nil
    nulls = NullWords(mapping?.nullWords ?? [])
    plan = RowFieldPlan(mapping ?? RowMapping())
    lineByteCount = limits.tokenByteCount
    splitter = LineSplitter(lineByteCount: limits.tokenByteCount)
    tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: limits.nestingDepth, tokenByteCount: limits.tokenByteCount))
    if let mapping {
      applyRules(mapping)
      filter = mapping.rows.map { RowFilter($0, mapping) }
      for (slot, name) in (filter?.names ?? []).enumerated() { filterSlots[name] = slot }
      unseenFilter = Set(filterSlots.keys)
      for (source, name) in (checker.codes?.names ?? []).enumerated() {
        codeSlots[name] = source
        unseen.insert(name)
        use(name, for: checker.codes?.use(of: source) ?? "")
      }
      codeKeys = mapping.columnsOfCodes
      findsColumnsOfRows = checker.codes?.findsColumnsOfRows ?? false
    }
    if mapping?.skippedLines ?? 0 > 0 {
      checker.report(
        RowFault(.syntax, line: 1, "only CSV and TSV have lines before the rows to skip; leave --skip-lines out"))
    }
  }

  /// The number of faults so far. If it is not zero, ``finish(into:)`` throws.
  package var faultCount: Int { checker.faults.count }

  /// Whether the mapping says which keys have the codes of the products.
  var speaksOfCodes: Bool { mapping.map { $0.speaksOfCodes || $0.codeTable != nil } ?? false }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary { checker.summary }

  /// Reads the next bytes of the text and passes the row of each completed line to `sink`, if it is valid.
  ///
  /// - Throws: ``RowFileError/sinkFailed(_:row:)`` with the error that the sink throws; the same error again for all
  ///   later calls.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(RowFileError) {
    if let failure { throw failure }
    checker.summary.bytesIn += bytes.count
    do {
      if isDecided { return try split(bytes, into: &sink) }
      head.append(copying: bytes)
      if decide() { try startText(into: &sink) }
    } catch {
      failure = error
      throw error
    }
  }

  /// Decides whether the text is an array; returns `false` if its beginning does not show it yet.
  private mutating func decide() -> Bool {
    var start = 0
    if head.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 } else if head.count < 3, head.first == 0xEF { return false }
    while start < head.count, [0x20, 0x09, 0x0A, 0x0D].contains(head[start]) { start += 1 }
    if start == head.count, head.count < 1 << 16 { return false }
    if isMapped, start < head.count, head[start] == UInt8(ascii: "[") {
      array = JSONArraySplitter(elementByteCount: lineByteCount)
    }
    return true
  }

  private mutating func startText<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) {
    isDecided = true
    let first = head
    head = []
    try split(first.span, into: &sink)
  }

  /// Ends the text, and reads a last line without a line feed.
  ///
  /// - Throws: ``RowFileError/refused(_:)`` if the file has faults; the errors of ``consume(_:into:)``.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) -> RowFileSummary {
    if let failure { throw failure }
    if !isDecided { try startText(into: &sink) }
    if let array {
      if !isOver, !array.isComplete {
        report("the array does not end; the file is cut, or a bracket is missing", line: array.line)
      }
      checkUnseen()
      checker.nameID(uses, mapping)
      return try checker.finish(lines: array.line)
    }
    if !isOver, splitter.finish() {
      let line = splitter.takeCutLine()
      try read(line.span, splitter.lineCount, into: &sink)
    }
    checkUnseen()
    checker.nameID(uses, mapping)
    return try checker.finish(lines: splitter.lineCount)
  }

  /// Reports rules whose keys no row has, if rows have a key that may be meant. A row may leave out what it has no
  /// value for, so that a key without any value is no error by itself; ``columns`` has it as absent.
  private mutating func checkUnseen() {
    for index in uses.indices {
      if unseen.contains(uses[index].name) { uses[index].isAbsent = true }
      if filterSlots[uses[index].name] != nil { uses[index].isCondition = true }
    }
    // Relations do not have the keys of products.
    if !hasProducts { return }
    let names = uses.filter { !$0.isAbsent }.map(\.name)
    for name in unseenFilter.sorted() {
      checker.report(RowFault(.unknownKey, line: 1, column: name, RowFilter.unknown(name, among: names, "key")))
    }
    for name in codeSlots.keys.sorted() where unseen.contains(name) {
      guard let nearest = NearestName.of(name, among: names) else { continue }
      checker.report(
        RowFault(
          .unknownKey, line: 1, column: name,
          "the mapping takes codes from this key, and no row has it; is \"\(nearest)\" meant?"))
    }
    for (field, rule) in (mapping?.rules ?? [:]).sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let name = rule.columns.first(where: unseen.contains),
        rule.separator != nil || rule.columns.allSatisfy(unseen.contains)
      else { continue }
      let nearest = NearestName.of(name, among: names)
      let outer = names.first { name.hasPrefix($0 + ".") }
      let hint = nearest.map { "is \"\($0)\" meant?" } ?? outer.map { "the values inside of \"\($0)\" cannot be taken" }
      guard let hint else { continue }
      checker.report(
        RowFault(
          .unknownKey, line: 1, column: name,
          "the mapping takes \(field.key) from this key, and no row has it; \(hint)"))
    }
  }

  private mutating func split<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(RowFileError) {
    if array != nil { return try splitArray(bytes, into: &sink) }
    var start = 0
    while !isOver {
      let line: LineSplitter.Line?
      do { line = try splitter.next(in: bytes, from: &start) } catch {
        isOver = true
        return report(
          "longer than \(lineByteCount) bytes; end each line with a line feed", line: splitter.lineCount + 1)
      }
      switch line {
      case .inChunk(let range): try read(bytes.extracting(range), splitter.lineCount, into: &sink)
      case .cut:
        let line = splitter.takeCutLine()
        try read(line.span, splitter.lineCount, into: &sink)
        splitter.reuse(line)
      case nil: return
      }
    }
  }

  private mutating func splitArray<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(RowFileError) {
    for index in bytes.indices {
      if isOver { return }
      do throws(RowRefusal) {
        guard let line = try array?.take(bytes[index]) else { continue }
        let element = array?.takeElement() ?? []
        try readElement(element, line, into: &sink)
      } catch {
        isOver = true
        report(error.message, line: array?.line ?? 1)
      }
      if let failure { throw failure }
    }
  }

  /// Reads an element of the array. An error of the sink is kept in ``failure``.
  private mutating func readElement<Sink: RowSink>(
    _ element: [UInt8], _ line: Int, into sink: inout Sink
  ) throws(RowRefusal) {
    let faults = checker.faults.count
    elements += 1
    checker.element = elements
    do { try read(element.span, line, into: &sink) } catch { failure = error }
    if checker.faults.count > faults { checker.setElement(elements, after: faults) }
    array?.reuse(element)
  }

  private mutating func report(_ message: String, line: Int, _ value: String? = nil) {
    checker.report(RowFault(.syntax, line: line, value: value, message))
  }

  private mutating func read<Sink: RowSink>(
    _ line: Span<UInt8>, _ number: Int, into sink: inout Sink
  ) throws(RowFileError) {
    defer { if checker.faults.count >= RowRules.faultLimit { isOver = true } }
    // The file may begin with a byte order mark.
    let hasMark = number == 1 && line.count >= 3 && line[0] == 0xEF && line[1] == 0xBB && line[2] == 0xBF
    let line = line.extracting((hasMark ? 3 : 0)..<line.count)
    if LineSplitter.isBlank(line) {
      if let problem = blankLines.add(afterRows: checker.summary.rows) {
        isOver = true
        report(problem, line: number)
      }
      return
    }
    blankLines.end()
    exactColumns = 0
    isCode = false
    let found: JSONKind?
    do {
      if checker.table != nil, !isTableBound { try bindTable(line) }
      var first = checker.table == nil ? try readCells(line, number) : nil
      // The keys of a code mean themselves.
      if checker.table != nil || isCode { first = try readCode(line, number) }
      found = first
    } catch {
      checker.summary.rows += 1
      if checker.summary.rows == 1, Self.isOpening(line) {
        isOver = true
        return report(
          "an object that goes over several lines; write each row on a line of its own, as jq -c . prints it, or, if the"
            + " rows are in a list inside of it, give the list alone, as jq .products prints it", line: number)
      }
      let hint = Self.isCompressed(line) ? "; this looks like a spreadsheet or an archive, save it as CSV" : ""
      return report(
        "this is not JSON (\(error))\(hint); correct or remove the line", line: number, snippet(line))
    }
    if let found {
      checker.summary.rows += 1
      return report(
        "this is \(found.rawValue) instead of an object; write each row as an object on one line of its own",
        line: number, snippet(line))
    }
    if tokens.replacedSurrogates > 0 {
      report(
        "a \\u escape is half of a character (a lone surrogate), which no text can hold; write the whole",
        line: number)
    }
    // The condition is about products, or about the rows of a table of codes.
    if isCode ? checker.table != nil : !isRelation {
      hasProducts = true
      let isMet = filter?.isMet() ?? true
      if let filter, let slot = filter.misread {
        checker.noteMisread(filter.names[slot], filter.text(slot), line: number)
      }
      if !isMet {
        checker.leaveOut(hasKey: Self.hasGroupKey(mapping?.group, cells, plan))
        return plan.forget()
      }
    }
    if isCode { return try checker.takeCode(cells, line: number, into: &sink) }
    if !plan.isEmpty {
      let faults = plan.finish(&cells, line: number)
      checker.summary.furtherParts = plan.furtherParts
      for fault in faults { checker.report(fault) }
      if !faults.isEmpty {
        checker.summary.rows += 1
        return
      }
    }
    try checker.take(cells, line: number, into: &sink)
  }

  /// Whether the row has a value that says which product it is, where several rows may be one.
  private static func hasGroupKey(_ group: ProductField?, _ cells: RowCells, _ plan: RowFieldPlan) -> Bool {
    guard let group else { return true }
    let column = RowFieldPlan.column(of: group)
    return !cells.isEmpty(column) && !Blanks.trimmed(cells.text(column)).isEmpty || plan.hasValue(group)
  }

  /// Whether the current row is a relation.
  private var isRelation: Bool {
    cells.kind(RowCells.typeColumn) == .text && cells.text(RowCells.typeColumn) == "relation"
  }

  /// Whether a line has nothing but the beginning of an object.
  private static func isOpening(_ line: Span<UInt8>) -> Bool {
    line.count < 256 && String(copying: line).split(whereSeparator: \.isWhitespace) == ["{"]
  }

  /// Reads the values of the object in `line`; returns the kind of value found if it is not an object.
  ///
  /// A key with the field's own name goes before one with a common name, wherever it comes in the row: if the other one
  /// has filled the field already, the row is read once more.
  private mutating func readCells(_ line: Span<UInt8>, _ number: Int) throws(JSONError) -> JSONKind? {
    cells.reset()
    filter?.reset()
    plan.reset()
    checker.codes?.reset()
    guessedColumns = 0
    tokens.reset()
    tokens.append(line)
    tokens.finish()
    matcher.restart()
    let first = try tokens.next()
    guard first == .beginObject else { return JSONKind(first) ?? .null }
    /// The column of the next value, and its number as a source.
    var column: Int?
    var source: Int?
    /// Its number among the keys that the condition asks for.
    var slot: Int?
    var stray = ""
    /// Its number among the keys that have codes, also while its list is read.
    var codeSlot: Int?
    var isInList = false
    /// Whether the row has said that it is a relation: the keys that a relation has then mean themselves.
    var isRelation = false
    while true {
      var token = try tokens.next()
      if let nulls, tokens.depth == Self.rowDepth {
        switch token {
        case .string, .number: if nulls.contains(tokens.textString) { token = .null }
        // Some programs say false where there is no text. Where true or false is expected, it says what it says.
        case .true, .false: if !isFlag(column), nulls.contains(tokens.shown(token)) { token = .null }
        default: break
        }
      }
      switch token {
      case .key:
        guard tokens.depth == Self.rowDepth else { continue }
        column = matcher.match(tokens.textByteCount, tokens.textWords)
        source = nil
        if !filterSlots.isEmpty {
          slot = filterSlots[tokens.textString]
          if slot != nil, !unseenFilter.isEmpty { unseenFilter.remove(tokens.textString) }
        }
        if isRelation, let column, RowCells.columns[column].relation != nil { continue }
        if findsColumnsOfRows { findColumnOfRows(tokens.textString) }
        if !codeSlots.isEmpty {
          let name = tokens.textString
          codeSlot = codeSlots[name]
          if codeSlot != nil, !unseen.isEmpty { unseen.remove(name) }
          // Codes of other packages and quantities are no field of the product, unless the mapping says so.
          if codeKeys.contains(name), keys[name] == nil { (column, stray) = (nil, name); continue }
        }
        if isMapped {
          if column == nil || !keys.isEmpty {
            let name = tokens.textString
            let use = keys[name] ?? newKey(name, column)
            if !unseen.isEmpty, use.source != nil { unseen.remove(name) }
            (column, source) = (use.column, use.source)
            stray = name
            if let known = column {
              if !use.isAutomatic {
                exactColumns |= 1 << UInt64(known)
                if guessedColumns & exactColumns != 0 { return try readCells(line, number) }
              } else if exactColumns & 1 << UInt64(known) != 0 {
                (column, source) = (nil, nil)
              } else {
                guessedColumns |= 1 << UInt64(known)
              }
            }
          } else if let known = column {
            exactColumns |= 1 << UInt64(known)
            if takenFields[known] == nil {
              takenFields[known] = RowCells.columns[known].name
              uses.append(
                RowColumnUse(
                  name: RowCells.columns[known].name, fields: [RowCells.columns[known].name], isAutomatic: false))
            }
          }
        } else if column == nil {
          stray = tokens.textString
        }
      case .string, .number, .true, .false, .null, .beginObject, .beginArray:
        let isOpening = token == .beginObject || token == .beginArray
        if isInList, let codeSlot, token != .null {
          let text = tokens.shown(token)
          if tokens.depth == Self.rowDepth + 1, !isOpening {
            checker.codes?.add(codeSlot, text, line: number, isNumber: token == .number)
          } else if isOpening, tokens.depth == Self.rowDepth + 2 {
            checker.codes?.add(codeSlot, text, line: number, isForeign: true)
          }
          continue
        }
        guard tokens.depth == Self.rowDepth + (isOpening ? 1 : 0) else { continue }
        if let codeSlot {
          if token == .beginArray {
            isInList = true
            if column == RowCells.barcodeColumn { checker.codes?.barcodeSource = codeSlot }
            continue
          }
          if token != .null {
            let text = tokens.shown(token)
            checker.codes?.add(codeSlot, text, line: number, isNumber: token == .number, isForeign: isOpening)
          }
          if column == nil, source == nil { continue }
        }
        if let slot {
          let text = Array(tokens.shown(token).utf8)
          filter?.set(slot, text, text.indices, isNumber: token == .number)
          // What the condition asks for is used, and nothing that a product has.
          if column == nil, source == nil, checker.rules.unknownKeys != .keep { continue }
        }
        if let source, !isOpening {
          if token != .null {
            let text = Array(tokens.shown(token).utf8)
            plan.set(source, text, text.indices, line: number, isNumber: token == .number)
          }
        } else if column == RowCells.extraColumn, token == .beginObject {
          cells.extra.add(try readValue(token).members)
          cells.setExtra(line: number)
        } else if let column {
          set(column, token, number)
          if column == RowCells.typeColumn, token == .string {
            isRelation = tokens.textString == "relation"
            if tokens.textString == "code" {
              isCode = true
              return nil
            }
          }
        } else if checker.rules.unknownKeys == .keep {
          let value = try readValue(token, isMember: true)
          if value.members.problem == nil { cells.extra.add(Array(stray.utf8), value.value) }
          if let problem = value.members.problem { cells.extra.fail(problem) }
        } else {
          cells.set(unknown: stray, tokens.shown(token))
        }
      case .endArray where isInList && tokens.depth == Self.rowDepth: isInList = false
      case .endObject where tokens.depth < Self.rowDepth:
        // A second value in the line is an error here.
        _ = try tokens.next()
        if !unusedGuesses.isEmpty { noteGuesses() }
        return nil
      case .needsInput, .endOfDocument: return nil
      default: continue
      }
    }
  }

  /// Reads the values of a code; returns the kind of value found if the line is not an object.
  private mutating func readCode(_ line: Span<UInt8>, _ number: Int) throws(JSONError) -> JSONKind? {
    isCode = true
    cells.reset()
    filter?.reset()
    tokens.reset()
    tokens.append(line)
    tokens.finish()
    codeMatcher.restart()
    let first = try tokens.next()
    guard first == .beginObject else { return JSONKind(first) ?? .null }
    var column: Int?
    var slot: Int?
    var stray = ""
    while true {
      var token = try tokens.next()
      if let nulls, checker.table != nil, token == .string || token == .number, tokens.depth == Self.rowDepth,
        nulls.contains(tokens.textString)
      {
        token = .null
      }
      switch token {
      case .key:
        guard tokens.depth == Self.rowDepth else { continue }
        slot = filterSlots.isEmpty || checker.table == nil ? nil : filterSlots[tokens.textString]
        if slot != nil, !unseenFilter.isEmpty { unseenFilter.remove(tokens.textString) }
        if checker.table != nil {
          column = columnOfTable(tokens.textString)
        } else {
          column = codeMatcher.match(tokens.textByteCount, tokens.textWords).map { Self.columnsOfCode[$0] }
          if column == nil { stray = tokens.textString }
        }
      case .string, .number, .true, .false, .null, .beginObject, .beginArray:
        let isOpening = token == .beginObject || token == .beginArray
        guard tokens.depth == Self.rowDepth + (isOpening ? 1 : 0) else { continue }
        if let slot {
          let text = Array(tokens.shown(token).utf8)
          filter?.set(slot, text, text.indices, isNumber: token == .number)
        }
        if let column {
          set(column, token, number)
        } else if checker.table == nil {
          cells.set(unknown: stray, tokens.shown(token))
        }
      case .endObject where tokens.depth < Self.rowDepth:
        // A second value in the line is an error here.
        _ = try tokens.next()
        return nil
      case .needsInput, .endOfDocument: return nil
      default: continue
      }
    }
  }

  /// The columns of the keys that ``codeMatcher`` knows.
  private static let columnsOfCode =
    [RowCells.typeColumn, RowCells.barcodeColumn] + RowCells.codeColumns

  /// Decides what the keys of a table of codes mean, of which `line` is the first row.
  private mutating func bindTable(_ line: Span<UInt8>) throws(JSONError) {
    guard let table = checker.table else { return }
    tokens.reset()
    tokens.append(line)
    tokens.finish()
    guard try tokens.next() == .beginObject else { return }
    isTableBound = true
    var names: [String] = []
    reading: while true {
      switch try tokens.next() {
      case .key: if tokens.depth == Self.rowDepth { names.append(tokens.textString) }
      case .endObject where tokens.depth < Self.rowDepth: break reading
      case .needsInput, .endOfDocument: break reading
      default: continue
      }
    }
    let found = CodeReading.columns(names, table) { names.firstIndex(of: $0) }.found
    for (index, name) in names.enumerated() where tableKeys[name] == nil {
      let field = found.first { $0.value == index }?.key
      bind(name, field, isAutomatic: field.map { table.values[$0] == nil && name != $0.key } ?? false)
    }
  }

  private mutating func bind(_ name: String, _ field: CodeField?, isAutomatic: Bool) {
    if tableKeys.count >= Self.keyLimit { return }
    tableKeys[name] = .some(field.map { RowCells.codeColumns[$0.rawValue] })
    uses.append(RowColumnUse(name: name, fields: field.map { [$0.key] } ?? [], isAutomatic: isAutomatic))
  }

  /// The column that a key of a table of codes fills; `nil` if it means nothing.
  private mutating func columnOfTable(_ name: String) -> Int? {
    if let known = tableKeys[name] { return known }
    // A key that the first row does not have.
    guard let table = checker.table else { return nil }
    let taken = Set(tableKeys.values.compactMap(\.self))
    let named = table.values.first { $0.value.column == name }?.key
    let guessed = CodeReading.columns([name], table) { _ in nil }.found.first?.key
    var field = named ?? guessed
    if let found = field, taken.contains(RowCells.codeColumns[found.rawValue]) { field = nil }
    bind(name, field, isAutomatic: named == nil && field != nil && field?.key != name)
    return tableKeys[name] ?? nil
  }

  /// Reads the rest of the value that begins with `token`.
  private mutating func readValue(
    _ token: JSONToken, isMember: Bool = false
  ) throws(JSONError) -> ExtraValueReader {
    var reader = ExtraValueReader(isMember: isMember)
    var token = token
    while !reader.take(token, tokens) {
      token = try tokens.next()
      if token == .needsInput || token == .endOfDocument { break }
    }
    return reader
  }

  /// Finds out whether a key has the quantity or the unit of the further rows of a product.
  private mutating func findColumnOfRows(_ name: String) {
    guard seenKeys.count < Self.keyLimit, seenKeys.insert(name).inserted, codeSlots[name] == nil,
      let source = checker.codes?.addColumnOfRows(name)
    else { return }
    codeSlots[name] = source
    let what = checker.codes?.use(of: source) ?? ""
    use(name, for: what)
    if what == "codes.quantity" { codeKeys.insert(name) }
  }

  /// Prepares the keys that the mapping names.
  private mutating func applyRules(_ mapping: RowMapping) {
    for (field, rule) in mapping.rules.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      let column = RowFieldPlan.column(of: field)
      takenFields[column] = rule.columns.first
      let sources = rule.columns.map { source(of: $0, column: column) }
      unseen.formUnion(rule.columns)
      for name in rule.columns { use(name, for: field.key) }
      if let problem = plan.add(field, sources: sources, rule) { report(problem, line: 1) }
    }
    // A key with barcodes often identifies the products too.
    if let names = mapping.rules[.id]?.columns, names.count == 1,
      let field = ProductField.allCases.first(where: { $0.key == names[0] })
        ?? (mapping.isAutomatic ? RowMapping.field(named: names[0]) : nil),
      takenFields[RowFieldPlan.column(of: field)] == nil
    {
      let column = RowFieldPlan.column(of: field)
      takenFields[column] = names[0]
      _ = plan.add(field, sources: [source(of: names[0], column: column)], nil)
      use(names[0], for: field.key)
    }
    for (field, value) in mapping.constants where mapping.rules[field] == nil {
      let column = RowFieldPlan.column(of: field)
      takenFields[column] = ""
      // A key of the field's name is read, and used for nothing.
      _ = source(of: field.key, column: column)
      plan.add(field, constant: value)
    }
    // Keys with the names of fields are found without this table, unless their values are converted.
    for field in ProductField.allCases where mapping.converts(field) && mapping.rules[field] == nil {
      guard mapping.constants[field] == nil else { continue }
      let column = RowFieldPlan.column(of: field)
      takenFields[column] = field.key
      _ = plan.add(field, sources: [source(of: field.key, column: column)], nil)
    }
  }

  /// The number of a key as a source of computed values.
  private mutating func source(of name: String, column: Int) -> Int {
    if let source = keys[name]?.source { return source }
    let source = keys.count
    keys[name] = KeyUse(column: column, source: source)
    return source
  }

  private mutating func use(_ name: String, for field: String) {
    if let index = uses.firstIndex(where: { $0.name == name }) {
      uses[index].fields.append(field)
    } else {
      uses.append(RowColumnUse(name: name, fields: [field], isAutomatic: false))
    }
  }

  /// Decides what a key means that occurs for the first time.
  ///
  /// - Parameter column: The column whose name it has.
  private mutating func newKey(_ name: String, _ column: Int?) -> KeyUse {
    var use = KeyUse(column: column)
    if let known = column, let owner = takenFields[known], owner != name {
      use.column = nil
      if let field = RowCells.columns[known].product, mapping?.rules[field] == nil, owner != "",
        mapping?.rules[.id]?.columns == [owner]
      {
        // The key of the id fills this field only where the field has no key of its own.
        use = KeyUse(column: known, source: keys.count)
        plan.add(source: keys.count, to: field, isFirst: true)
      }
    }
    if column == nil, mapping?.isAutomatic == true, !codeKeys.contains(name), let field = RowMapping.field(named: name)
    {
      let candidate = RowFieldPlan.column(of: field)
      let owner = takenFields[candidate]
      if owner == "" {
        // The field has a constant: the key is used for nothing.
        use.source = keys.count
      } else if guesses[candidate] == nil, owner == nil || owner == field.key && mapping?.rules[field] == nil {
        use.column = candidate
        use.isAutomatic = true
        // The values of a field that is converted come from sources.
        if keys[field.key]?.source != nil {
          use.source = keys.count
          plan.add(source: keys.count, to: field)
        }
      }
    }
    if let column = use.column, !use.isAutomatic, takenFields[column] == nil { takenFields[column] = name }
    if keys.count < Self.keyLimit {
      let isKept = checker.rules.unknownKeys == .keep
      var fields = isKept ? ["extra." + name] : []
      if let column = use.column {
        if use.isAutomatic {
          guesses[column] = name
          unusedGuesses.insert(column)
        } else {
          fields = [RowCells.columns[column].name]
        }
      }
      if !uses.contains(where: { $0.name == name }) {
        uses.append(RowColumnUse(name: name, fields: fields, isAutomatic: false))
      }
      keys[name] = use
    }
    return use
  }

  /// Notes which keys with common names have filled a field of this row for the first time.
  private mutating func noteGuesses() {
    for column in unusedGuesses where guessedColumns & 1 << UInt64(column) != 0 {
      unusedGuesses.remove(column)
      guard let index = uses.firstIndex(where: { $0.name == guesses[column] }) else { continue }
      uses[index].fields = [RowCells.columns[column].name]
      uses[index].isAutomatic = true
    }
  }

  private mutating func set(_ column: Int, _ token: JSONToken, _ number: Int) {
    let kind: RowCells.Kind
    switch token {
    case .string, .number:
      let kind: RowCells.Kind = token == .string ? .text : .number
      tokens.withText { cells.set(column, kind, $0, line: number) }
      return
    case .true: kind = .yes
    case .false: kind = .no
    case .beginObject: kind = .object
    case .beginArray: kind = .array
    default: kind = .null
    }
    let text = Array(tokens.shown(token).utf8)
    cells.set(column, kind, text.span, line: number)
  }

  /// Whether a column has true or false.
  private func isFlag(_ column: Int?) -> Bool {
    guard let field = column.flatMap({ RowCells.columns[$0].product }) else { return false }
    if case .flag = field.slot { return true } else { return false }
  }

  /// The beginning of a line.
  private func snippet(_ line: Span<UInt8>) -> String {
    let text = String(copying: line.extracting(0..<min(line.count, 60)))
    return line.count > 60 ? text + "…" : text
  }

  /// Whether the bytes begin like a ZIP archive, which spreadsheet files are.
  private static func isCompressed(_ line: Span<UInt8>) -> Bool {
    line.count >= 2 && line[0] == UInt8(ascii: "P") && line[1] == UInt8(ascii: "K")
  }
}

extension JSONTokenizer {
  /// A value in the form that messages show.
  fileprivate func shown(_ token: JSONToken) -> String {
    switch token {
    case .string, .number: textString
    case .true: "true"
    case .false: "false"
    case .beginObject: "{…}"
    case .beginArray: RowCells.list
    default: ""
    }
  }
}
