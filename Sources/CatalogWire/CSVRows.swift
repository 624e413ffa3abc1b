public import CatalogRows
internal import JSONFormat

/// A strict reader of rows from a person's own CSV file, as written by ``RowCSV`` or a spreadsheet.
///
/// The first record names the columns, in any order. `id` is required; other missing columns have default values, and
/// without `type` every row is a product. Records end with CRLF or LF. Anything that cannot be read as intended is a
/// fault with line, column and value: an unknown column, an invalid number, a duplicate id. ``finish(into:)`` reports
/// all faults of the file together, up to one after which record boundaries are unknown. Memory: one record of at most
/// ``WireLimits/tokenByteCount``, and up to 64 bytes for the id of each product.
public struct CSVRows: ~Copyable {
  /// The parser state before the next byte.
  private enum State { case fieldStart, plain, quoted, quoteInQuoted, carriageReturn }

  /// The meaning of a column of the file.
  private enum Column {
    case known(Int)
    case unknown(String)
    /// The column is faulty and reported; its values are skipped.
    case skipped
  }

  private let recordByteCount: Int
  private var checker: RowChecker
  private var cells = RowCells()
  private var state = State.fieldStart
  /// The columns; empty before the first record.
  private var columns: [Column] = []
  private var names: [String] = []
  /// The fields of the current record, concatenated; the end of each field, and the line on which it begins.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var fieldLines: [Int] = []
  private var isQuoted = false
  private var line = 1
  /// The position in the line in bytes, from 1.
  private var byteInLine = 0
  /// The line on which the record began, and the line on which the field began.
  private var firstLine = 1
  private var fieldLine = 1
  /// The bytes of a byte order mark that may still follow at the beginning.
  private var mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Whether the rest of the file is ignored.
  private var isOver = false
  private var failure: WireError?

  /// Creates a reader of a new file.
  ///
  /// - Parameters:
  ///   - rules: What the file may contain besides valid rows.
  ///   - limits: The bounds on memory. One record has at most `tokenByteCount` bytes.
  public init(rules: RowRules = RowRules(), limits: WireLimits = WireLimits()) {
    checker = RowChecker(rules)
    recordByteCount = limits.tokenByteCount
  }

  /// The number of faults so far. If it is not zero, ``finish(into:)`` throws.
  public var faultCount: Int { checker.faults.count }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary { checker.summary }

  /// Reads the next bytes of the text and passes the row of each completed record to `sink`, if it is valid.
  ///
  /// - Throws: ``WireError/sinkFailed(_:row:)`` with the error that the sink throws; the same error again for all later
  ///   calls.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    if let failure { throw failure }
    checker.summary.bytesIn += bytes.count
    do {
      for index in bytes.indices {
        if isOver { return }
        try take(bytes[index], into: &sink)
      }
    } catch {
      failure = error
      throw error
    }
  }

  /// Ends the text, and reads a last record without a line terminator.
  ///
  /// - Throws: ``WireError/rowsRefused(_:)`` if the file has faults; the errors of ``consume(_:into:)``.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> RowFileSummary {
    if let failure { throw failure }
    if !isOver {
      if state == .quoted {
        stop("the text ends inside of the quotes that line \(fieldLine) opens; close them")
      } else if state != .fieldStart || !ends.isEmpty {
        try endRecord(into: &sink)
      }
    }
    if !isOver, columns.isEmpty {
      checker.note(RowFault(.syntax, line: 1, "the names of the columns are missing; write them into the first line"))
    }
    return try checker.finish(lines: byteInLine == 0 ? line - 1 : line)
  }

  /// Reports an error at this byte after which record boundaries are unknown.
  private mutating func stop(_ reason: String) {
    let number = ends.count + 1
    let name = number <= names.count ? names[number - 1] : nil
    let text = String(decoding: bytes[(ends.last ?? 0)...], as: UTF8.self)
    checker.note(
      RowFault(
        .syntax, line: line, column: name, number: number, value: text.isEmpty ? nil : text,
        "\(reason) (byte \(byteInLine) of the line); what follows was not read"))
    isOver = true
  }

  private mutating func take<Sink: RowSink>(_ byte: UInt8, into sink: inout Sink) throws(WireError) {
    if !mark.isEmpty {
      if byte == mark[0] {
        mark.removeFirst()
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
    case (.quoteInQuoted, UInt8(ascii: "\"")):
      bytes.append(byte)
      state = .quoted
    case (.fieldStart, UInt8(ascii: "\"")):
      state = .quoted
      isQuoted = true
    case (.carriageReturn, 0x0A), (.fieldStart, 0x0A), (.plain, 0x0A), (.quoteInQuoted, 0x0A):
      try endRecord(into: &sink)
      beginLine()
      firstLine = line
      fieldLine = line
    case (.carriageReturn, _): stop("a carriage return without a line feed after it; end lines with CRLF or LF")
    case (_, 0x0D): state = .carriageReturn
    case (_, UInt8(ascii: ",")): endField()
    case (.quoteInQuoted, _): stop("something between closing quotes and the next comma; double each quote of a text")
    case (.plain, UInt8(ascii: "\"")):
      stop("quotes inside a field that does not begin with them; put the field in quotes and double each of its own")
    default:
      bytes.append(byte)
      state = .plain
    }
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

  private mutating func endRecord<Sink: RowSink>(into sink: inout Sink) throws(WireError) {
    endField()
    defer {
      bytes.removeAll(keepingCapacity: true)
      ends.removeAll(keepingCapacity: true)
      fieldLines.removeAll(keepingCapacity: true)
      isQuoted = false
    }
    // An empty line.
    if ends.count == 1, bytes.isEmpty, !isQuoted { return }
    if columns.isEmpty { return readHeader() }
    guard ends.count == columns.count else {
      checker.summary.rows += 1
      checker.note(
        RowFault(
          .syntax, line: firstLine,
          "\(ends.count == 1 ? "1 field" : "\(ends.count) fields") in a record where the first one names"
            + " \(columns.count); put a field with a comma in quotes"))
      return
    }
    try readRow(into: &sink)
  }

  private mutating func readHeader() {
    cells.numbers = Array(repeating: nil, count: RowCells.columns.count)
    for index in ends.indices {
      let name = String(decoding: bytes[range(index)], as: UTF8.self)
      names.append(name)
      columns.append(column(name, index))
    }
    if cells.numbers[RowCells.idColumn] == nil {
      let hint = names.count == 1 ? "; are the columns separated by something else than a comma?" : ""
      checker.note(RowFault(.missingId, line: firstLine, column: "id", "the column id is missing; add it" + hint))
      isOver = true
    }
  }

  private mutating func column(_ name: String, _ index: Int) -> Column {
    func fault(_ kind: RowFault.Kind, _ message: String) -> RowFault {
      RowFault(kind, line: firstLine, column: name, number: index + 1, message)
    }
    guard let known = RowCells.columns.firstIndex(where: { $0.name == name }) else {
      if checker.rules.unknownKeys == .ignore { return .unknown(name) }
      checker.note(
        fault(
          .unknownKey,
          "no row has a field of this name; \(RowChecker.advice(onUnknown: name))"))
      return .skipped
    }
    if cells.numbers[known] != nil {
      checker.note(fault(.repeatedKey, "this column is there twice; keep one of them"))
      return .skipped
    }
    cells.numbers[known] = index + 1
    return .known(known)
  }

  private func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

  private mutating func readRow<Sink: RowSink>(into sink: inout Sink) throws(WireError) {
    cells.reset()
    var isSound = true
    let isASCII = bytes.allSatisfy { $0 < 0x80 }
    for index in columns.indices {
      let range = range(index)
      if !isASCII, String(validating: bytes[range], as: UTF8.self) == nil {
        checker.note(
          RowFault(
            .value, line: fieldLines[index], column: names[index], number: index + 1,
            value: String(decoding: bytes[range], as: UTF8.self), "this is not UTF-8; save the file as UTF-8"))
        isSound = false
      }
      switch columns[index] {
      case .known(let column): cells.set(column, bytes, range, line: fieldLines[index])
      case .unknown(let name): if !range.isEmpty { checker.summary.ignore(name) }
      case .skipped: break
      }
    }
    if isSound {
      try checker.take(cells, line: firstLine, into: &sink)
    } else {
      checker.summary.rows += 1
    }
  }
}
