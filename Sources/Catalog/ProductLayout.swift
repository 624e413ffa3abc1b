import CatalogRows

/// Where a product's fields are in its record. `Documentation/Format/Catalogue.md` has the same as a table.
///
/// Key 0 is the id, key 1 the ``CodeKey`` of the barcode. Shared strings are those of ``sharedTexts`` that are not
/// empty, in this order. The body begins with 32 flags that tell what follows.
@usableFromInline
enum ProductLayout {
  /// Texts that repeat from row to row, and stand once in a segment.
  static let sharedTexts: [ProductText] = [.brand, .brandId, .category, .createBy, .orgId, .unit, .updateBy]

  /// The position of `field` among ``sharedTexts``.
  @inline(__always)
  static func sharedIndex(_ field: ProductText) -> Int? {
    switch field {
    case .brand: 0
    case .brandId: 1
    case .category: 2
    case .createBy: 3
    case .orgId: 4
    case .unit: 5
    case .updateBy: 6
    default: nil
    }
  }

  static let isGreeProduct: UInt32 = 1 << 0
  static let isGroupedProduct: UInt32 = 1 << 1
  static let isSaleProduct: UInt32 = 1 << 2
  static let isMarketingProduct: UInt32 = 1 << 3
  /// Seven bits: which of ``sharedTexts`` is not empty.
  static let firstShared: UInt32 = 4
  /// The barcode differs from its key and stands in the body.
  @inlinable @inline(__always)
  static var hasBarcode: UInt32 { 1 << 11 }
  /// Two bits each: how `createTime` and `updateTime` stand.
  @inlinable @inline(__always)
  static var createTime: UInt32 { 12 }
  @inlinable @inline(__always)
  static var updateTime: UInt32 { 14 }
  /// Two bits each for length, tall, volume, weight, wide.
  @inlinable @inline(__always)
  static var firstDouble: UInt32 { 16 }
  /// Two bits: how `categoryId` stands.
  @inlinable @inline(__always)
  static var categoryId: UInt32 { 26 }
  /// `delFlag` is not 0 and stands in eight bytes.
  @inlinable @inline(__always)
  static var hasDelFlag: UInt32 { 1 << 28 }
  /// Two bits: how `groupNum` stands; absent means 1.
  @inlinable @inline(__always)
  static var groupNum: UInt32 { 29 }

  /// How a field stands: a time, a double, an integer.
  @usableFromInline
  enum Form {
    /// The default: nothing stands there.
    @inlinable @inline(__always)
    static var absent: UInt32 { 0 }
    /// A packed time (5 bytes), a packed decimal (4), a 32-bit integer (4).
    @inlinable @inline(__always)
    static var short: UInt32 { 1 }
    /// A text with its length before it, a double (8), a 64-bit integer (8).
    @inlinable @inline(__always)
    static var long: UInt32 { 2 }
  }

  @inlinable @inline(__always)
  static func form(_ flags: UInt32, _ shift: UInt32) -> UInt32 { flags >> shift & 3 }

  /// Whether a form is 3, which none has.
  static func hasUnknownForm(_ flags: UInt32) -> Bool {
    let lowBits: UInt32 =
      1 << createTime | 1 << updateTime | 0x155 << firstDouble | 1 << categoryId | 1 << groupNum
    return flags & (flags >> 1) & lowBits != 0
  }

  /// The fields that have a form, by where it stands.
  static let forms: [(shift: UInt32, field: String)] = [
    (createTime, "createTime"), (updateTime, "updateTime"), (firstDouble, "length"), (firstDouble + 2, "tall"),
    (firstDouble + 4, "volume"), (firstDouble + 6, "weight"), (firstDouble + 8, "wide"), (categoryId, "categoryId"),
    (groupNum, "groupNum"),
  ]

  /// The flag of the shared text `index` of ``sharedTexts``.
  @inline(__always)
  static func shared(_ index: Int) -> UInt32 { 1 << (firstShared + UInt32(index)) }

  /// How many shared texts a record has before the one with flag `bit`.
  @inline(__always)
  static func sharedCount(_ flags: UInt32, before bit: UInt32) -> Int {
    (flags & (bit - 1) & (0x7F << firstShared)).nonzeroBitCount
  }

  // Where the fields of a body begin. The widths of numbers are four times their forms, so that a place is a sum of
  // pairs of bits, not a walk.

  /// Behind categoryId, groupNum and delFlag.
  @inlinable @inline(__always)
  static func integersEnd(_ flags: UInt32) -> Int {
    let forms = form(flags, categoryId) + form(flags, groupNum) + (flags & hasDelFlag == 0 ? 0 : 2)
    return 4 + 4 * Int(forms)
  }

  /// Where the double number `index` stands.
  @inlinable @inline(__always)
  static func doubleStart(_ flags: UInt32, _ index: UInt32) -> Int {
    integersEnd(flags) + 4 * sumOfPairs(flags >> firstDouble & (1 << (2 * index) - 1))
  }

  /// Where the packed times begin.
  @inlinable @inline(__always)
  static func timesStart(_ flags: UInt32) -> Int { doubleStart(flags, 5) }

  /// The bytes of a time among the packed ones.
  @inlinable @inline(__always)
  static func timeWidth(_ flags: UInt32, _ shift: UInt32) -> Int {
    form(flags, shift) == Form.short ? PackedTime.byteCount : 0
  }

  /// Where the texts with a length begin: skuCode, the barcode, createTime, updateTime; all but the first where they
  /// are needed.
  @inlinable @inline(__always)
  static func textsStart(_ flags: UInt32) -> Int {
    timesStart(flags) + timeWidth(flags, createTime) + timeWidth(flags, updateTime)
  }

  /// How many texts with a length there are.
  @inlinable @inline(__always)
  static func textCount(_ flags: UInt32) -> Int {
    textIndex(flags, updateTime) + (form(flags, updateTime) == Form.long ? 1 : 0)
  }

  /// The number among them of a time that stands as text.
  @inlinable @inline(__always)
  static func textIndex(_ flags: UInt32, _ shift: UInt32) -> Int {
    let createTimes = shift == updateTime && form(flags, createTime) == Form.long ? 1 : 0
    return 1 + (flags & hasBarcode == 0 ? 0 : 1) + createTimes
  }

  /// The sum of the five pairs of bits in the lowest ten.
  @inlinable @inline(__always)
  static func sumOfPairs(_ bits: UInt32) -> Int {
    let fours = (bits & 0x333) + (bits >> 2 & 0x333)
    return Int((fours & 0xF) + (fours >> 4 & 0xF) + (fours >> 8))
  }
}
