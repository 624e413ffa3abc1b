import Barcodes
import Bytes

/// The key under which a product is found by its SKU: a mark, and the SKU changed like a barcode into a code.
///
/// SKUs that are sound GTINs have a mark of their own, so that it is known whether there are any: only then is it worth
/// looking for the EAN of a product that is not in the catalogue.
enum SKUKey {
  /// The mark of an SKU that is a sound GTIN.
  static let gtin: UInt8 = 1
  /// The mark of any other SKU.
  static let other: UInt8 = 2

  /// Replaces the contents of `key` with the key of an SKU; nothing if that has no characters but blanks.
  static func make(of skuCode: RawSpan, into key: inout [UInt8]) {
    CodeKey.fold(skuCode, into: &key)
    if key.isEmpty { return }
    let isGTIN = GTIN.digitCounts.contains(key.count) && GTIN(utf8: key) != nil
    key.insert(isGTIN ? gtin : other, at: 0)
  }
}
