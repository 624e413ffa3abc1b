import CatalogRows

/// Where a product's fields stand in its record. FORMAT.md, *The catalogue's tables*, has the same as a table.
///
/// Key 0 is the id, key 1 the ``CodeKey`` of the barcode. Shared strings are those of ``sharedTexts`` that are not
/// empty, in this order. The body begins with 32 flags that tell what follows.
enum ProductLayout {
  /// Texts that repeat from row to row, and stand once in a segment.
  static let sharedTexts: [ProductText] = [.brand, .brandId, .category, .createBy, .orgId, .unit, .updateBy]

  static let isGreeProduct: UInt32 = 1 << 0
  static let isGroupedProduct: UInt32 = 1 << 1
  static let isSaleProduct: UInt32 = 1 << 2
  static let isMarketingProduct: UInt32 = 1 << 3
  /// Seven bits: which of ``sharedTexts`` is not empty.
  static let firstShared: UInt32 = 4
  /// The barcode differs from its key and stands in the body.
  static let hasBarcode: UInt32 = 1 << 11
  /// Two bits each: how `createTime` and `updateTime` stand.
  static let createTime: UInt32 = 12
  static let updateTime: UInt32 = 14
  /// Two bits each for length, tall, volume, weight, wide.
  static let firstDouble: UInt32 = 16
  /// Two bits: how `categoryId` stands.
  static let categoryId: UInt32 = 26
  /// `delFlag` is not 0 and stands in eight bytes.
  static let hasDelFlag: UInt32 = 1 << 28
  /// Two bits: how `groupNum` stands; absent means 1.
  static let groupNum: UInt32 = 29

  /// How a field stands: a time, a double, an integer.
  enum Form {
    /// The default: nothing stands there.
    static let absent: UInt32 = 0
    /// A packed time (5 bytes), a packed decimal (4), a 32-bit integer (4).
    static let short: UInt32 = 1
    /// A text with its length before it, a double (8), a 64-bit integer (8).
    static let long: UInt32 = 2
  }

  @inline(__always)
  static func form(_ flags: UInt32, _ shift: UInt32) -> UInt32 { flags >> shift & 3 }

  /// The flag of the shared text `index` of ``sharedTexts``.
  @inline(__always)
  static func shared(_ index: Int) -> UInt32 { 1 << (firstShared + UInt32(index)) }
}
