public import Barcodes
import Bytes
public import CatalogRows

/// A further code of a product: one of a row of the table of codes. A scan of it finds the product, as a scan of the
/// product's own barcode does.
public struct ProductCode: Hashable, Sendable {
  /// The id of the row at the server; may be empty. It is stored but not used for lookups.
  public var id = ""
  /// The id of the product. The catalogue may lack this product; the code matches nothing then.
  public var productId = ""
  /// The code as the server wrote it.
  public var code = ""
  /// How many of the product's unit the code stands for, more than 0.
  public var quantity = CodeRow.one
  /// The unit of what the code is on, for example "case", "inner" or "each"; may be empty.
  public var unit = ""
  /// The kind of the code, which is free text; may be empty.
  public var kind = ""

  /// Creates a code with the protocol's defaults: empty texts, and the quantity 1.
  public init() {}

  /// Copies every field of a decoded row.
  public init(_ row: borrowing CodeRow) {
    id = row[.id]
    productId = row[.productId]
    code = row[.code]
    quantity = row.quantity
    unit = row[.unit]
    kind = row[.kind]
  }

  /// Copies every field into a row, which JSON and store writers accept.
  public func fill(_ row: inout CodeRow) {
    row.reset()
    row.texts.set(CodeText.id.rawValue, id)
    row.texts.set(CodeText.productId.rawValue, productId)
    row.texts.set(CodeText.code.rawValue, code)
    row.texts.set(CodeText.unit.rawValue, unit)
    row.texts.set(CodeText.kind.rawValue, kind)
    row.quantity = quantity
  }

  /// Sets the quantity to the number that a text writes, as JSON does.
  ///
  /// - Returns: `false`, and nothing is changed, if the text is no number above 0 that is stored with all its digits.
  package mutating func setQuantity(_ text: String) -> Bool {
    guard let number = ExactDecimal(text), number.coefficient > 0 else { return false }
    quantity = number
    return true
  }

  /// The number of pieces that a scan of the code counts as: the quantity if it is whole, else 1.
  public var pieceCount: Int {
    let number = quantity.normalized
    return number.decimals == 0 && number.coefficient > 0 ? Int(clamping: number.coefficient) : 1
  }

  /// Returns whether `a` comes before `b` in the order of `dump`: by product, code and id, in byte order.
  public static func precedes(_ a: ProductCode, _ b: ProductCode) -> Bool {
    if !a.productId.isBytewiseEqual(to: b.productId) { return a.productId.isBytewiseLess(than: b.productId) }
    if !a.code.isBytewiseEqual(to: b.code) { return a.code.isBytewiseLess(than: b.code) }
    return a.id.isBytewiseLess(than: b.id)
  }

  /// All fields in an unambiguous encoding. Numbers that are equal have the same.
  var content: [UInt8] {
    var content: [UInt8] = []
    appendContent(to: &content)
    return content
  }

  /// Appends all fields in an unambiguous encoding.
  func appendContent(to bytes: inout [UInt8]) {
    for part in [id, productId, code, quantity.description, unit, kind] { bytes.putText(part.utf8.span.rawSpan) }
  }

  /// Product, code and id in an unambiguous encoding.
  var identity: [UInt8] {
    var identity: [UInt8] = []
    for part in [productId, code, id] { identity.putText(part.utf8.span.rawSpan) }
    return identity
  }
}
