package import Barcodes
package import CatalogRows

/// The quantities of the codes that were read, to find a code that a product has with two of them.
///
/// A code is the same in every spelling. It takes 30 to 40 bytes for each code.
package struct CodeQuantities {
  /// The first row that has a code.
  package struct First: Sendable, Equatable {
    /// The line, from 1; 0 for the product's own barcode.
    package var line: Int
    /// Whether it is in a table of codes.
    package var isOfTable: Bool
    package var quantity: ExactDecimal
  }

  private static let lineMask: UInt64 = 1 << 38 - 1
  private static let tableBit: UInt64 = 1 << 38
  private static let quantityShift: UInt64 = 40

  private var places = RowIDs()
  /// For each code, 38 bits of the line, a bit for a table of codes, and from bit 40 on the number of the quantity.
  private var entries: [UInt64] = []
  private var quantities: [ExactDecimal] = []
  private var numbers: [ExactDecimal: Int] = [:]

  /// Creates an empty set.
  package init() {}

  /// Notes a code of a product.
  ///
  /// - Parameters:
  ///   - code: The code, in any spelling.
  ///   - product: The product: its id, or a number.
  ///   - quantity: The quantity of the code.
  ///   - line: The line of its row; 0 for the product's own barcode.
  ///   - isOfTable: Whether the row is in a table of codes.
  /// - Returns: The first row with this code of this product; `nil` if this one is it.
  package mutating func insert(
    _ code: String, of product: String, _ quantity: ExactDecimal, line: Int, isOfTable: Bool = false
  ) -> First? {
    let key = Array("\(product.utf8.count):\(product)\(WrittenCode.key(code))".utf8)
    if let place = places.insert(key.span, line: entries.count) {
      let entry = entries[place]
      return First(
        line: Int(entry & Self.lineMask), isOfTable: entry & Self.tableBit != 0,
        quantity: quantities[Int(entry >> Self.quantityShift)])
    }
    let number = numbers[quantity] ?? quantities.count
    if number == quantities.count {
      numbers[quantity] = number
      quantities.append(quantity)
    }
    entries.append(
      UInt64(line) & Self.lineMask | (isOfTable ? Self.tableBit : 0) | UInt64(number) << Self.quantityShift)
    return nil
  }

  /// Notes a code that is about to be stored.
  ///
  /// - Parameters:
  ///   - row: The code, with the id of its product.
  ///   - isOfTable: Whether it is from a table of codes.
  /// - Throws: `RowRefusal` if the product has the code with another quantity.
  package mutating func check(_ row: borrowing CodeRow, isOfTable: Bool) throws(RowRefusal) {
    let (code, product, quantity) = (row[.code], row[.productId], row.quantity)
    let first = insert(code, of: product, quantity, line: row.line, isOfTable: isOfTable)
    guard let first, let problem = Self.problem(quantity, after: first, isOfTable: isOfTable) else { return }
    throw RowRefusal(.ambiguousCode, problem)
  }

  /// What is wrong with a code that has another quantity than in its first row; `nil` if it has the same.
  ///
  /// - Parameters:
  ///   - quantity: The quantity of the second row.
  ///   - first: The first row.
  ///   - isOfTable: Whether the second row is in a table of codes.
  package static func problem(_ quantity: ExactDecimal, after first: First, isOfTable: Bool = false) -> String? {
    if quantity == first.quantity { return nil }
    let remedy = "correct one of them, or leave one out"
    if first.line == 0 {
      return "this is the product's own barcode, which stands for one piece, and here its quantity is \(quantity);"
        + " \(remedy)"
    }
    let place = (first.isOfTable == isOfTable ? "" : "of the file with the products, ") + "line \(first.line)"
    return "\(place) has this code of the same product with the quantity \(first.quantity), and here it is \(quantity);"
      + " a code stands for one quantity: \(remedy)"
  }
}
