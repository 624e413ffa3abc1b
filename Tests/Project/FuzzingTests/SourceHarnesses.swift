import CatalogRows
import CatalogSources
import JSONFormat

@testable import RowSources
import RowFiles
import ServerAnswers

/// The JSON of a mapping: written and read again it is the same, and so is its JSON.
@Sendable func fuzzMapping(_ bytes: [UInt8]) {
  do throws(MappingFile.Invalid) {
    let mapping = try MappingFile(json: bytes)
    let json = mapping.text([])
    do throws(MappingFile.Invalid) {
      let again = try MappingFile(json: json)
      require(again == mapping, "mapping: another one when written and read")
      require(again.text([]) == json, "mapping: other JSON when written twice")
    } catch { require(false, "mapping: what was written is refused: \(error.message)") }
  } catch {
    require(!error.message.isEmpty, "mapping: refused without a reason")
  }
}

/// A mapping that an input chooses.
private func mapping(_ input: inout Input) -> RowMapping {
  var mapping = RowMapping()
  let choice = input.byte()
  mapping.isAutomatic = choice & 1 == 0
  switch choice & 3 {
  case 1: mapping.decimal = UInt8(ascii: ".")
  case 2, 3: mapping.decimal = UInt8(ascii: ",")
  default: break
  }
  if choice & 4 != 0 { mapping.trueWords = ["1", "ja", "Yes"] }
  if choice & 8 != 0 { mapping.dateFormat = choice & 16 == 0 ? "%d.%m.%Y" : "%y%m%d %H:%M:%S%%" }
  if choice & 32 != 0 { mapping.delimiter = [0x3B, 0x09, 0x7C, 0x61][Int(choice >> 6)] }
  if choice & 96 == 64 { mapping.nullWords = ["-", "N/A", "1", "\\N"] }
  let steps: [RowMapping.Step] = [.gtin, .trim, .upper, .lower, .capture("([0-9]+)"), .capture("b|x*")]
  let others: [[RowMapping.Step]] = [[.html], [.money], [.date("dd.MM.yyyy")], [.trim, .html, .money]]
  for _ in 0..<input.number(below: 4) {
    let field = ProductField.allCases[input.number(below: ProductField.allCases.count)]
    let kind = input.byte()
    if kind & 1 == 0 {
      mapping.constants[field] = ["", "1", "1,5", "ja", "01.02.2026"][Int(kind >> 1) % 5]
      continue
    }
    var rule = RowMapping.Rule(columns: [["a"], ["b", "a"], ["id", "c"], ["a", "a"]][Int(kind >> 1 & 3)])
    if kind & 8 != 0 { rule.separator = "-" }
    if kind & 12 == 4 { rule.split = "1" }
    rule.steps = kind >= 192 ? others[Int(kind >> 4 & 3)] : Array(steps.prefix(Int(kind >> 4) % 7))
    mapping.rules[field] = rule
  }
  let conditions = [
    "a != ''", "'extra col' = '1' || b > 1", "!(c is null)", "a in [1, 'x', true] and not 'type' like '%a_'",
    "b contains 'X' nocase", "nosuch == 1",
  ]
  let condition = Int(input.byte())
  if condition < conditions.count { mapping.rows = try? RowCondition(parsing: conditions[condition]) }
  return mapping
}

/// Rows of a person's own file under a mapping: pieces change nothing, and what is taken is written and read again.
@Sendable func fuzzMapped(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let choice = input.byte()
  let sizes = input.bytes(4)
  let mapping = mapping(&input)
  let format = RowFileFormat.allCases[Int(choice) % RowFileFormat.allCases.count]
  let limits = choice & 4 == 0 ? WireLimits() : WireLimits(nestingDepth: 3, tokenByteCount: 30)
  var rules = lenientRules
  rules.unknownKeys = [.keep, .ignore, .fail, .keep][Int(choice >> 3 & 3)]
  rules.readsExcelTexts = choice & 32 != 0
  if choice & 64 != 0 { rules.duplicates = .fail }
  rules.allowsUnevenRows = (sizes.last ?? 0) & 1 != 0
  rules.allowsAbsentColumns = (sizes.last ?? 0) & 2 != 0
  rules.matchesCodes = (sizes.last ?? 0) & 4 != 0
  // Columns that the rules name, so that rows are reached more often; or one JSON array.
  var text: [UInt8] = []
  if choice & 128 != 0 {
    switch format {
    case .csv: text = Array("id;a;b;c;Gewicht;extra col;b;type;\n".utf8)
    case .tsv: text = Array("id\ta\tb\tc\tGewicht\textra col\tb\ttype\t\n".utf8)
    case .ndjson: text = [UInt8(ascii: "[")]
    }
  }
  text += input.rest
  let whole = readFile(text, [], format, limits, rules, mapping)
  let pieces = readFile(text, sizes, format, limits, rules, mapping)
  require(pieces == whole, "mapped \(format): pieces of \(sizes) read differently")
  if let summary = whole.summary {
    require(summary.barcodes.total == summary.products, "mapped: the barcodes of \(summary.products) products")
    require(summary.leftOut <= summary.rows, "mapped: more rows left out than read")
  }
  if whole.failure == nil { checkWayBack(whole.lines, sizes) }
}

/// What a source was found to be, or a refusal.
///
/// Which of several reasons is found first, such as damaged zstd in damaged gzip, may depend on the pieces.
private struct SourceLog: Equatable {
  var text: [UInt8] = []
  var guess: EncodingGuess?
  var isRefused = false
}

private func readSource(_ bytes: [UInt8], _ sizes: [UInt8], _ encoding: String?) -> SourceLog {
  var log = SourceLog()
  do {
    var gzip = OptionalGzip(limits: WireLimits(unpackedByteCount: 1 << 20))
    var text = try SourceText(encoding: encoding, limits: SourceLimits(unpackedByteCount: 1 << 20))
    var pieces: [[UInt8]] = []
    inPieces(bytes, sizes) { piece in pieces.append(piece.indices.map { piece[$0] }) }
    for piece in pieces {
      log.text += try text.decode(gzip.unpack(piece))
      while text.hasMore { log.text += try text.decode([]) }
    }
    log.text += try text.decode(gzip.finish())
    log.text += try text.finish()
    log.guess = text.guess
  } catch {
    log.isRefused = true
  }
  return log
}

/// The bytes of a source: its packing and its encoding do not depend on the pieces, and what is converted is UTF-8.
@Sendable func fuzzSource(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let names = ["GB18030", "UTF-16", "WINDOWS-1252", "SHIFT_JIS", "ISO-2022-JP", "UTF-7", "UTF-32BE", "UTF-8", "nosuch"]
  let choice = Int(input.byte())
  let encoding = choice < names.count ? names[choice] : nil
  let sizes = input.bytes(4)
  let bytes = Array(input.rest)
  let whole = readSource(bytes, [], encoding)
  let pieces = readSource(bytes, sizes, encoding)
  require(pieces.isRefused == whole.isRefused, "source: pieces of \(sizes) are refused or taken")
  if !whole.isRefused {
    require(pieces == whole, "source: pieces of \(sizes) give another text or guess")
    let isConverted = encoding.map { $0 != "UTF-8" } ?? (whole.guess?.name != "UTF-8")
    if isConverted { require(String(validating: whole.text, as: UTF8.self) != nil, "source: converted, and no UTF-8") }
  }
}

/// A value of a database, of any type: valid JSON on one line. And as a row of COPY: any bytes can be taken apart, and
/// a value comes out as it went in.
@Sendable func fuzzDatabaseValue(_ bytes: [UInt8]) {
  splitCopiedRow(bytes)
  var input = Input(bytes)
  let kind = DatabaseValue.allCases[Int(input.byte()) % DatabaseValue.allCases.count]
  let value = Array(input.rest)
  var json: [UInt8] = []
  kind.append(value.span, to: &json)
  require(!json.contains(0x0A) && !json.contains(0x0D), "database: a value has an end of line")
  // Text of other encodings is refused by the reader of rows, which names its line.
  guard String(validating: value, as: UTF8.self) != nil else { return }
  let written = tokens(json)
  if kind == .json {
    // A server checks what it stores under this type.
    if let meant = tokens(value) { require(written == meant, "database: JSON means something else on one line") }
    return
  }
  require(written?.count == 1, "database: a value of type \(kind) is no JSON")
  if kind == .text { require(written?.first == value, "database: a text is another one as JSON") }
  if kind == .padded, let text = written?.first {
    let rest = value.dropFirst(text.count)
    require(value.starts(with: text) && rest.allSatisfy { $0 == 0x20 }, "database: a padded text lost more than spaces")
    require(text.last != 0x20, "database: a padded text ends with a space")
  }
}

/// Takes any bytes apart as a row of COPY, and a row that has them as a value.
private func splitCopiedRow(_ bytes: [UInt8]) {
  var row = CopiedRow()
  row.split(bytes.span)
  require(row.count > 0, "database: a row without values")
  var copied = Array("\\N\t".utf8)
  for byte in bytes {
    switch byte {
    case 0x09: copied += Array(#"\t"#.utf8)
    case 0x0A: copied += Array(#"\n"#.utf8)
    case UInt8(ascii: "\\"): copied += Array(#"\\"#.utf8)
    default: copied.append(byte)
    }
  }
  copied += Array("\tend\n".utf8)
  row.split(copied.span)
  var values: [[UInt8]?] = []
  for column in 0..<row.count {
    row.withValue(column) { value in
      guard let value else { return values.append(nil) }
      var text: [UInt8] = []
      text.append(copying: value)
      values.append(text)
    }
  }
  require(values == [nil, bytes, Array("end".utf8)], "database: a row of COPY has other values")
}

/// The texts of all tokens; `nil` for bytes that are no document.
private func tokens(_ bytes: [UInt8]) -> [[UInt8]]? {
  var tokens = JSONTokenizer()
  var texts: [[UInt8]] = []
  do throws(JSONError) {
    tokens.append(bytes.span)
    tokens.finish()
    while true {
      switch try tokens.next() {
      case .needsInput, .endOfDocument: return texts
      case .string, .number, .key:
        var text: [UInt8] = []
        tokens.withText { text.append(copying: $0) }
        texts.append(text)
      default: texts.append([])
      }
    }
  } catch { return nil }
}
