import Barcodes
import CatalogRows
import CatalogueGenerator

/// Products that have a barcode of their own and two further codes: one of an inner pack and one of a case.
struct CodeRows {
  let productCount: Int
  private let generator: CatalogueGenerator

  init(_ productCount: Int, seed: UInt64) {
    self.productCount = productCount
    generator = CatalogueGenerator(productCount: productCount, seed: seed)
  }

  static let codesPerProduct = 2
  private static let quantities = [6, 24]
  private static let units = ["inner", "case"]

  /// Makes product `index`, as it is after `revision` changes.
  func product(_ index: Int, revision: Int, into row: inout ProductRow) {
    generator.product(index, revision: revision, into: &row)
    row.texts.set(ProductText.barcode.rawValue, Self.barcode(index))
  }

  /// Makes code `number` of product `index`, whose id is `id`.
  func code(_ number: Int, of index: Int, id: String, into row: inout CodeRow) {
    row.reset()
    row.texts.set(CodeText.code.rawValue, Self.code(number, of: index))
    row.texts.set(CodeText.id.rawValue, String(index * Self.codesPerProduct + number + 1))
    row.texts.set(CodeText.productId.rawValue, id)
    row.texts.set(CodeText.unit.rawValue, Self.units[number])
    row.quantity = ExactDecimal(Int64(Self.quantities[number]))
  }

  static func quantity(_ number: Int) -> Int { quantities[number] }
  static func unit(_ number: Int) -> String { units[number] }

  /// A different EAN-13 for each product.
  static func barcode(_ index: Int) -> String { ean("69", index) }

  /// A different GTIN for each code: an EAN-13, or a GTIN-14 for a case.
  static func code(_ number: Int, of index: Int) -> String { number == 0 ? ean("59", index) : ean("169", index) }

  private static func ean(_ prefix: String, _ index: Int) -> String {
    // Neighbours have numbers far apart, as those of a real catalogue.
    let number = index &* 7_368_787 % 1_000_000_007
    let text = String(number)
    let digits = prefix + String(repeating: "0", count: 10 - text.count) + text
    var sum = 0
    for (place, digit) in digits.utf8.reversed().enumerated() {
      sum += Int(digit - UInt8(ascii: "0")) * (place.isMultiple(of: 2) ? 3 : 1)
    }
    return digits + String((10 - sum % 10) % 10)
  }
}
