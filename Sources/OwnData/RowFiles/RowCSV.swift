public import CatalogRows
internal import JSONFormat

/// An encoder of rows as comma-separated values (RFC 4180): CRLF after each record, quotes where they are needed.
///
/// One table holds products and relations, so one file holds a catalogue: the column `type` distinguishes them, then
/// come the 25 fields of a product in alphabetical order, then the two ids that only a relation has. Fields that a row
/// does not have are empty.
public enum RowCSV {
  /// The separator of fields in CSV.
  public static let comma = UInt8(ascii: ",")

  /// How cells are written.
  public struct Style: Sendable {
    /// The separator of fields.
    public var delimiter = comma
    /// Whether the file is for Excel and other programs that take `007` for a number and `=1+1` for a formula: texts
    /// that they would change are written as formulas with a constant text, `="007"`.
    public var isForExcel = false
    /// Whether the table has the column `extra` after all others, with the fields beyond the 25 as JSON.
    public var hasExtra = false
    /// Whether the table has the columns `code`, `quantity` and `kind` after all others, and codes as rows.
    public var hasCodes = false

    /// Creates the style of RFC 4180.
    public init() {}
  }

  /// Appends the record with the names of the columns.
  public static func appendHeader(to csv: inout [UInt8], style: Style = Style()) {
    for (index, column) in columns.enumerated() {
      if index > 0 { csv.append(style.delimiter) }
      csv += column.name.utf8
    }
    if style.hasExtra { csv += [style.delimiter] + "extra".utf8 }
    if style.hasCodes { for column in codeColumns { csv += [style.delimiter] + column.name.utf8 } }
    end(&csv)
  }

  /// Appends a product.
  public static func append(_ row: borrowing ProductRow, to csv: inout [UInt8], style: Style = Style()) {
    csv += "product".utf8
    for column in columns.dropFirst() {
      csv.append(style.delimiter)
      if let field = column.product { append(field, of: row, to: &csv, style) }
    }
    if style.hasExtra {
      csv.append(style.delimiter)
      row.texts.withText(ProductRow.extraText) { append($0, to: &csv, style) }
    }
    skipCodes(&csv, style)
    end(&csv)
  }

  /// Appends the cells of a row that is no code in the columns that only a code has.
  private static func skipCodes(_ csv: inout [UInt8], _ style: Style) {
    if style.hasCodes { for _ in codeColumns { csv.append(style.delimiter) } }
  }

  /// Appends a code, in a table with ``Style/hasCodes``.
  public static func append(_ row: borrowing CodeRow, to csv: inout [UInt8], style: Style = Style()) {
    csv += "code".utf8
    for column in columns.dropFirst() {
      csv.append(style.delimiter)
      if let field = column.code { append(field, of: row, to: &csv, style) }
    }
    if style.hasExtra { csv.append(style.delimiter) }
    for column in codeColumns {
      csv.append(style.delimiter)
      if let field = column.code { append(field, of: row, to: &csv, style) }
    }
    end(&csv)
  }

  private static func append(_ field: CodeField, of row: borrowing CodeRow, to csv: inout [UInt8], _ style: Style) {
    if let text = field.text {
      row.texts.withText(text.rawValue) { append($0, to: &csv, style) }
    } else {
      csv += row.quantity.description.utf8
    }
  }

  /// Appends a record with some fields of a product, in this order, and nothing else: no type, and no field of a
  /// relation.
  public static func append(
    _ row: borrowing ProductRow, _ fields: [ProductField], to csv: inout [UInt8], style: Style = Style()
  ) {
    let start = csv.count
    for (index, field) in fields.enumerated() {
      if index > 0 { csv.append(style.delimiter) }
      append(field, of: row, to: &csv, style)
    }
    end(&csv, from: start)
  }

  /// Appends a record of texts.
  public static func append(_ cells: [String], to csv: inout [UInt8], style: Style = Style()) {
    let start = csv.count
    for (index, cell) in cells.enumerated() {
      if index > 0 { csv.append(style.delimiter) }
      append(cell.utf8.span, to: &csv, style)
    }
    end(&csv, from: start)
  }

  /// A cell of a record that is neither a product nor a relation.
  package enum Cell: Sendable {
    case text(String)
    /// A number, or a word such as `true`. A spreadsheet takes it for what it is.
    case number(String)
  }

  /// Appends a record of texts and numbers.
  package static func append(_ cells: [Cell], to csv: inout [UInt8], style: Style) {
    let start = csv.count
    for (index, cell) in cells.enumerated() {
      if index > 0 { csv.append(style.delimiter) }
      switch cell {
      case .text(let text): append(text.utf8.span, to: &csv, style)
      case .number(let number): csv += number.utf8
      }
    }
    end(&csv, from: start)
  }

  /// The byte order mark of UTF-8, which tells spreadsheets the encoding of a file.
  package static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Appends a relation.
  public static func append(_ row: borrowing RelationRow, to csv: inout [UInt8], style: Style = Style()) {
    csv += "relation".utf8
    for column in columns.dropFirst() {
      csv.append(style.delimiter)
      guard let field = column.relation else { continue }
      if let text = field.text {
        row.texts.withText(text.rawValue) { append($0, to: &csv, style) }
      } else {
        csv += row.groupNum.description.utf8
      }
    }
    if style.hasExtra { csv.append(style.delimiter) }
    skipCodes(&csv, style)
    end(&csv)
  }

  // MARK: - Parts

  /// A column, and the fields that it contains. `type` has neither.
  struct Column: Sendable {
    var name: String
    var product: ProductField?
    var relation: RelationField?
    var code: CodeField?

    init(_ name: String) {
      self.name = name
      product = ProductField.allCases.first { $0.key == name }
      relation = RelationField.allCases.first { $0.key == name }
      code = CodeField.allCases.first { $0.key == name }
    }
  }

  /// All columns, in the order in which they are written.
  static let columns =
    (["type"] + ProductField.allCases.map(\.key).sorted() + ["productId", "subProductId"]).map(Column.init)

  /// The columns that only a code has, in the order in which they are written.
  static let codeColumns = ["code", "quantity", "kind"].map(Column.init)

  private static func append(
    _ field: ProductField, of row: borrowing ProductRow, to csv: inout [UInt8], _ style: Style
  ) {
    if let text = field.text {
      row.texts.withText(text.rawValue) { append($0, to: &csv, style) }
    } else {
      csv += number(field, of: row).utf8
    }
  }

  /// Ends the record that begins at `start`. One empty cell is written as `""`, because readers skip an empty line.
  static func end(_ csv: inout [UInt8], from start: Int) {
    if csv.count == start { csv += "\"\"".utf8 }
    end(&csv)
  }

  /// Ends a record that has at least one byte.
  static func end(_ csv: inout [UInt8]) {
    csv.append(0x0D)
    csv.append(0x0A)
  }

  private static func append(_ text: Span<UInt8>, to csv: inout [UInt8], _ style: Style) {
    appendCell(text, to: &csv, style)
  }

  /// Appends a cell.
  ///
  /// - Parameter isQuoted: Whether it has quotes even where it needs none.
  static func appendCell(_ text: Span<UInt8>, to csv: inout [UInt8], _ style: Style, isQuoted: Bool = false) {
    if style.isForExcel, isChangedByExcel(text) { return appendForExcel(text, to: &csv, style) }
    quote(text, to: &csv, style.delimiter, always: isQuoted)
  }

  /// The longest text that a formula can have as a constant.
  private static let longestConstant = 255

  /// Appends a text as a formula; one that is too long for that, after an apostrophe.
  private static func appendForExcel(_ text: Span<UInt8>, to csv: inout [UInt8], _ style: Style) {
    var cell: [UInt8] = []
    if text.count > longestConstant {
      cell.append(UInt8(ascii: "'"))
      cell.append(copying: text)
    } else {
      cell += "=\"".utf8
      for index in text.indices {
        if text[index] == UInt8(ascii: "\"") { cell.append(UInt8(ascii: "\"")) }
        cell.append(text[index])
      }
      cell.append(UInt8(ascii: "\""))
    }
    quote(cell.span, to: &csv, style.delimiter)
  }

  /// Appends the text of a cell to `text`: of `="007"` the constant, of one after an apostrophe that is too long for a
  /// constant the rest, of any other cell the cell itself. So a table that is written for Excel is read back as it was.
  static func appendText(ofExcel cell: Span<UInt8>, to text: inout [UInt8]) {
    let quote = UInt8(ascii: "\"")
    if cell.count > longestConstant + 1, cell[0] == UInt8(ascii: "'"), isChangedByExcel(cell.extracting(1..<cell.count))
    {
      return text.append(copying: cell.extracting(1..<cell.count))
    }
    guard cell.count > 2, cell[0] == UInt8(ascii: "="), cell[1] == quote, cell[cell.count - 1] == quote else {
      return text.append(copying: cell)
    }
    let start = text.count
    var index = 2
    while index < cell.count - 1 {
      if cell[index] == quote {
        // A quote stands twice in a constant; otherwise this is some other formula.
        guard index + 1 < cell.count - 1, cell[index + 1] == quote else {
          text.removeSubrange(start...)
          return text.append(copying: cell)
        }
        index += 1
      }
      text.append(cell[index])
      index += 1
    }
  }

  /// Whether a spreadsheet would take a text for a formula, a number, a date or a truth value: its first character other
  /// than blanks is `=`, `+`, `-`, `@`, an apostrophe or a full-width form of them, it begins with a tab or the end of a
  /// line, it is `TRUE`, `FALSE` or an error such as `#N/A`, or it has a digit and no other words than those of dates,
  /// times and amounts.
  private static func isChangedByExcel(_ text: Span<UInt8>) -> Bool {
    guard text.count > 0 else { return false }
    if [0x09, 0x0A, 0x0D].contains(text[0]) || beginsFormula(text) { return true }
    // Longer ones are no dates, and most of those are names.
    if text.count > longestNumber { return isNumber(text) }
    let string = String(copying: text)
    if string.hasPrefix("#") || ["TRUE", "FALSE"].contains(string.trimmed.uppercased()) { return true }
    var hasDigit = false
    var word = ""
    for character in string {
      if character.isLetter, !datesOfChinese.contains(character) {
        word.append(character)
        continue
      }
      if character.isNumber { hasDigit = true }
      if !isOfDate(word) { return false }
      word = ""
    }
    return hasDigit && isOfDate(word)
  }

  /// The longest text in bytes that is looked at for a date.
  private static let longestNumber = 64
  /// The characters of dates and times in Chinese and Japanese.
  private static let datesOfChinese: Set<Character> = ["年", "月", "日", "号", "时", "時", "分", "秒", "点"]
  /// How names of months begin, in languages of spreadsheets, and other words of dates, times and numbers.
  private static let months: Set<String> = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mai", "mrz", "mär", "okt",
    "dez", "fév", "fev", "avr", "jui", "aoû", "aou", "déc", "ene", "abr", "ago", "dic", "gen", "mag", "giu", "lug",
    "set", "ott", "mrt", "mei", "maa", "out",
  ]
  private static let wordsOfNumbers: Set<String> = ["", "e", "am", "pm", "上午", "下午", "午前", "午後"]

  /// Whether a word may be a part of a date, a time or a number. One too many does no harm.
  private static func isOfDate(_ word: String) -> Bool {
    let word = word.lowercased()
    return wordsOfNumbers.contains(word) || word.count <= 10 && months.contains(String(word.prefix(3)))
  }

  /// Whether a text has a digit and no letter other than e.
  private static func isNumber(_ text: Span<UInt8>) -> Bool {
    var hasDigit = false
    for index in text.indices {
      switch text[index] {
      case 0x30...0x39: hasDigit = true
      case 0x45, 0x65: continue
      case 0x41...0x5A, 0x61...0x7A, 0x80...0xFF: return false
      default: continue
      }
    }
    return hasDigit
  }

  /// Whether the first character of a text other than blanks begins a formula.
  private static func beginsFormula(_ text: Span<UInt8>) -> Bool {
    // Most texts begin with a letter or a digit.
    switch text[0] {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: return false
    default: break
    }
    let first = String(copying: text).unicodeScalars.first { !Blanks.contains($0) }
    return first.map { "=+-@'\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}\u{FF07}\u{2212}".unicodeScalars.contains($0) } ?? false
  }

  /// Whether a word, which is no text of a person's own, begins a formula. A number does not, whatever its sign.
  static func beginsFormula(_ word: [UInt8]) -> Bool {
    guard let first = word.first else { return false }
    let isNumber =
      word.dropFirst().contains { 0x30...0x39 ~= $0 } && word.allSatisfy { "0123456789.,eE+-".utf8.contains($0) }
    return !isNumber && ([0x09, 0x0A, 0x0D].contains(first) || beginsFormula(word.span))
  }

  private static func quote(_ text: Span<UInt8>, to csv: inout [UInt8], _ delimiter: UInt8, always: Bool = false) {
    var needsQuotes = always
    for index in text.indices {
      switch text[index] {
      // Readers take a zero byte outside of quotes for a damaged file.
      case delimiter, UInt8(ascii: "\""), 0x0A, 0x0D, 0: needsQuotes = true
      default: continue
      }
    }
    if !needsQuotes {
      csv.append(copying: text)
      return
    }
    csv.append(UInt8(ascii: "\""))
    for index in text.indices {
      if text[index] == UInt8(ascii: "\"") { csv.append(UInt8(ascii: "\"")) }
      csv.append(text[index])
    }
    csv.append(UInt8(ascii: "\""))
  }

  /// A number or Boolean as text.
  static func number(_ field: ProductField, of row: borrowing ProductRow) -> String {
    switch field.slot {
    case .integer(let slot): row.integers[slot].description
    case .flag(let slot): (row.flags >> UInt32(slot) & 1 == 1).description
    case .double(let slot): text(row.doubles[slot])
    case .text: preconditionFailure("\(field) is a text")
    }
  }

  /// The shortest text that reads back as the same value; empty for a value that is not finite, as JSON has no text for
  /// it.
  private static func text(_ value: Double) -> String { value.isFinite ? value.description : "" }
}
