internal import Bytes
public import CatalogRows
internal import JSONFormat
public import ServerAnswers
internal import TextFormat

/// A strict reader of rows from a person's own CSV file, as written by ``RowCSV`` or a spreadsheet.
///
/// The first record names the columns, in any order. `id` is required; other missing columns have default values, and
/// without `type` every row is a product. A ``RowMapping`` gives columns of other names their fields. Records end with
/// CRLF or LF. Anything that cannot be read as intended is a fault with line, column and value: an unknown column, an
/// invalid number, a duplicate id, a zero byte outside of quotes. ``finish(into:)`` reports all faults of the file
/// together, up to one after which record boundaries are unknown. Memory: one record of at most
/// `WireLimits/tokenByteCount`, and up to 30 bytes for the id of each product.
public struct CSVRows {
  /// The parser state before the next byte.
  private enum State {
    case fieldStart, plain, quoted, quoteInQuoted, carriageReturn
    /// Inside of the quotes of `="007"`, and after one of them.
    case formula, quoteInFormula
  }

  /// The meaning of a column of the file.
  enum Column {
    case known(Int)
    /// The column is a source of computed values, which has this number.
    case source(Int)
    case unknown
    /// The column is faulty and reported; its values are skipped.
    case skipped
  }

  /// The maximum number of columns.
  static let columnLimit = 4096
  /// The number of bytes, and of lines, in which the separator of the columns is recognised.
  private static let headByteCount = 64 << 10
  private static let headLineCount = 16

  private let recordByteCount: Int
  let mapping: RowMapping?
  /// Whether quotes around a field belong to the syntax.
  private let hasQuotes: Bool
  private let nulls: NullWords?
  var plan: RowFieldPlan
  /// The byte between two fields that was asked for; `nil` to recognise it.
  private let requestedDelimiter: UInt8?
  /// The byte between two fields; `nil` until it is recognised.
  private(set) var delimiter: UInt8?
  /// The number of lines that are still to be passed before the first record.
  private var linesToSkip: Int
  /// The beginning of the text while the separator is unknown.
  private var head: [UInt8] = []
  /// The unknown columns that are kept, in the order of their names, which is that of ``ExtraMembers``.
  var kept: [(index: Int, name: [UInt8])] = []
  /// The columns, and the fields that they fill.
  var uses: [RowColumnUse] = []
  var checker: RowChecker
  /// The condition of the rows that are taken, and the number of each column that it asks for.
  var filter: RowFilter?
  var filterColumns: [Int] = []
  /// The columns with codes and their quantities, and the number of each as a source.
  var codeColumns: [(source: Int, index: Int)] = []
  var cells = RowCells()
  private var state = State.fieldStart
  /// The columns; empty before the first record.
  var columns: [Column] = []
  var names: [String] = []
  /// For each column, the number of its values that were ignored.
  var ignoredCounts: [Int] = []
  /// The fields of the current record, concatenated; the end of each field, and the line on which it begins.
  var bytes: [UInt8] = []
  var ends: [Int] = []
  private var fieldLines: [Int] = []
  private var isQuoted = false
  /// The fields of the current record that have a zero byte outside of quotes.
  private var zeroFields: [Int] = []
  private var line = 1
  /// The position in the line in bytes, from 1.
  private var byteInLine = 0
  /// The line on which the record began, and the line on which the field began.
  var firstLine = 1
  private var fieldLine = 1
  /// The bytes of a byte order mark that may still follow at the beginning.
  private var mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Whether cells like `="007"` are texts: if the rules say so, or the table begins with a byte order mark, as those for
  /// spreadsheets do.
  private var readsExcelTexts: Bool
  private var blankLines = BlankLines()
  /// Whether the rest of the file is ignored.
  var isOver = false
  private var failure: RowFileError?

  /// Creates a reader of a new file.
  ///
  /// - Parameters:
  ///   - rules: What the file may contain besides valid rows.
  ///   - limits: The bounds on memory. One record has at most `tokenByteCount` bytes.
  ///   - mapping: What the columns mean; `nil` if they have the names of the fields.
  ///   - delimiter: The byte between two fields; `nil` to recognise a comma, semicolon, tab or vertical bar.
  public init(
    rules: RowRules = RowRules(), limits: WireLimits = WireLimits(), mapping: RowMapping? = nil,
    delimiter: UInt8? = UInt8(ascii: ",")
  ) {
    checker = RowChecker(rules, mapping)
    readsExcelTexts = rules.readsExcelTexts
    recordByteCount = limits.tokenByteCount
    self.mapping = mapping
    hasQuotes = mapping?.hasQuotes ?? true
    nulls = NullWords(mapping?.nullWords ?? [])
    linesToSkip = mapping?.skippedLines ?? 0
    requestedDelimiter = delimiter
    // A file of one's own may declare its separator, whatever was asked for.
    if mapping == nil { self.delimiter = delimiter }
    plan = RowFieldPlan(mapping ?? RowMapping())
    if let mapping { filter = mapping.rows.map { RowFilter($0, mapping) } }
  }

  /// The number of faults so far. If it is not zero, ``finish(into:)`` throws.
  package var faultCount: Int { checker.faults.count }

  /// Whether there are columns that say which codes the products have.
  var speaksOfCodes: Bool { !codeColumns.isEmpty || mapping?.group != nil || mapping?.codeTable != nil }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary {
    var summary = checker.summary
    for (column, count) in ignoredCounts.enumerated() where count > 0 { summary.ignore(names[column], count) }
    summary.furtherParts = plan.furtherParts
    return summary
  }

  /// Reads the next bytes of the text and passes the row of each completed record to `sink`, if it is valid.
  ///
  /// - Throws: ``RowFileError/sinkFailed(_:row:)`` with the error that the sink throws; the same error again for all
  ///   later calls.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(RowFileError) {
    if let failure { throw failure }
    checker.summary.bytesIn += bytes.count
    let bytes = bytes.extracting(skipLines(of: bytes)...)
    do {
      if delimiter == nil {
        head.append(copying: bytes)
        guard let found = Self.delimiter(of: head.span, hasQuotes) else { return }
        try start(with: takeDeclaration() ?? requestedDelimiter ?? found, into: &sink)
      } else {
        try read(bytes, into: &sink)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Notes that the text began with a byte order mark. A file of one's own that has one is for spreadsheets.
  private mutating func noteMark() { if mapping != nil { readsExcelTexts = true } }

  /// Passes over the lines before the first record. Returns where what follows them begins.
  private mutating func skipLines(of bytes: Span<UInt8>) -> Int {
    var index = 0
    while linesToSkip > 0, index < bytes.count {
      if bytes[index] == 0x0A {
        linesToSkip -= 1
        beginFirstLine()
      }
      mark = []
      index += 1
    }
    return index
  }

  /// Begins a line before the first record.
  private mutating func beginFirstLine() {
    line += 1
    (firstLine, fieldLine) = (line, line)
  }

  /// Removes a first line `sep=;`, by which spreadsheets declare the separator. Returns the separator.
  private mutating func takeDeclaration() -> UInt8? {
    let isMarked = head.starts(with: mark)
    let text = head.dropFirst(isMarked ? mark.count : 0)
    let name = String(decoding: text.prefix(4), as: UTF8.self)
    guard name.lowercased() == "sep=", let declared = text.dropFirst(4).first, declared != 0x0A, declared != 0x0D
    else { return nil }
    var rest = text.dropFirst(5)
    if rest.first == 0x0D { rest = rest.dropFirst() }
    guard rest.first == 0x0A else { return nil }
    head = Array(rest.dropFirst())
    if isMarked { noteMark() }
    mark = []
    beginFirstLine()
    return declared
  }

  /// Reads the text that was kept until the separator was known, as all of the text.
  mutating func readHead<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) {
    if delimiter != nil { return }
    let found = Self.delimiter(of: head.span, hasQuotes, isWhole: true)
    try start(with: takeDeclaration() ?? requestedDelimiter ?? found ?? UInt8(ascii: ","), into: &sink)
  }

  /// Reads the text that was kept until the separator was known.
  private mutating func start<Sink: RowSink>(with found: UInt8, into sink: inout Sink) throws(RowFileError) {
    delimiter = found
    let first = head
    head = []
    try read(first.span, into: &sink)
  }

  private mutating func read<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(RowFileError) {
    let delimiter = delimiter ?? UInt8(ascii: ",")
    var index = 0
    while index < bytes.count {
      if isOver { return }
      if state == .plain || state == .quoted || state == .fieldStart && mark.isEmpty {
        // Most bytes mean nothing but themselves.
        let start = index
        let room = max(0, recordByteCount - self.bytes.count - ends.count)
        let end = min(bytes.count, start + room)
        if state == .quoted {
          while index < end, bytes[index] != UInt8(ascii: "\""), bytes[index] != 0x0A { index += 1 }
        } else {
          while index < end, !Self.isSpecial(bytes[index], delimiter) { index += 1 }
        }
        if index > start {
          self.bytes.append(copying: bytes.extracting(start..<index))
          byteInLine += index - start
          if state == .fieldStart { state = .plain }
          if index == bytes.count { return }
        }
        if index < end, state != .quoted, bytes[index] == delimiter {
          byteInLine += 1
          endField()
          index += 1
          continue
        }
      }
      try take(bytes[index], delimiter, into: &sink)
      index += 1
    }
  }

  @inline(__always)
  private static func isSpecial(_ byte: UInt8, _ delimiter: UInt8) -> Bool {
    byte == delimiter || byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D || byte == 0
  }

  /// The byte that separates the fields: of comma, semicolon, tab and vertical bar outside of quotes, the one that most
  /// lines have as often as the first line. `nil` if there may be more lines to compare.
  ///
  /// A first line full of commas does not decide alone: `Name, long;Size, cm` is followed by lines with semicolons.
  static func delimiter(of text: Span<UInt8>, _ hasQuotes: Bool, isWhole: Bool = false) -> UInt8? {
    let candidates: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09, UInt8(ascii: "|")]
    var lines: [[Int]] = []
    var counts = [0, 0, 0, 0]
    /// Of the first line, how many of them a space follows, as in a sentence.
    var spaced = [0, 0, 0, 0]
    var isQuoted = false
    var isEmpty = true
    let end = min(text.count, headByteCount)
    var index = 0
    while index < end, lines.count < headLineCount {
      let byte = text[index]
      let isFirst = index == 0 || text[index - 1] == 0x0A || candidates.contains(text[index - 1])
      if hasQuotes, byte == UInt8(ascii: "\""), isQuoted || isFirst { isQuoted.toggle() }
      index += 1
      if isQuoted { continue }
      if byte == 0x0A {
        if !isEmpty { lines.append(counts) }
        (counts, isEmpty) = ([0, 0, 0, 0], true)
        continue
      }
      if byte != 0x0D { isEmpty = false }
      guard let candidate = candidates.firstIndex(of: byte) else { continue }
      counts[candidate] += 1
      if lines.isEmpty, index < end, text[index] == 0x20 { spaced[candidate] += 1 }
    }
    if lines.count < headLineCount {
      guard isWhole || text.count >= headByteCount else { return nil }
      // The last line may be cut.
      if lines.isEmpty || isWhole && !isEmpty { lines.append(counts) }
    }
    let first = lines[0]
    var best = (candidate: 0, same: -1, count: 0, unspaced: 0)
    for candidate in candidates.indices where first[candidate] > 0 {
      let same = lines.count { $0[candidate] == first[candidate] }
      let rank = (same, first[candidate], -spaced[candidate])
      if rank > (best.same, best.count, best.unspaced) { best = (candidate, rank.0, rank.1, rank.2) }
    }
    return candidates[best.candidate]
  }

  /// Ends the text, and reads a last record without a line terminator.
  ///
  /// - Throws: ``RowFileError/refused(_:)`` if the file has faults; the errors of ``consume(_:into:)``.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) -> RowFileSummary {
    if let failure { throw failure }
    try readHead(into: &sink)
    if !isOver {
      if state == .quoted || state == .formula {
        stop("the text ends inside of the quotes that line \(fieldLine) opens; close them")
      } else if state != .fieldStart || !ends.isEmpty {
        try endRecord(into: &sink)
      }
    }
    if !isOver, columns.isEmpty {
      let isFirst = (mapping?.skippedLines ?? 0) == 0
      let place = isFirst ? "the first line" : "the line after those that are passed over"
      checker.report(
        RowFault(
          .syntax, line: line,
          "the names of the columns are missing; write them into \(place)"))
    }
    checker.summary = summary
    ignoredCounts = []
    checker.nameID(uses, mapping)
    return try checker.finish(lines: byteInLine == 0 ? line - 1 : line)
  }

  /// Reports an error at this byte after which record boundaries are unknown.
  private mutating func stop(_ reason: String) {
    let number = ends.count + 1
    let name = number <= names.count ? names[number - 1] : nil
    // A message shows the beginning of the value; the value may be as long as the file.
    let text = String(decoding: bytes[(ends.last ?? 0)...].prefix(400), as: UTF8.self)
    checker.report(
      RowFault(
        .syntax, line: line, column: name, number: number, value: text.isEmpty ? nil : text,
        "\(reason) (byte \(byteInLine) of the line); what follows was not read"))
    isOver = true
  }

  private mutating func take<Sink: RowSink>(
    _ byte: UInt8, _ delimiter: UInt8, into sink: inout Sink
  ) throws(RowFileError) {
    if !mark.isEmpty {
      if byte == mark[0] {
        mark.removeFirst()
        if mark.isEmpty { noteMark() }
        return
      }
      guard mark.count == 3 else { return stop("a byte order mark that is cut; save the file as UTF-8") }
      mark = []
    }
    byteInLine += 1
    // An empty field takes room too.
    guard bytes.count + ends.count < recordByteCount else {
      return stop("a record is longer than \(recordByteCount) bytes; is a quote not closed?")
    }
    switch (state, byte) {
    case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
    case (.quoted, _):
      bytes.append(byte)
      if byte == 0x0A { beginLine() }
    case (.formula, _):
      bytes.append(byte)
      if byte == UInt8(ascii: "\"") { state = .quoteInFormula }
      if byte == 0x0A { beginLine() }
    case (.quoteInFormula, UInt8(ascii: "\"")):
      bytes.append(byte)
      state = .formula
    case (.quoteInQuoted, UInt8(ascii: "\"")):
      bytes.append(byte)
      state = .quoted
    case (.fieldStart, UInt8(ascii: "\"")) where hasQuotes:
      state = .quoted
      isQuoted = true
    case (.carriageReturn, 0x0A), (.fieldStart, 0x0A), (.plain, 0x0A), (.quoteInQuoted, 0x0A), (.quoteInFormula, 0x0A):
      try endRecord(into: &sink)
      beginLine()
      firstLine = line
      fieldLine = line
    case (.carriageReturn, _): stop("a carriage return without a line feed after it; end lines with CRLF or LF")
    case (_, 0x0D): state = .carriageReturn
    case (_, delimiter): endField()
    case (.quoteInQuoted, _):
      stop(
        "something between closing quotes and the next \(separatorName); double each quote of a text" + noQuotesAdvice)
    case (.plain, UInt8(ascii: "\"")) where hasQuotes && isFormula && readsExcelTexts:
      bytes.append(byte)
      state = .formula
    case (.plain, UInt8(ascii: "\"")) where hasQuotes:
      stop(
        "quotes inside a field that does not begin with them; put the field in quotes and double each of its own"
          + (isFormula && mapping != nil ? ", or read =\"007\" as 007 with --excel" : noQuotesAdvice))
    default:
      if byte == 0, zeroFields.last != ends.count { zeroFields.append(ends.count) }
      bytes.append(byte)
      state = .plain
    }
  }

  /// Whether the field is, so far, the sign at the beginning of a formula.
  private var isFormula: Bool { bytes.count == (ends.last ?? 0) + 1 && bytes.last == UInt8(ascii: "=") }

  /// What may be wrong with quotes if columns are mapped.
  private var noQuotesAdvice: String {
    mapping == nil ? "" : ", or say with --no-quotes that the file never puts a field in quotes"
  }

  private mutating func beginLine() {
    line += 1
    byteInLine = 0
  }

  private mutating func endField() {
    ends.append(bytes.count)
    fieldLines.append(fieldLine)
    fieldLine = line
    state = .fieldStart
  }

  private mutating func endRecord<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) {
    endField()
    defer {
      bytes.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
      fieldLines.removeAll(keepingCapacity: true)
      if !zeroFields.isEmpty { zeroFields.removeAll(keepingCapacity: true) }
      isQuoted = false
      if checker.faults.count >= RowRules.faultLimit { isOver = true }
    }
    // An empty line.
    if ends.count == 1, bytes.isEmpty, !isQuoted {
      if let problem = blankLines.add(afterRows: checker.summary.rows) {
        checker.report(RowFault(.syntax, line: line, problem))
        isOver = true
      }
      return
    }
    blankLines.end()
    if columns.isEmpty {
      if readsExcelTexts { readExcelTexts() }
      return readHeader()
    }
    if ends.count != columns.count, !(checker.rules.allowsUnevenRows && evenOut()) {
      checker.summary.rows += 1
      checker.report(
        RowFault(
          .syntax, line: firstLine,
          "\(ends.count == 1 ? "1 field" : "\(ends.count) fields") in a record where the first one names"
            + " \(columns.count); \(unevenAdvice)"))
      return
    }
    if delimiter == 0x09, line > firstLine, let opening = lineOfQuotedRows() {
      checker.summary.rows += 1
      checker.report(
        RowFault(
          .syntax, line: firstLine,
          "the quotes that line \(opening) opens hold whole rows; if the file never puts a field in quotes, say"
            + " --no-quotes"))
      return
    }
    try readRow(into: &sink)
  }

  /// Adds the fields that the record lacks at the end, or removes the empty ones that it has more. Returns whether it
  /// then has as many as there are columns.
  private mutating func evenOut() -> Bool {
    while ends.count < columns.count {
      ends.append(bytes.count)
      fieldLines.append(line)
    }
    while ends.count > columns.count, range(ends.count - 1).isEmpty {
      ends.removeLast()
      fieldLines.removeLast()
    }
    return ends.count == columns.count
  }

  /// What to do about a record with too few or too many fields.
  private var unevenAdvice: String {
    if mapping != nil, ends.count < columns.count {
      return "the line is cut, or empty fields at its end were left out, which --uneven-rows takes"
    }
    if mapping != nil, (columns.count..<ends.count).allSatisfy({ range($0).isEmpty }) {
      return "those at its end are empty, which --uneven-rows takes"
    }
    let other = mapping == nil ? "" : ", or name another character between the columns with --delimiter"
    return (hasQuotes ? "put a field with a \(separatorName) in quotes" : "no field can have a \(separatorName)")
      + other
  }

  /// Finds a field in quotes that has swallowed whole rows: one of its lines has as many tabs as a row. Returns the
  /// line on which the field begins; `nil` if no field does.
  private func lineOfQuotedRows() -> Int? {
    for index in ends.indices {
      for text in bytes[range(index)].split(separator: 0x0A).dropFirst()
      where columns.count > 1 && text.count(where: { $0 == 0x09 }) == columns.count - 1 { return fieldLines[index] }
    }
    return nil
  }

  /// The name of the separator for messages.
  var separatorName: String {
    switch delimiter {
    case UInt8(ascii: ";"): "semicolon"
    case 0x09: "tab"
    case UInt8(ascii: "|"): "vertical bar"
    default: "comma"
    }
  }

  func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  /// Replaces the cells that were written for Excel by their texts.
  private mutating func readExcelTexts() {
    var (texts, textEnds): ([UInt8], [Int]) = ([], [])
    texts.reserveCapacity(bytes.count)
    for index in ends.indices {
      RowCSV.appendText(ofExcel: bytes.span.extracting(range(index)), to: &texts)
      textEnds.append(texts.count)
    }
    bytes = texts
    ends = textEnds
  }

  /// The range of a value; an empty one for a text that counts as no value.
  private func value(_ index: Int) -> Range<Int> {
    let range = range(index)
    guard let nulls, nulls.contains(bytes[range]) else { return range }
    return range.lowerBound..<range.lowerBound
  }

  /// Whether the record has a value that says which product it is, where several rows may be one.
  private var hasGroupKey: Bool {
    guard let group = mapping?.group, let number = cells.numbers[RowFieldPlan.column(of: group)] else { return true }
    return !Blanks.trimmed(String(decoding: bytes[value(number - 1)], as: UTF8.self)).isEmpty
  }

  private static func isUTF8(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }

  /// Whether the record meets the condition of the mapping.
  private mutating func meetsCondition() -> Bool {
    filter?.reset()
    for (slot, column) in filterColumns.enumerated() {
      let range = value(column)
      filter?.set(slot, bytes, range)
    }
    let isMet = filter?.isMet() ?? true
    if let slot = filter?.misread {
      let column = filterColumns[slot]
      let text = String(decoding: bytes[range(column)], as: UTF8.self)
      checker.noteMisread(names[column], text, line: fieldLines[column])
    }
    return isMet
  }

  /// Whether the record is a relation, which the condition of the mapping is not about.
  private var isRelation: Bool {
    guard let number = cells.numbers[RowCells.typeColumn] else { return false }
    return bytes[range(number - 1)].elementsEqual("relation".utf8)
  }

  private mutating func readRow<Sink: RowSink>(into sink: inout Sink) throws(RowFileError) {
    if readsExcelTexts { readExcelTexts() }
    if filter != nil, !isRelation, !meetsCondition() {
      return checker.leaveOut(hasKey: hasGroupKey)
    }
    cells.reset()
    var isSound = true
    let isASCII = bytes.rawSpan.isASCII
    for index in columns.indices {
      let range = value(index)
      if !isASCII, !Self.isUTF8(bytes.span.extracting(range)) {
        checker.report(
          RowFault(
            .value, line: fieldLines[index], column: names[index], number: index + 1,
            value: String(decoding: bytes[range], as: UTF8.self),
            "this is not UTF-8; save the file as UTF-8, or name its encoding with --encoding"))
        isSound = false
      }
      if !zeroFields.isEmpty, zeroFields.contains(index) {
        checker.report(
          RowFault(
            .value, line: fieldLines[index], column: names[index], number: index + 1,
            value: String(decoding: bytes[range], as: UTF8.self),
            "this has a zero byte: the file is damaged, or has another encoding (--encoding)"))
        isSound = false
      }
      switch columns[index] {
      case .known(let column): cells.set(column, bytes, range, line: fieldLines[index])
      case .source(let source):
        if isSound { plan.set(source, bytes, range, line: fieldLines[index]) }
      case .unknown: if !range.isEmpty { ignoredCounts[index] += 1 }
      case .skipped: break
      }
    }
    if isSound, !codeColumns.isEmpty { setCodes() }
    if isSound {
      for (index, name) in kept {
        let range = value(index)
        if !range.isEmpty { cells.add(extra: name, bytes, range) }
      }
    }
    if !plan.isEmpty {
      for fault in plan.finish(&cells, line: firstLine) {
        checker.report(fault)
        isSound = false
      }
    }
    if isSound {
      try checker.take(cells, line: firstLine, into: &sink)
    } else {
      checker.summary.rows += 1
    }
  }

  /// Passes the cells with codes and their quantities on.
  private mutating func setCodes() {
    checker.codes?.reset()
    for (source, index) in codeColumns {
      let range = value(index)
      if range.isEmpty { continue }
      checker.codes?.add(source, String(decoding: bytes[range], as: UTF8.self), line: fieldLines[index])
    }
  }
}
