/// The thirteen texts of a product, in the order of their indices in a row.
public enum ProductText: Int, CaseIterable, Sendable {
  case barcode, brand, brandId, category, createBy, createTime, id, name, orgId, skuCode, unit, updateBy
  case updateTime
}

/// A product row, which a decoder fills and an encoder reads: 13 texts, 12 plain values, and the fields beyond these.
///
/// A decoder reuses one row for a complete payload. A new or reset row contains the defaults of the protocol.
public struct ProductRow: Sendable {
  /// The number of texts of a row: those of ``ProductText``, and ``extraText``.
  public static let textCount = ProductText.allCases.count + 1
  /// The index in ``texts`` of the fields beyond the 25: empty, or a JSON object in the form that `CatalogRows` writes.
  public static let extraText = ProductText.allCases.count

  /// The value of ``givenFields`` for all fields.
  public static let allFields: UInt32 = .max
  /// The bit of ``givenFields`` for the fields beyond the 25.
  public static let extraBit: UInt32 = 1 << 31

  /// The fields that the source says something about, be it that they are empty: a bit for each ``ProductField``, and
  /// ``extraBit``. All of them by default. What merges rows into a catalogue may leave the others as they are.
  public var givenFields = ProductRow.allFields

  /// The texts, indexed by ``ProductText``, and the fields beyond the 25 at ``extraText``; all empty by default.
  public var texts = TextRow(count: textCount)

  /// The integers, by the number of their slot.
  @usableFromInline
  package var integers = defaultIntegers
  /// The flags: a bit for each, by the number of its slot.
  @usableFromInline
  package var flags: UInt32 = 0
  /// The doubles, by the number of their slot; all 0 by default.
  @usableFromInline
  package var doubles = noDoubles

  @usableFromInline
  static let defaultIntegers: InlineArray<3, Int64> = [0, 0, 1]
  @usableFromInline
  static let noDoubles = InlineArray<5, Double>(repeating: 0)

  /// Creates a row with the defaults of the protocol.
  public init() {}

  /// Restores every default and keeps the capacity of the buffers.
  @inlinable
  public mutating func reset() {
    texts.reset()
    givenFields = ProductRow.allFields
    integers = Self.defaultIntegers
    flags = 0
    doubles = Self.noDoubles
  }

  /// Takes over all values of another row, and keeps the capacity of the buffers.
  public mutating func copy(_ other: borrowing ProductRow) {
    texts.copy(other.texts)
    givenFields = other.givenFields
    integers = other.integers
    flags = other.flags
    doubles = other.doubles
  }

  /// Sets or clears the flag of a slot.
  @inlinable
  package mutating func setFlag(_ slot: Int, _ isSet: Bool) {
    if isSet { flags |= 1 << UInt32(slot) } else { flags &= ~(1 << UInt32(slot)) }
  }

  /// Returns the text `field` as a string.
  public subscript(_ field: ProductText) -> String { texts.string(field.rawValue) }
}

extension ProductRow {
  /// The value of a field as text, for people.
  package func text(of field: ProductField) -> String {
    switch field.slot {
    case .text(let slot): texts.string(slot)
    case .integer(let slot): String(integers[slot])
    case .flag(let slot): String(flags >> UInt32(slot) & 1 == 1)
    case .double(let slot): String(doubles[slot])
    }
  }
}

// The values by name.

extension ProductRow {
  /// The server's id of the category; 0 if the payload does not contain it.
  @inlinable
  public var categoryId: Int64 {
    get { integers[0] }
    set { integers[0] = newValue }
  }

  /// Nonzero if the server deleted this product.
  @inlinable
  public var delFlag: Int64 {
    get { integers[1] }
    set { integers[1] = newValue }
  }

  /// The number of pieces per package; 1 if the payload does not contain it.
  @inlinable
  public var groupNum: Int64 {
    get { integers[2] }
    set { integers[2] = newValue }
  }

  /// Whether this is a product of the company's own brand.
  @inlinable
  public var isGreeProduct: Bool {
    get { flags & 1 != 0 }
    set { setFlag(0, newValue) }
  }

  /// Whether the product is a set of other products.
  @inlinable
  public var isGroupedProduct: Bool {
    get { flags & 2 != 0 }
    set { setFlag(1, newValue) }
  }

  /// Whether the product is sold.
  @inlinable
  public var isSaleProduct: Bool {
    get { flags & 4 != 0 }
    set { setFlag(2, newValue) }
  }

  /// Whether the product is used for marketing.
  @inlinable
  public var isMarketingProduct: Bool {
    get { flags & 8 != 0 }
    set { setFlag(3, newValue) }
  }

  /// The length, in a unit of the company's choice; 0 if the payload does not contain it.
  @inlinable
  public var length: Double {
    get { doubles[0] }
    set { doubles[0] = newValue }
  }

  /// The height, in a unit of the company's choice; 0 if the payload does not contain it.
  @inlinable
  public var tall: Double {
    get { doubles[1] }
    set { doubles[1] = newValue }
  }

  /// The volume, in a unit of the company's choice; 0 if the payload does not contain it.
  @inlinable
  public var volume: Double {
    get { doubles[2] }
    set { doubles[2] = newValue }
  }

  /// The weight, in a unit of the company's choice; 0 if the payload does not contain it.
  @inlinable
  public var weight: Double {
    get { doubles[3] }
    set { doubles[3] = newValue }
  }

  /// The width, in a unit of the company's choice; 0 if the payload does not contain it.
  @inlinable
  public var wide: Double {
    get { doubles[4] }
    set { doubles[4] = newValue }
  }
}
