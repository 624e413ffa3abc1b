import CatalogRows
import RowFiles
import ServerAnswers

/// Rows of a file, and what was said about it; `nil` rows for a file that is refused.
private struct Rows: Equatable {
  var lines: [[UInt8]] = []
  var summary: RowLines.Summary?
  var failure: String?
}

private func readLines(_ bytes: [UInt8], _ sizes: [UInt8], _ kind: RowLines.Kind, _ limits: WireLimits) -> Rows {
  var sink = Collector()
  var rows = Rows()
  do throws(RowFileError) {
    var reader = RowLines(kind: kind, limits: limits)
    try inPieces(bytes, sizes) { (piece) throws(RowFileError) in try reader.consume(piece, into: &sink) }
    rows.summary = try reader.finish(into: &sink)
  } catch {
    rows.failure = error.description
  }
  rows.lines = sink.lines
  return rows
}

/// Rows of a person's own file, and what was said about it; `nil` rows for a file that is refused.
struct FileRows: Equatable {
  var lines: [[UInt8]] = []
  var summary: RowFileSummary?
  var failure: String?
}

func readFile(
  _ bytes: [UInt8], _ sizes: [UInt8], _ format: RowFileFormat, _ limits: WireLimits, _ rules: RowRules,
  _ mapping: RowMapping? = nil
) -> FileRows {
  var sink = Collector()
  var rows = FileRows()
  do throws(RowFileError) {
    var reader = RowFileReader(format, rules: rules, limits: limits, mapping: mapping)
    try inPieces(bytes, sizes) { (piece) throws(RowFileError) in try reader.consume(piece, into: &sink) }
    rows.summary = try reader.finish(into: &sink)
  } catch {
    rows.failure = error.description
  }
  rows.lines = sink.lines
  return rows
}

/// Rules under which every row that a catalogue may hold is taken.
var lenientRules: RowRules {
  var rules = RowRules()
  rules.duplicates = .last
  rules.allowsEmptyIds = true
  return rules
}

/// Lines of JSON: whatever the pieces, and written as lines or as CSV and read again, they are the same rows.
@Sendable func fuzzLines(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let sizes = input.bytes(4)
  let kind: RowLines.Kind = [.tagged, .products, .relations, .codes][Int(choice & 3)]
  let limits = choice & 4 == 0 ? WireLimits() : WireLimits(nestingDepth: 2, tokenByteCount: 60)
  let text = Array(input.rest)
  let whole = readLines(text, [], kind, limits)
  require(readLines(text, sizes, kind, limits) == whole, "lines: pieces of \(sizes) read differently")
  if let summary = whole.summary {
    require(summary.products + summary.relations + summary.codes == whole.lines.count, "rows: the count is wrong")
  }
  checkWayBack(whole.lines, sizes)
  // A person's own file of the same bytes is taken or refused, whatever the pieces.
  let own = readFile(text, [], .ndjson, limits, lenientRules)
  require(readFile(text, sizes, .ndjson, limits, lenientRules) == own, "own lines: pieces of \(sizes) read differently")
}

/// Comma-separated values, by the same rules.
@Sendable func fuzzCSV(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let sizes = input.bytes(4)
  let limits = choice & 4 == 0 ? WireLimits() : WireLimits(tokenByteCount: 30)
  // Columns that are known, so that rows are reached more often.
  let header = choice & 1 == 0 ? [] : Array("type,id,name,groupNum,weight,isSaleProduct,productId,barcode\n".utf8)
  let text = header + input.rest
  var rules = lenientRules
  if choice & 8 != 0 { rules = RowRules() }
  let whole = readFile(text, [], .csv, limits, rules)
  require(readFile(text, sizes, .csv, limits, rules) == whole, "CSV: pieces of \(sizes) read differently")
  // Rows of a file that is refused do not count.
  if whole.failure == nil { checkWayBack(whole.lines, sizes) }
}

func checkWayBack(_ lines: [[UInt8]], _ sizes: [UInt8]) {
  guard !lines.isEmpty else { return }
  let dump = Array(lines.joined(separator: [0x0A]))
  let again = readLines(dump, sizes, .tagged, WireLimits())
  require(again.lines == lines && again.failure == nil, "rows: others when written as lines and read")
  require(again.summary?.defaulted.total == 0, "rows: what was written has fields of the wrong type")
  var csv = CSVWriter()
  var reader = RowLines(kind: .tagged)
  do throws(RowFileError) {
    try reader.consume(dump.span, into: &csv)
    _ = try reader.finish(into: &csv)
  } catch { fatalError("rows: lines read once cannot be read twice: \(error)") }
  // Rows of codes follow stricter rules in a person's own file: a code has a text and a product.
  if csv.hasIncompleteCodes { return }
  let table = readFile(csv.bytes, sizes, .csv, WireLimits(), lenientRules)
  require(table.lines == lines && table.failure == nil, "rows: others when written as CSV and read")
  let own = readFile(dump, sizes, .ndjson, WireLimits(), lenientRules)
  require(own.lines == lines && own.failure == nil, "rows: others when a dump is imported")
}

private struct CSVWriter: RowSink {
  private let style: RowCSV.Style
  var bytes: [UInt8] = []
  /// Whether a code has no product, or no letter and no digit, so that it may be a blank text.
  var hasIncompleteCodes = false

  init() {
    var style = RowCSV.Style()
    style.hasExtra = true
    style.hasCodes = true
    self.style = style
    RowCSV.appendHeader(to: &bytes, style: style)
  }

  mutating func product(_ row: borrowing ProductRow) { RowCSV.append(row, to: &bytes, style: style) }
  mutating func relation(_ row: borrowing RelationRow) { RowCSV.append(row, to: &bytes, style: style) }
  mutating func code(_ row: borrowing CodeRow) {
    let isBlank = !row[.code].contains { $0.isLetter || $0.isNumber }
    if isBlank || row[.productId].isEmpty { hasIncompleteCodes = true }
    RowCSV.append(row, to: &bytes, style: style)
  }
}
