import Bytes
import CatalogRows
import DocumentFormat
import LogStore

/// The parts of an order of products in which all products are that meet a condition. Each product there must still be
/// tested.
struct ProductRanges: Sendable {
  let index: ProductIndex
  /// The ranges of keys, in ascending order, without common keys.
  private(set) var ranges: [KeyRange]

  /// The longest constant that has a range. Keys are cut after 255 bytes, so longer ones could differ from it there.
  private static let longestConstant = 250
  /// The longest key of a constant that has a range.
  fileprivate static let longestKey = 250
  /// The most constants of an `in` that have ranges, each of which is a seek.
  private static let mostConstants = 64

  private init(_ index: ProductIndex, _ ranges: [KeyRange]) {
    self.index = index
    self.ranges = ranges
  }

  private init(_ order: CatalogIndexes.Order, _ ranges: [KeyRange]) { self.init(.order(order), ranges) }

  /// Returns the ranges of a condition in each order that has any.
  ///
  /// Comparisons of declared fields that are ordered; of `id` and `updateTime`, whose keys are the texts themselves; beginnings of these and of barcodes;
  /// equality of brand, category and name, of which equal ones have equal keys. A conjunction has what its parts have.
  static func all(of condition: Condition, _ declared: DeclaredFields) -> [ProductRanges] {
    if let field = extraField(of: condition, declared) { return extra(field, condition) }
    switch condition {
    case .and(let parts):
      var all: [ProductRanges] = []
      for found in parts.flatMap({ ProductRanges.all(of: $0, declared) }) {
        if let index = all.firstIndex(where: { $0.index == found.index }) {
          all[index].ranges = all[index].ranges.intersection(found.ranges)
        } else {
          all.append(found)
        }
      }
      return all
    case .compare(let path, .equal, let value): return points(path, [value])
    case .isIn(let path, let values): return points(path, values)
    case .compare(let path, let comparison, .text(let text)):
      guard let order = exactOrder(path), text.utf8.count <= longestConstant else { return [] }
      let key = Array(text.utf8)
      switch comparison {
      case .less: return [ProductRanges(order, [KeyRange(lower: [], upper: key)])]
      case .lessOrEqual: return [ProductRanges(order, [KeyRange(lower: [], upper: key + [0])])]
      case .greater: return [ProductRanges(order, [KeyRange(lower: key + [0], upper: nil)])]
      case .greaterOrEqual: return [ProductRanges(order, [KeyRange(lower: key, upper: nil)])]
      case .equal, .notEqual: return []
      }
    case .hasPrefix(let path, let prefix, let ignoringCase):
      guard prefix.utf8.count <= longestConstant, !prefix.isEmpty else { return [] }
      if !ignoringCase, let order = exactOrder(path) {
        return [ProductRanges(order, [KeyRange(prefix: Array(prefix.utf8))])]
      }
      // Keys of barcodes have no blanks around them, and letters in upper case. Other characters than those of ASCII
      // may be equal to one of these if the case is ignored.
      guard path.names == [ProductField.barcode.key], !ignoringCase || prefix.utf8.allSatisfy(isDigit),
        prefix.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
      else { return [] }
      return [ProductRanges(.barcode, [KeyRange(prefix: [SearchTerm.code] + CodeKey.of(prefix))])]
    case .compare, .contains, .like, .isNull, .or, .not: return []
    }
  }

  /// The declared field in whose order an index is, if a condition compares it.
  private static func extraField(of condition: Condition, _ declared: DeclaredFields) -> ExtraField? {
    let path: FieldPath
    switch condition {
    case .compare(let compared, _, _), .isIn(let compared, _): path = compared
    default: return nil
    }
    let names = path.names
    guard names.count == 2, names[0] == ProductQueryField.extraName, declared[names[1]]?.isOrdered == true else {
      return nil
    }
    return declared.field(names[1])
  }

  /// The ranges of a comparison of a declared field, whose keys have the order of its values.
  private static func extra(_ field: ExtraField, _ condition: Condition) -> [ProductRanges] {
    switch condition {
    case .isIn(_, let values):
      guard values.count <= mostConstants else { return [] }
      var keys: Set<[UInt8]> = []
      for value in values {
        guard let key = field.key(of: value) else { return [] }
        keys.insert(key)
      }
      let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
      return [ProductRanges(.extra(field), sorted.map { KeyRange(lower: $0, upper: $0 + [0]) })]
    case .compare(_, let comparison, let value):
      guard let key = field.key(of: value), let first = key.first else { return [] }
      // The keys of the values that are not missing, and of the kind of the constant.
      let all = field.type == .decimal ? KeyRange(lower: [DecimalKey.negative], upper: nil) : KeyRange(prefix: [first])
      let range: KeyRange
      switch comparison {
      case .equal: range = KeyRange(lower: key, upper: key + [0])
      case .less: range = KeyRange(lower: all.lower, upper: key)
      case .lessOrEqual: range = KeyRange(lower: all.lower, upper: key + [0])
      case .greater: range = KeyRange(lower: key + [0], upper: all.upper)
      case .greaterOrEqual: range = KeyRange(lower: key, upper: all.upper)
      case .notEqual: return []
      }
      return [ProductRanges(.extra(field), [range])]
    default: return []
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The order whose keys are the texts of a field as they are.
  private static func exactOrder(_ path: FieldPath) -> CatalogIndexes.Order? {
    guard path.names.count == 1 else { return nil }
    return ProductField.allCases.first { $0.key == path.names[0] }.flatMap(CatalogIndexes.Order.init(exactlyBy:))
  }

  /// The ranges of a field that equals one of `values`.
  private static func points(_ path: FieldPath, _ values: [DocumentValue]) -> [ProductRanges] {
    guard path.names.count == 1, let order = CatalogIndexes.Order(rawValue: path.names[0]),
      values.count <= mostConstants
    else { return [] }
    var keys: Set<[UInt8]> = []
    for value in values {
      // No field is null.
      if value == .null { continue }
      guard case .text(let text) = value else { return [] }
      switch order {
      // They have indexes of their own.
      case .id, .barcode: return []
      case .updateTime:
        if text.utf8.count > longestConstant { return [] }
        keys.insert(Array(text.utf8))
      case .name, .category, .brand: keys.insert(foldedKey(text))
      }
    }
    let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
    return [ProductRanges(order, sorted.map { KeyRange(lower: $0, upper: $0 + [0]) })]
  }

  /// The key of a text that a search folds.
  private static func foldedKey(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    let none = [UInt8]()
    let texts = IndexedTexts(
      id: none.rawSpan, name: none.rawSpan, brand: bytes.rawSpan, category: none.rawSpan, skuCode: none.rawSpan,
      code: none.rawSpan, updateTime: none.rawSpan, extra: none.rawSpan)
    var keys = ProductIndexKeys()
    var key: [UInt8] = []
    keys.forEachKey(of: .order(.brand), texts) { key = Array($0.copied().prefix(OrderedKeys.maximumKeyLength)) }
    return key
  }
}

extension CatalogIndexes.Order {
  /// The order whose keys are the texts of a field as they are, so that it is the order of a query by that field.
  init?(exactlyBy field: ProductField) {
    switch field {
    case .id: self = .id
    case .updateTime: self = .updateTime
    default: return nil
    }
  }
}

extension ExtraField {
  /// The key that a value has that is equal to a constant; `nil` if no range says where such values are.
  fileprivate func key(of constant: DocumentValue) -> [UInt8]? {
    var key: [UInt8] = []
    switch (type, constant) {
    case (.decimal, .integer), (.decimal, .unsigned), (.decimal, .double):
      let text = Array(constant.json.utf8)
      guard DecimalKey.append(text.rawSpan, to: &key) else { return nil }
    case (.int, .integer), (.int, .unsigned), (.int, .double), (.text, .text), (.date, .text): key = constant.sortKey
    // There are two values, one byte each, and a range of them says nothing.
    default: return nil
    }
    return key.count <= ProductRanges.longestKey ? key : nil
  }
}
