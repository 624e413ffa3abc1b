public import CatalogRows

/// Counts of row fields that had a value of the wrong type and got their default value.
///
/// Absent fields and `null` also get their default values, but are not counted. A number out of range is counted: 2.5
/// for an integer, an integer that does not fit in 64 bits, a double that overflows.
public struct DefaultedFields: Sendable, Equatable {
  /// The position of the first defaulted field.
  public struct Place: Sendable, Equatable {
    /// The list of the row.
    public var list: RowList
    /// The index of the row in its list, from 0.
    public var row: Int
    /// The key of the field.
    public var field: String
    /// The offset of the value in the payload (or in the line).
    public var offset: Int
  }

  private var products = Array(repeating: 0, count: ProductField.allCases.count)
  private var relations = Array(repeating: 0, count: RelationField.allCases.count)
  private var codes = Array(repeating: 0, count: CodeField.allCases.count)
  /// The number of values of `extra` that were left out, and of values under other keys that were to be kept in it: they
  /// were no object, had a key twice, or exceeded `ExtraLimits`.
  public private(set) var extra = 0
  /// The total of all fields.
  public private(set) var total = 0
  /// The first defaulted field, for a person to inspect.
  public private(set) var first: Place?

  /// Creates counts that are all 0.
  public init() {}

  /// The number of products whose `field` was defaulted.
  public subscript(product field: ProductField) -> Int { products[field.rawValue] }

  /// The number of relations whose `field` was defaulted.
  public subscript(relation field: RelationField) -> Int { relations[field.rawValue] }

  /// The number of codes whose `field` was defaulted.
  public subscript(code field: CodeField) -> Int { codes[field.rawValue] }

  /// The counts that are not zero, under names like `product.delFlag`, in the order of the fields.
  public var byField: [(name: String, count: Int)] {
    ProductField.allCases.filter { self[product: $0] > 0 }.map { ("product.\($0.key)", self[product: $0]) }
      + (extra > 0 ? [("product.extra", extra)] : [])
      + RelationField.allCases.filter { self[relation: $0] > 0 }
      .map { ("relation.\($0.key)", self[relation: $0]) }
      + CodeField.allCases.filter { self[code: $0] > 0 }.map { ("code.\($0.payloadKey)", self[code: $0]) }
  }

  package mutating func count(_ field: ProductField, row: Int, offset: Int) {
    products[field.rawValue] += 1
    total += 1
    if first == nil { first = Place(list: .products, row: row, field: field.key, offset: offset) }
  }

  package mutating func countExtra(row: Int, offset: Int) {
    extra += 1
    total += 1
    if first == nil { first = Place(list: .products, row: row, field: "extra", offset: offset) }
  }

  package mutating func count(_ field: RelationField, row: Int, offset: Int) {
    relations[field.rawValue] += 1
    total += 1
    if first == nil { first = Place(list: .relations, row: row, field: field.key, offset: offset) }
  }

  package mutating func count(_ field: CodeField, row: Int, offset: Int) {
    codes[field.rawValue] += 1
    total += 1
    if first == nil { first = Place(list: .codes, row: row, field: field.payloadKey, offset: offset) }
  }
}
