internal import CatalogRows

/// The values of one row as written in its file, before they are interpreted as fields.
struct RowCells {
  enum Kind: UInt8, Sendable { case absent, null, text, number, yes, no, object, array }

  /// A value under an unknown key. An object and a list are shown as a sign for them.
  struct Stray {
    var key: String
    var value: String
  }

  /// The columns that rows can have: `type`, all fields of products and relations, `extra`, and then those that only a
  /// code has.
  static let columns = RowCSV.columns + [RowCSV.Column("extra")] + RowCSV.codeColumns
  static let extraColumn = RowCSV.columns.count
  /// The number of columns that products and relations have.
  static let ownCount = extraColumn + 1
  /// The column of each field of a code, in the order of `CodeField`.
  static let codeColumns = CodeField.allCases.map { field in columns.firstIndex { $0.name == field.key } ?? 0 }
  /// The sign for a list, as messages show it.
  static let list = "[…]"
  static let typeColumn = 0
  static let idColumn = columns.firstIndex { $0.name == "id" } ?? 0
  static let barcodeColumn = columns.firstIndex { $0.name == "barcode" } ?? 0
  static let productIdColumn = columns.firstIndex { $0.name == "productId" } ?? 0
  static let subProductIdColumn = columns.firstIndex { $0.name == "subProductId" } ?? 0

  /// What is known of one column: the range of its text in ``bytes``, and the line on which the value begins.
  private struct Cell {
    var kind = Kind.absent
    var start = 0
    var end = 0
    var line = 0
  }

  private var bytes: [UInt8] = []
  private var cells = [Cell](repeating: Cell(), count: columns.count)
  /// The columns that have a value in this row, so that only these are emptied for the next one.
  private var filled: [Int] = []
  /// Values under unknown keys, in the order of the file.
  private(set) var strays: [Stray] = []
  /// The fields of the product beyond the 25.
  var extra = ExtraMembers()
  /// Columns that occurred a second time.
  private(set) var repeated: [Int] = []
  /// The number of each column in the file; empty for a format without columns.
  var numbers: [Int?] = []

  /// Begins a row.
  mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    for column in filled { cells[column] = Cell() }
    filled.removeAll(keepingCapacity: true)
    if !strays.isEmpty { strays.removeAll(keepingCapacity: true) }
    if !extra.isEmpty { extra.removeAll() }
    if !repeated.isEmpty { repeated.removeAll(keepingCapacity: true) }
  }

  /// Sets a value: its text, or the beginning of a value that is not a string.
  mutating func set(_ column: Int, _ kind: Kind, _ text: Span<UInt8>, line: Int) {
    guard cells[column].kind == .absent else { return repeated.append(column) }
    let start = bytes.count
    bytes.append(copying: text)
    cells[column] = Cell(kind: kind, start: start, end: bytes.count, line: line)
    filled.append(column)
  }

  /// Sets a string: the bytes of `source` in `range`.
  mutating func set(_ column: Int, _ source: [UInt8], _ range: Range<Int>, line: Int) {
    set(column, .text, source.span.extracting(range), line: line)
  }

  /// Adds a field beyond the 25, whose value is text.
  mutating func add(extra name: [UInt8], _ source: [UInt8], _ range: Range<Int>) {
    extra.add(name, text: source.span.extracting(range))
  }

  /// Marks the column `extra` as an object, whose members are in ``extra``.
  mutating func setExtra(line: Int) {
    guard cells[Self.extraColumn].kind == .absent else { return repeated.append(Self.extraColumn) }
    cells[Self.extraColumn] = Cell(kind: .object, line: line)
    filled.append(Self.extraColumn)
  }

  /// Sets a value under an unknown key.
  mutating func set(unknown key: String, _ value: String) { strays.append(Stray(key: key, value: value)) }

  func kind(_ column: Int) -> Kind { cells[column].kind }

  /// Whether the row has the column, be it empty, or the table has it.
  func isGiven(_ column: Int) -> Bool {
    cells[column].kind != .absent || column < numbers.count && numbers[column] != nil
  }

  /// Whether the column has no data to lose: no value, `null`, or an empty string.
  func isEmpty(_ column: Int) -> Bool {
    switch cells[column].kind {
    case .absent, .null: true
    case .text: range(column).isEmpty
    default: false
    }
  }

  private func range(_ column: Int) -> Range<Int> { cells[column].start..<cells[column].end }

  func text(_ column: Int) -> String { String(decoding: bytes[range(column)], as: UTF8.self) }

  func withText(_ column: Int, _ body: (Span<UInt8>) -> Void) {
    body(bytes.span.extracting(range(column)))
  }

  /// The value as an integer, from a number or a numeric string; `nil` for anything else.
  func integer(_ column: Int) -> Int64? {
    guard kind(column) == .number || kind(column) == .text else { return nil }
    return NumberText.integer(bytes.span.extracting(range(column)))
  }

  /// The value as a finite number, from a number or a numeric string; `nil` for anything else.
  func double(_ column: Int) -> Double? {
    guard kind(column) == .number || kind(column) == .text else { return nil }
    return NumberText.double(bytes.span.extracting(range(column)))
  }

  /// The value as a Boolean, also from the words for true and false that spreadsheets write, in any case and language.
  func boolean(_ column: Int) -> Bool? {
    switch kind(column) {
    case .yes: return true
    case .no: return false
    case .text:
      // Most are in small letters.
      let text = bytes[range(column)]
      if text.elementsEqual("true".utf8) { return true }
      if text.elementsEqual("false".utf8) { return false }
      return TruthWords.value(of: String(decoding: text, as: UTF8.self))
    default: return nil
    }
  }

  /// Creates a fault of a value of this row.
  func fault(_ kind: RowFault.Kind, _ column: Int, line: Int, _ message: String) -> RowFault {
    RowFault(
      kind, line: cells[column].kind == .absent ? line : cells[column].line, column: Self.columns[column].name,
      number: numbers.isEmpty ? nil : numbers[column], value: isEmpty(column) ? nil : text(column), message)
  }
}
