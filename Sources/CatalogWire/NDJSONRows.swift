public import CatalogRows
internal import JSONFormat

/// A strict reader of rows from a person's own NDJSON file, with one JSON object per line.
///
/// The rules are those of ``CSVRows``: nothing is lost silently. Reading continues after a faulty line;
/// ``finish(into:)`` reports all faults of the file together. Lines of white space are skipped. Memory: one chunk, one
/// line of at most ``WireLimits/tokenByteCount``, and up to 64 bytes for the id of each product. Use ``RowLines`` to
/// read a server's rows.
public struct NDJSONRows: ~Copyable {
  /// Rows are nested one level deep.
  private static let rowDepth = 1

  private let lineByteCount: Int
  private var splitter: LineSplitter
  private var tokens: JSONTokenizer
  private var matcher = KeyMatcher(RowCells.columns.map(\.name))
  private var cells = RowCells()
  private var checker: RowChecker
  /// Whether the rest of the file is ignored.
  private var isOver = false
  private var failure: WireError?

  /// Creates a reader of a new file.
  ///
  /// - Parameters:
  ///   - rules: What the file may contain besides valid rows.
  ///   - limits: The bounds on memory. One line has at most `tokenByteCount` bytes.
  public init(rules: RowRules = RowRules(), limits: WireLimits = WireLimits()) {
    checker = RowChecker(rules)
    lineByteCount = limits.tokenByteCount
    splitter = LineSplitter(lineByteCount: limits.tokenByteCount)
    tokens = JSONTokenizer(
      limits: JSONLimits(nestingDepth: limits.nestingDepth, tokenByteCount: limits.tokenByteCount))
  }

  /// The number of faults so far. If it is not zero, ``finish(into:)`` throws.
  public var faultCount: Int { checker.faults.count }

  /// The summary of what has been read so far. Lines are counted at the end.
  public var summary: RowFileSummary { checker.summary }

  /// Reads the next bytes of the text and passes the row of each completed line to `sink`, if it is valid.
  ///
  /// - Throws: ``WireError/sinkFailed(_:row:)`` with the error that the sink throws; the same error again for all later
  ///   calls.
  public mutating func consume<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    if let failure { throw failure }
    checker.summary.bytesIn += bytes.count
    do { try split(bytes, into: &sink) } catch {
      failure = error
      throw error
    }
  }

  /// Ends the text, and reads a last line without a line feed.
  ///
  /// - Throws: ``WireError/rowsRefused(_:)`` if the file has faults; the errors of ``consume(_:into:)``.
  public mutating func finish<Sink: RowSink>(into sink: inout Sink) throws(WireError) -> RowFileSummary {
    if let failure { throw failure }
    if !isOver, splitter.finish() {
      let line = splitter.takeCutLine()
      try read(line.span, into: &sink)
    }
    return try checker.finish(lines: splitter.lineCount)
  }

  private mutating func split<Sink: RowSink>(_ bytes: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    var start = 0
    while !isOver {
      let line: LineSplitter.Line?
      do { line = try splitter.next(in: bytes, from: &start) } catch {
        isOver = true
        return note(
          "longer than \(lineByteCount) bytes; end each line with a line feed", line: splitter.lineCount + 1)
      }
      switch line {
      case .inChunk(let range): try read(bytes.extracting(range), into: &sink)
      case .cut:
        let line = splitter.takeCutLine()
        try read(line.span, into: &sink)
        splitter.reuse(line)
      case nil: return
      }
    }
  }

  private mutating func note(_ message: String, line: Int, _ value: String? = nil) {
    checker.note(RowFault(.syntax, line: line, value: value, message))
  }

  private mutating func read<Sink: RowSink>(_ line: Span<UInt8>, into sink: inout Sink) throws(WireError) {
    let number = splitter.lineCount
    // The file may begin with a byte order mark.
    let hasMark = number == 1 && line.count >= 3 && line[0] == 0xEF && line[1] == 0xBB && line[2] == 0xBF
    let line = line.extracting((hasMark ? 3 : 0)..<line.count)
    if LineSplitter.isBlank(line) { return }
    cells.reset()
    let found: JSONKind?
    do { found = try readCells(line, number) } catch {
      checker.summary.rows += 1
      let hint = Self.isCompressed(line) ? "; this looks like a spreadsheet or an archive, save it as CSV" : ""
      return note(
        "this is not JSON (\(error))\(hint); correct or remove the line", line: number, snippet(line))
    }
    if let found {
      checker.summary.rows += 1
      return note(
        "this is \(found.rawValue) instead of an object; write each row as an object on one line of its own",
        line: number, snippet(line))
    }
    if tokens.replacedSurrogates > 0 {
      note(
        "a \\u escape is half of a character (a lone surrogate), which no text can hold; write the whole",
        line: number)
    }
    try checker.take(cells, line: number, into: &sink)
  }

  /// Reads the values of the object in `line`; returns the kind of value found if it is not an object.
  private mutating func readCells(_ line: Span<UInt8>, _ number: Int) throws(JSONError) -> JSONKind? {
    tokens.reset()
    tokens.append(line)
    tokens.finish()
    matcher.restart()
    let first = try tokens.next()
    guard first == .beginObject else { return JSONKind(first) ?? .null }
    /// The column of the next value.
    var column: Int?
    var stray = ""
    while true {
      let token = try tokens.next()
      switch token {
      case .key:
        guard tokens.depth == Self.rowDepth else { continue }
        column = matcher.match(tokens.textByteCount, tokens.textWords)
        if column == nil { stray = tokens.textString }
      case .string, .number, .true, .false, .null, .beginObject, .beginArray:
        let isOpening = token == .beginObject || token == .beginArray
        guard tokens.depth == Self.rowDepth + (isOpening ? 1 : 0) else { continue }
        if let column {
          set(column, token, number)
        } else {
          cells.set(unknown: stray, shown(token))
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
    let text = Array(shown(token).utf8)
    cells.set(column, kind, text.span, line: number)
  }

  /// A value in the form that messages show.
  private func shown(_ token: JSONToken) -> String {
    switch token {
    case .string, .number: tokens.textString
    case .true: "true"
    case .false: "false"
    case .beginObject: "{…}"
    case .beginArray: "[…]"
    default: ""
    }
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
