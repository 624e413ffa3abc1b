internal import CatalogRows

/// The values of one row as its file has them, before anything is known about their fields.
struct RowCells {
  enum Kind: UInt8, Sendable { case absent, null, text, number, yes, no, object, array }

  /// A value under a key that no row has.
  struct Stray {
    var key: String
    var value: String
  }

  /// The columns that rows can have: `type`, and all fields.
  static let columns = RowCSV.columns
  static let typeColumn = 0
  static let idColumn = columns.firstIndex { $0.name == "id" } ?? 0
  static let productIdColumn = columns.firstIndex { $0.name == "productId" } ?? 0
  static let subProductIdColumn = columns.firstIndex { $0.name == "subProductId" } ?? 0

  private var bytes: [UInt8] = []
  private var kinds = [Kind](repeating: .absent, count: columns.count)
  private var starts = [Int](repeating: 0, count: columns.count)
  private var ends = [Int](repeating: 0, count: columns.count)
  private var lines = [Int](repeating: 0, count: columns.count)
  /// Values under unknown keys, in the order of the file.
  private(set) var strays: [Stray] = []
  /// Columns that came a second time.
  private(set) var repeated: [Int] = []
  /// By column, its number in the file; empty for a file that has no columns.
  var numbers: [Int?] = []

  /// Begins a row.
  mutating func reset() {
    bytes.removeAll(keepingCapacity: true)
    for column in kinds.indices {
      kinds[column] = .absent
      starts[column] = 0
      ends[column] = 0
    }
    strays.removeAll(keepingCapacity: true)
    repeated.removeAll(keepingCapacity: true)
  }

  /// Sets a value: its text, or the beginning of what is no text.
  mutating func set(_ column: Int, _ kind: Kind, _ text: Span<UInt8>, line: Int) {
    guard kinds[column] == .absent else { return repeated.append(column) }
    kinds[column] = kind
    starts[column] = bytes.count
    bytes.append(copying: text)
    ends[column] = bytes.count
    lines[column] = line
  }

  /// Sets a text: the bytes of `source` in `range`.
  mutating func set(_ column: Int, _ source: [UInt8], _ range: Range<Int>, line: Int) {
    set(column, .text, source.span.extracting(range), line: line)
  }

  /// Sets a value under a key that no row has.
  mutating func set(unknown key: String, _ value: String) { strays.append(Stray(key: key, value: value)) }

  func kind(_ column: Int) -> Kind { kinds[column] }

  /// Whether there is nothing to lose: no value, `null`, or an empty text.
  func isEmpty(_ column: Int) -> Bool {
    switch kinds[column] {
    case .absent, .null: true
    case .text: starts[column] == ends[column]
    default: false
    }
  }

  func text(_ column: Int) -> String { String(decoding: bytes[starts[column]..<ends[column]], as: UTF8.self) }

  func withText(_ column: Int, _ body: (Span<UInt8>) -> Void) {
    body(bytes.span.extracting(starts[column]..<ends[column]))
  }

  /// The value as a whole number, from a number or from a text that is one; `nil` for anything else.
  func integer(_ column: Int) -> Int64? {
    guard kinds[column] == .number || kinds[column] == .text else { return nil }
    return NumberText.integer(bytes.span.extracting(starts[column]..<ends[column]))
  }

  /// The value as a finite number, as ``integer(_:)``.
  func double(_ column: Int) -> Double? {
    guard kinds[column] == .number || kinds[column] == .text else { return nil }
    return NumberText.double(bytes.span.extracting(starts[column]..<ends[column]))
  }

  /// The value as a Boolean, also from the texts `true` and `false` in any case: spreadsheets write capitals.
  func boolean(_ column: Int) -> Bool? {
    switch kinds[column] {
    case .yes: return true
    case .no: return false
    case .text:
      switch text(column).lowercased() {
      case "true": return true
      case "false": return false
      default: return nil
      }
    default: return nil
    }
  }

  /// A fault of a value of this row.
  func fault(_ kind: RowFault.Kind, _ column: Int, line: Int, _ message: String) -> RowFault {
    RowFault(
      kind, line: kinds[column] == .absent ? line : lines[column], column: Self.columns[column].name,
      number: numbers.isEmpty ? nil : numbers[column], value: isEmpty(column) ? nil : text(column), message)
  }
}
