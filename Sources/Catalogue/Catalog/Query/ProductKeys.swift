import Bytes
import CatalogRows
import DocumentFormat

/// Ids, barcodes and further codes under which a condition's products are found. Each product found must still be tested.
struct ProductKeys: Sendable {
  /// Ids as UTF-8, each once.
  private(set) var ids: Set<[UInt8]> = []
  /// Barcodes as UTF-8, each once.
  private(set) var barcodes: Set<[UInt8]> = []
  /// Codes of the table of codes as UTF-8, each once.
  private(set) var codes: Set<[UInt8]> = []

  private init() {}

  /// Plans how to find the products that match a condition, as `Condition.plan` does for documents; fails if every
  /// product has to be read.
  ///
  /// Equality and `in` on id, barcode and `codes.code` have an index. A conjunction uses the part with the fewest keys, and a
  /// disjunction needs keys for all of its parts.
  init?(_ condition: Condition) {
    switch condition {
    case .compare(let path, .equal, let value): self.init(path, [value])
    case .isIn(let path, let values): self.init(path, values)
    // None of the 25 fields is null.
    case .isNull(let path):
      if path.names.count > 1 { return nil }
      self.init()
    case .and(let parts):
      guard let fewest = parts.compactMap({ ProductKeys($0) }).min(by: { $0.count < $1.count }) else { return nil }
      self = fewest
    case .or(let parts):
      self.init()
      for part in parts {
        guard let keys = ProductKeys(part) else { return nil }
        ids.formUnion(keys.ids)
        barcodes.formUnion(keys.barcodes)
        codes.formUnion(keys.codes)
      }
    case .compare, .contains, .like, .hasPrefix, .not: return nil
    }
  }

  /// The keys of a field that equals one of `values`.
  private init?(_ path: FieldPath, _ values: [DocumentValue]) {
    for case .text(let text) in values {
      let key = Array(text.utf8)
      switch path.names {
      case [ProductField.id.key]: ids.insert(key)
      // Barcodes without anything but blanks are not in the index.
      case [ProductField.barcode.key] where !CodeKey.of(key.rawSpan).isEmpty: barcodes.insert(key)
      case [ProductQueryField.codesName, CodeField.code.key] where !CodeKey.of(key.rawSpan).isEmpty: codes.insert(key)
      default: return nil
      }
    }
    // Only a constant of the field's own kind can be equal to it, and null never is.
    if values.contains(where: { $0.kind != .text && $0.kind != .null }) { return nil }
  }

  /// The number of keys to look up.
  var count: Int { ids.count + barcodes.count + codes.count }
}
