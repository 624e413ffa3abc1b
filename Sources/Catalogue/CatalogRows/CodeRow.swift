public import Barcodes

/// The five texts of a code, in the order of their indices in a row.
public enum CodeText: Int, CaseIterable, Sendable {
  case code, id, kind, productId, unit
}

/// The six fields of a code, in the order in which the server writes them.
public enum CodeField: Int, CaseIterable, Sendable {
  case id, productId, code, quantity, unit, kind

  /// The name of the field.
  public var key: String { String(describing: self) }

  /// The key in the payload, where the code is called `barcode`.
  public var payloadKey: String { self == .code ? "barcode" : key }

  /// The text that this field is, or nil for the number.
  public var text: CodeText? {
    switch self {
    case .id: .id
    case .productId: .productId
    case .code: .code
    case .unit: .unit
    case .kind: .kind
    case .quantity: nil
    }
  }

  /// The fields in alphabetical order.
  static let dumpOrder = allCases.sorted { $0.key < $1.key }
}

/// A row of the table of codes: one more code that a product is scanned by, such as that of a case, which a decoder
/// fills and an encoder reads.
public struct CodeRow: Sendable {
  /// The texts, indexed by ``CodeText``; all empty by default.
  public var texts = TextRow(count: CodeText.allCases.count)
  /// How many of the product's unit the code stands for, more than 0; 1 if the payload does not contain it.
  public var quantity = CodeRow.one
  /// The line of the file that the row is from, for messages; 0 if it is from no file. It is no field.
  package var line = 0
  /// Whether the code is from a row of its product, whose id it has even where a table of codes names products by another
  /// field. It is no field.
  package var isOfProductRow = false

  /// The quantity of a code that stands for one piece.
  public static let one = ExactDecimal(1)

  /// Creates a row with the defaults of the protocol.
  public init() {}

  /// Restores every default and keeps the capacity of the buffers.
  public mutating func reset() {
    texts.reset()
    quantity = Self.one
    line = 0
    isOfProductRow = false
  }

  /// Takes over all values of another row, and keeps the capacity of the buffers.
  public mutating func copy(_ other: borrowing CodeRow) {
    texts.copy(other.texts)
    quantity = other.quantity
    line = other.line
    isOfProductRow = other.isOfProductRow
  }

  /// Returns the text `field` as a string.
  public subscript(_ field: CodeText) -> String { texts.string(field.rawValue) }
}
