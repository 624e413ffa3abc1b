public import Bytes
import CatalogRows
public import LogStore

/// A borrowed view of one product. Each field is read from the store's mapping when it is accessed, and nothing is
/// copied.
///
/// The view belongs to a record of the product table that passed its checksum. If a faulty program nevertheless wrote
/// an inconsistent body, single fields read as 0 or as empty. Copying such a view into a ``Product`` throws an error.
public struct ProductView: ~Escapable, BitwiseCopyable {
  @usableFromInline
  let record: RecordView

  @usableFromInline
  var body: RawSpan {
    @inlinable @inline(__always)
    @_lifetime(copy self)
    get { record.body }
  }

  @usableFromInline
  var flags: UInt32 {
    @inlinable @inline(__always)
    get {
      let body = record.body
      return body.byteCount >= 4 ? body.u32(at: 0) : 0
    }
  }

  @inline(__always)
  @_lifetime(copy record)
  init(_ record: RecordView) { self.record = record }

  /// Identifies the row within its generation.
  public var rowID: RowID { record.rowID }

  // MARK: Texts

  /// The texts as UTF-8, in the store's mapping: nothing is copied.
  public var utf8: UTF8 {
    @inlinable @inline(__always)
    @_lifetime(copy self)
    get { UTF8(self) }
  }

  /// The id, unique in the catalogue; empty for a product that the server sent without an id.
  public var id: String { utf8.id.string }
  /// The barcode as the server wrote it.
  public var barcode: String { utf8.barcode.string }
  /// The name for people; may be empty.
  public var name: String { utf8.name.string }
  /// The stock-keeping code; may be empty. Scans are not compared with it.
  public var skuCode: String { utf8.skuCode.string }

  // Texts that rows share. They are read from another record, which may be damaged.

  /// The brand's name; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var brand: String { get throws(StoreError) { try utf8.shared(.brand).string } }
  /// The server's id of the brand; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var brandId: String { get throws(StoreError) { try utf8.shared(.brandId).string } }
  /// The category's name; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var category: String { get throws(StoreError) { try utf8.shared(.category).string } }
  /// The name of the person or program that created the row at the server; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var createBy: String { get throws(StoreError) { try utf8.shared(.createBy).string } }
  /// The id of the organisation that the row belongs to; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var orgId: String { get throws(StoreError) { try utf8.shared(.orgId).string } }
  /// The unit in which the product is sold, such as `pcs`; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var unit: String { get throws(StoreError) { try utf8.shared(.unit).string } }
  /// The name of the person or program that last changed the row at the server; may be empty.
  ///
  /// - Throws: `StoreError.damaged` if the text does not pass its check.
  public var updateBy: String { get throws(StoreError) { try utf8.shared(.updateBy).string } }

  /// Returns whether this product, found by the key of `barcode`, has exactly that barcode.
  ///
  /// - Parameter isKey: Whether `barcode` is its own key.
  @inline(__always)
  func hasBarcode(_ barcode: RawSpan, isKey: Bool) -> Bool {
    // If the record stores no barcode, the key is the barcode.
    if flags & ProductLayout.hasBarcode == 0 { return isKey }
    return text(1).hasSameBytes(as: barcode)
  }

  /// `createTime` or `updateTime`, as the server wrote it.
  public var createTime: String { time(ProductLayout.createTime) }
  /// When the row was last changed, as the server wrote it; may be empty.
  public var updateTime: String { time(ProductLayout.updateTime) }

  // MARK: Numbers

  /// Whether this is a product of the company's own brand.
  public var isGreeProduct: Bool { flag(0) }
  /// Whether the product is a set of other products, its components.
  public var isGroupedProduct: Bool { flag(1) }
  /// Whether the product is sold.
  public var isSaleProduct: Bool { flag(2) }
  /// Whether the product is used for marketing.
  public var isMarketingProduct: Bool { flag(3) }
  /// The server's id of the category; 0 if the server sent none.
  @inlinable @inline(__always)
  public var categoryId: Int64 { integer(ProductLayout.categoryId, default: 0, at: 4) }

  /// The number of pieces per package.
  @inlinable @inline(__always)
  public var groupNum: Int64 {
    integer(ProductLayout.groupNum, default: 1, at: 4 + 4 * Int(ProductLayout.form(flags, ProductLayout.categoryId)))
  }

  /// Nonzero if the server sent this product as deleted in a full update. Such a product never matches a scan.
  @inlinable @inline(__always)
  public var delFlag: Int64 {
    if flags & ProductLayout.hasDelFlag == 0 { return 0 }
    let offset = ProductLayout.integersEnd(flags) - 8
    return offset + 8 <= body.byteCount ? Int64(bitPattern: body.u64(at: offset)) : 0
  }

  /// The length, in a unit of the company's choice; 0 if the server sent none.
  @inlinable @inline(__always)
  public var length: Double { double(0) }
  /// The height, in a unit of the company's choice; 0 if the server sent none.
  @inlinable @inline(__always)
  public var tall: Double { double(1) }
  /// The volume, in a unit of the company's choice; 0 if the server sent none.
  @inlinable @inline(__always)
  public var volume: Double { double(2) }
  /// The weight, in a unit of the company's choice; 0 if the server sent none.
  @inlinable @inline(__always)
  public var weight: Double { double(3) }
  /// The width, in a unit of the company's choice; 0 if the server sent none.
  @inlinable @inline(__always)
  public var wide: Double { double(4) }

  // MARK: Slots

  /// The integer of a slot of ``ProductField``.
  @inline(__always)
  func integer(_ slot: Int) -> Int64 { slot == 0 ? categoryId : slot == 1 ? delFlag : groupNum }

  /// The flag of a slot of ``ProductField``.
  @inline(__always)
  func flag(_ slot: Int) -> Bool { flags >> UInt32(slot) & 1 == 1 }

  /// The text of a slot of ``ProductField``, which is no time.
  ///
  /// - Throws: `StoreError.damaged` if a text that products share does not pass its check.
  @inline(__always)
  @_lifetime(copy self)
  func text(of field: ProductText) throws(StoreError) -> RawSpan {
    switch field {
    case .id: utf8.id
    case .barcode: utf8.barcode
    case .name: utf8.name
    case .skuCode: utf8.skuCode
    default: try utf8.shared(field)
    }
  }

  /// The text of a field as its bytes are stored; empty for a time that is packed.
  ///
  /// - Throws: `StoreError.damaged` if a text that products share does not pass its check.
  @_lifetime(copy self)
  func storedText(of field: ProductText) throws(StoreError) -> RawSpan {
    guard let shift = ProductLayout.timeShift(field) else { return try text(of: field) }
    let isLong = ProductLayout.form(flags, shift) == ProductLayout.Form.long
    return isLong ? text(ProductLayout.textIndex(flags, shift)) : body.slice(0, 0)
  }

  // MARK: Offsets

  @inlinable @inline(__always)
  func integer(_ shift: UInt32, default value: Int64, at offset: Int) -> Int64 {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short where offset + 4 <= body.byteCount:
      Int64(Int32(bitPattern: body.u32(at: offset)))
    case ProductLayout.Form.long where offset + 8 <= body.byteCount:
      Int64(bitPattern: body.u64(at: offset))
    default: value
    }
  }

  @inlinable @inline(__always)
  func double(_ index: UInt32) -> Double {
    let body = body
    let flags = flags
    let offset = ProductLayout.doubleStart(flags, index)
    switch ProductLayout.form(flags, ProductLayout.firstDouble + 2 * index) {
    // Each load is within the body, as the comparison before it shows.
    case ProductLayout.Form.short where offset + 4 <= body.byteCount:
      return PackedDecimal.unpack(unsafe body.u32(unchecked: offset))
    case ProductLayout.Form.long where offset + 8 <= body.byteCount:
      return Double(bitPattern: unsafe body.u64(unchecked: offset))
    default: return 0
    }
  }

  private func time(_ shift: UInt32) -> String {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short: packedTime(shift).map(PackedTime.text) ?? ""
    case ProductLayout.Form.long: text(ProductLayout.textIndex(flags, shift)).string
    default: ""
    }
  }

  /// Returns the bits of a packed time; `nil` if they extend past the end of the body.
  func packedTime(_ shift: UInt32) -> UInt64? {
    let first = shift == ProductLayout.createTime ? 0 : ProductLayout.timeWidth(flags, ProductLayout.createTime)
    let offset = ProductLayout.timesStart(flags) + first
    guard offset + PackedTime.byteCount <= body.byteCount else { return nil }
    return UInt64(body.u32(at: offset)) | UInt64(body.u8(at: offset + 4)) << 32
  }

  /// Returns the length-prefixed text `index`.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  func text(_ index: Int) -> RawSpan {
    let body = body
    let start = textsEnd(index, flags, in: body)
    guard let range = body.textRange(at: start) else { return body.slice(0, 0) }
    return body.extracting(range)
  }

  /// Returns the end of the first `count` length-prefixed texts; greater than the size of the body if one of them
  /// extends past its end.
  @inlinable @inline(__always)
  func textsEnd(_ count: Int, _ flags: UInt32, in body: RawSpan) -> Int {
    var start = ProductLayout.textsStart(flags)
    var left = count
    while left > 0 {
      guard let range = body.textRange(at: start) else { return body.byteCount &+ 1 }
      start = range.upperBound
      left &-= 1
    }
    return start
  }
}
