public import CatalogRows
internal import JSONFormat

/// Reads rows from a person's own file of comma-separated values, as ``RowCSV`` writes them or a spreadsheet does.
///
/// The first record names the columns, in any order; `id` has to be among them, those that are missing take their
/// defaults, and without `type` every row is a product. Records end with CRLF or LF. What cannot be taken as it is meant is a
/// fault with line, column and value: an unknown column, an invalid number, a duplicate id. All faults of the file are
/// told together, by ``finish(into:)``, up to one after which records can no longer be told apart. Memory: one record of at
/// most ``WireLimits/tokenByteCount``, and up to 64 bytes for the id of each product.
public struct CSVRows: ~Copyable {
  /// Where the next byte belongs.
  private enum State { case fieldStart, plain, quoted, quoteInQuoted, carriageReturn }

  /// What a column of the file is for.
  private enum Column {
    case known(Int)
    case unknown(String)
    /// A fault was told, and its values are passed over.
    case skipped
  }

  private let recordByteCount: Int
  private var checker: RowChecker
  private var cells = RowCells()
  private var state = State.fieldStart
  /// The columns; empty before the first record.
  private var columns: [Column] = []
  private var names: [String] = []
  /// The fields of the record so far, one after the other; where each ends, and the line where it begins.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []
  private var fieldLines: [Int] = []
  private var isQuoted = false
  private var line = 1
  /// The byte in the line, from 1.
  private var byteInLine = 0
  /// The line in which the record began, and that in which the field began.
  private var firstLine = 1
  private var fieldLine = 1
  /// Bytes of a byte order mark that may still come at the beginning.
  private var mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Whether the rest of the file is not read.
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

  /// Faults so far. Once there is one, ``finish(into:)`` throws.
  public var faultCount: Int { checker.faults.count }

  /// What was read so far; lines are counted at the end.
  public var summary: RowFileSummary { checker.summary }

  /// Takes the next bytes of the text and hands the row of every record that they complete to `sink`, if it is sound.
  ///
  /// - Throws: ``WireError/sinkFailed(_:row:)`` around what the sink throws, and the same one again from then on.
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

  /// Ends the text; a last record without a line's end is read now.
  ///
  /// - Throws: ``WireError/rowsRefused(_:)`` if anything is wrong with the file; as ``consume(_:into:)``.
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

  /// Tells what is wrong at this byte, after which records cannot be told apart.
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
    // A field without bytes takes room too.
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
