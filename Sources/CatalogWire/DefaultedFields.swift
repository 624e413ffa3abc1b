public import CatalogRows

/// How often a field of a row had a value of the wrong type and so took its default.
///
/// Absent fields and `null` take their defaults too but are not counted. A number that does not fit counts:
/// 2.5 for an integer, an integer outside of 64 bits, a double that overflows.
public struct DefaultedFields: Sendable, Equatable {
  /// Where a field was defaulted for the first time.
  public struct Place: Sendable, Equatable {
    /// The list of the row.
    public var list: RowList
    /// The row's place in its list, from 0.
    public var row: Int
    /// The key of the field.
    public var field: String
    /// Offset in the payload (or in the line) of the value.
    public var offset: Int
  }

  private var products = Array(repeating: 0, count: ProductField.allCases.count)
  private var relations = Array(repeating: 0, count: RelationField.allCases.count)
  /// All fields together.
  public private(set) var total = 0
  /// The first one, for a person who wants to look.
  public private(set) var first: Place?

  /// Creates counts that are all 0.
  public init() {}

  /// How often `field` of a product was defaulted.
  public subscript(product field: ProductField) -> Int { products[field.rawValue] }

  /// How often `field` of a relation was defaulted.
  public subscript(relation field: RelationField) -> Int { relations[field.rawValue] }

  /// The counts that are not zero, under names such as `product.delFlag`, in the order of the fields.
  public var byField: [(name: String, count: Int)] {
    ProductField.allCases.filter { self[product: $0] > 0 }.map { ("product.\($0.key)", self[product: $0]) }
      + RelationField.allCases.filter { self[relation: $0] > 0 }
      .map { ("relation.\($0.key)", self[relation: $0]) }
  }

  mutating func count(_ field: ProductField, row: Int, offset: Int) {
    products[field.rawValue] += 1
    total += 1
    if first == nil { first = Place(list: .products, row: row, field: field.key, offset: offset) }
  }

  mutating func count(_ field: RelationField, row: Int, offset: Int) {
    relations[field.rawValue] += 1
    total += 1
    if first == nil { first = Place(list: .relations, row: row, field: field.key, offset: offset) }
  }
}
