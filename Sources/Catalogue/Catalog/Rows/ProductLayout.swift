import CatalogRows

/// The layout of a product's record. `Documentation/Format/Catalogue.md` contains the same as a table.
///
/// Key 0 is the id, and key 1 is the ``CodeKey`` of the barcode. The shared strings are the nonempty ones of
/// ``sharedTexts``, in this order. The body begins with 32 flags that describe the rest.
@usableFromInline
enum ProductLayout {
  /// The texts that repeat from row to row and are stored once per segment.
  static let sharedTexts: [ProductText] = [.brand, .brandId, .category, .createBy, .orgId, .unit, .updateBy]

  /// Returns the index of `field` in ``sharedTexts``.
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

  /// The other texts of a product, which are its own. The times among them are stored in a form of their own.
  static let ownTexts: [ProductText] = [.id, .barcode, .name, .skuCode, .createTime, .updateTime]

  /// Returns the shift of the form of `field`, if it is a time.
  @inline(__always)
  static func timeShift(_ field: ProductText) -> UInt32? {
    switch field {
    case .createTime: createTime
    case .updateTime: updateTime
    default: nil
    }
  }

  /// The flags of a row, by the numbers of their slots, are the lowest bits.
  static let rowFlags: UInt32 = 0xF
  /// The first of seven bits: which of ``sharedTexts`` are not empty.
  static let firstShared: UInt32 = 4
  /// The barcode differs from its key and is stored in the body.
  @inlinable @inline(__always)
  static var hasBarcode: UInt32 { 1 << 11 }
  /// Two bits each: the forms of `createTime` and `updateTime`.
  @inlinable @inline(__always)
  static var createTime: UInt32 { 12 }
  @inlinable @inline(__always)
  static var updateTime: UInt32 { 14 }
  /// Two bits each: the forms of length, tall, volume, weight, wide.
  @inlinable @inline(__always)
  static var firstDouble: UInt32 { 16 }
  /// Two bits: the form of `categoryId`.
  @inlinable @inline(__always)
  static var categoryId: UInt32 { 26 }
  /// `delFlag` is not 0 and is stored in eight bytes.
  @inlinable @inline(__always)
  static var hasDelFlag: UInt32 { 1 << 28 }
  /// Two bits: the form of `groupNum`; an absent value means 1.
  @inlinable @inline(__always)
  static var groupNum: UInt32 { 29 }
  /// The product has fields beyond the 25, which are stored as the last length-prefixed text. The state of a commit
  /// with such a product has version 2; see `CatalogState`.
  @inlinable @inline(__always)
  static var hasExtra: UInt32 { 1 << 31 }

  /// The form in which a field is stored: a time, a double or an integer.
  @usableFromInline
  enum Form {
    /// The default value, which is not stored.
    @inlinable @inline(__always)
    static var absent: UInt32 { 0 }
    /// A packed time (5 bytes), a packed decimal (4), a 32-bit integer (4).
    @inlinable @inline(__always)
    static var short: UInt32 { 1 }
    /// A text preceded by its length, a double (8), a 64-bit integer (8).
    @inlinable @inline(__always)
    static var long: UInt32 { 2 }
  }

  @inlinable @inline(__always)
  static func form(_ flags: UInt32, _ shift: UInt32) -> UInt32 { flags >> shift & 3 }

  /// Returns whether a field has form 3, which is undefined.
  static func hasUnknownForm(_ flags: UInt32) -> Bool {
    let lowBits: UInt32 =
      1 << createTime | 1 << updateTime | 0x155 << firstDouble | 1 << categoryId | 1 << groupNum
    return flags & (flags >> 1) & lowBits != 0
  }

  /// The fields that have a form, each with the shift of its bits.
  static let forms: [(shift: UInt32, field: String)] = [
    (createTime, "createTime"), (updateTime, "updateTime"), (firstDouble, "length"), (firstDouble + 2, "tall"),
    (firstDouble + 4, "volume"), (firstDouble + 6, "weight"), (firstDouble + 8, "wide"), (categoryId, "categoryId"),
    (groupNum, "groupNum"),
  ]

  /// Returns the flag of the shared text `index` of ``sharedTexts``.
  @inline(__always)
  static func shared(_ index: Int) -> UInt32 { 1 << (firstShared + UInt32(index)) }

  /// Returns how many shared texts a record has before the one with flag `bit`.
  @inline(__always)
  static func sharedCount(_ flags: UInt32, before bit: UInt32) -> Int {
    (flags & (bit - 1) & (0x7F << firstShared)).nonzeroBitCount
  }

  // Offsets of the fields in a body. The width of a number is four times its form, so an offset is a sum of pairs of
  // bits and needs no loop.

  /// Returns the offset after categoryId, groupNum and delFlag.
  @inlinable @inline(__always)
  static func integersEnd(_ flags: UInt32) -> Int {
    let forms = form(flags, categoryId) + form(flags, groupNum) + (flags & hasDelFlag == 0 ? 0 : 2)
    return 4 + 4 * Int(forms)
  }

  /// Returns the offset of the double `index`.
  @inlinable @inline(__always)
  static func doubleStart(_ flags: UInt32, _ index: UInt32) -> Int {
    integersEnd(flags) + 4 * sumOfPairs(flags >> firstDouble & (1 << (2 * index) - 1))
  }

  /// Returns the offset of the packed times.
  @inlinable @inline(__always)
  static func timesStart(_ flags: UInt32) -> Int { doubleStart(flags, 5) }

  /// Returns the number of bytes of a time among the packed times.
  @inlinable @inline(__always)
  static func timeWidth(_ flags: UInt32, _ shift: UInt32) -> Int {
    form(flags, shift) == Form.short ? PackedTime.byteCount : 0
  }

  /// Returns the offset of the length-prefixed texts: skuCode, the barcode, createTime, updateTime, extra. All but the
  /// first are stored only if they are needed.
  @inlinable @inline(__always)
  static func textsStart(_ flags: UInt32) -> Int {
    timesStart(flags) + timeWidth(flags, createTime) + timeWidth(flags, updateTime)
  }

  /// Returns the number of length-prefixed texts.
  @inlinable @inline(__always)
  static func textCount(_ flags: UInt32) -> Int { extraIndex(flags) + Int(flags >> 31) }

  /// Returns the index, among these texts, of the fields beyond the 25.
  @inlinable @inline(__always)
  static func extraIndex(_ flags: UInt32) -> Int {
    textIndex(flags, updateTime) + (form(flags, updateTime) == Form.long ? 1 : 0)
  }

  /// Returns the index, among these texts, of a time that is stored as text.
  @inlinable @inline(__always)
  static func textIndex(_ flags: UInt32, _ shift: UInt32) -> Int {
    let createTimes = shift == updateTime && form(flags, createTime) == Form.long ? 1 : 0
    return 1 + (flags & hasBarcode == 0 ? 0 : 1) + createTimes
  }

  /// Returns the sum of the five pairs of bits in the lowest ten bits.
  @inlinable @inline(__always)
  static func sumOfPairs(_ bits: UInt32) -> Int {
    let fours = (bits & 0x333) + (bits >> 2 & 0x333)
    return Int((fours & 0xF) + (fours >> 4 & 0xF) + (fours >> 8))
  }
}
