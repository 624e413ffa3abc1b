/// The irregularities that are allowed in a file of rows.
public struct RowRules: Sendable, Equatable {
  /// How to treat rows that share an id.
  public enum Duplicates: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// The last one replaces the others.
    case last
  }

  /// How to treat values under unknown keys.
  public enum UnknownKeys: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// They are ignored, and counted.
    case ignore
    /// They are stored with the product, as its `extra`. A relation has none, so there they are an error.
    case keep
  }

  /// How to treat products without an id.
  public enum MissingIDs: String, Sendable, CaseIterable {
    /// They are an error.
    case fail
    /// They are left out, and counted.
    case ignore
  }

  /// What happens to rows with the id of an earlier row; an error by default.
  public var duplicates = Duplicates.fail
  /// What happens to values under unknown keys or columns; an error by default.
  public var unknownKeys = UnknownKeys.fail
  /// What happens to products without an id; an error by default.
  public var missingIDs = MissingIDs.fail
  /// Whether a product may have an empty id, as a server's answer may.
  public var allowsEmptyIds = false
  /// Whether a cell like `="007"` of a table is the text `007`, as ``RowCSV/Style/isForExcel`` writes it. With a mapping,
  /// it is also where the table begins with a byte order mark.
  public var readsExcelTexts = false
  /// Whether a row of a table may lack fields at the end, which are then empty, or have empty ones more than there are
  /// columns.
  public var allowsUnevenRows = false
  /// Whether columns that a ``RowMapping`` names may be missing. Their fields are then ones that the file says nothing
  /// about.
  public var allowsAbsentColumns = false

  /// Whether a product is the one of the catalogue that has its barcode, whatever its id. A row needs a barcode then,
  /// and no id; rows without one are left out, and counted.
  package var matchesCodes = false
  /// Whether the rows are only those that changed since the last time. Then it is no error if none of them is taken.
  package var isIncrement = false
  /// Whether a row of a code without a code is left out, and counted, as one of a table is.
  package var skipsEmptyCodes = false
  /// The number of empty lines that may follow one another; see ``BlankLines``.
  static let blankLineLimit = 1_000_000
  /// The number of faults after which the rest of a file is not read.
  static let faultLimit = 100_000

  /// Creates the strictest rules: duplicates, unknown keys and empty ids are errors.
  public init() {}
}

/// A summary of a file of rows.
public struct RowFileSummary: Sendable, Equatable {
  /// The number of lines.
  public var lines = 0
  /// The number of rows, including faulty ones.
  public var rows = 0
  /// The number of products without a fault, including duplicates.
  public var products = 0
  /// The number of relations without a fault.
  public var relations = 0
  /// The number of codes without a fault: rows of their own, and those that products have in their rows.
  public var codes = 0
  /// The number of rows that are codes.
  package var codeRows = 0
  /// The number of rows that are further ones of a product, as the mapping says (group).
  package var furtherRows = 0
  /// The number of rows of a table of codes that have no code.
  package var withoutCodes = 0
  /// What is the matter with the codes.
  package var codeHealth = BarcodeHealth()
  /// The number of products that a later one with the same id replaces.
  public var duplicates = 0
  /// The number of rows that were left out because they have no id.
  public var withoutID = 0
  /// The number of rows that were left out because they have no barcode, where that says which product a row is.
  package var withoutCode = 0
  /// The number of rows that were left out because they do not meet the condition of the mapping.
  package var leftOut = 0
  /// The number of further values in cells of which the first one counts.
  package var furtherParts = 0
  /// What is the matter with the barcodes of the products.
  package var barcodes = BarcodeHealth()
  /// The number of ignored values by unknown key; those of further keys are counted under an empty one.
  public var ignored: [String: Int] = [:]
  /// The number of products whose id begins or ends with a blank, or with a character that nobody sees.
  public var paddedIDs = 0
  /// The number of bytes of text.
  public var bytesIn = 0

  /// Creates the summary of an empty file.
  public init() {}

  /// That no row was kept, and why; `nil` if some were, or if there are none.
  package var reasonForNone: String? {
    if rows == 0 || products + relations + codes > 0 { return nil }
    let reasons = [
      (leftOut, "did not meet the condition of the mapping (rows)"), (withoutID, "had no id"),
      (withoutCode, "had no barcode"), (withoutCodes, "had no code"),
    ].filter { $0.0 > 0 }
    let none =
      rows == 1
      ? "its only row is not taken" : "none of its \(rows) rows is a \(withoutCodes > 0 ? "code" : "product") to take"
    return none + ": " + reasons.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
      + (noNumber.map { "; \($0.message)" } ?? "")
  }

  /// The first id that begins or ends with a blank, and the first value that a condition compares with a number and
  /// that is none.
  var paddedID: RowWarning?
  var noNumber: RowWarning?
  /// Of further rows of a product, the first value that is another one than in the first row, and the first product whose
  /// first row has a quantity.
  var groupDifference: RowWarning?
  var groupQuantity: RowWarning?

  /// What a person should know about rows that were taken, or left out, as the mapping says.
  package var warnings: [RowWarning] { [noNumber, paddedID, groupDifference, groupQuantity].compactMap(\.self) }

  /// The same as sentences.
  package var notices: [String] { warnings.map(\.message) }

  /// The maximum number of keys counted separately in ``ignored``.
  private static let keyLimit = 100

  /// Counts values under an unknown key that were ignored.
  mutating func ignore(_ name: String, _ count: Int = 1) {
    let key = String(name.prefix(60))
    ignored[ignored[key] != nil || ignored.count < Self.keyLimit ? key : "", default: 0] += count
  }
}
