import CatalogRows
import LogStore
import RecordFormat

/// One product, lent: fields are read from the store's mapping when they are asked for, and nothing is copied.
///
/// It stands in the table of products; its record passed its check. Where the body contradicts itself nevertheless
/// (a program that wrote nonsense), numbers read as 0 and texts as empty; `verify` tells.
public struct ProductView: ~Escapable {
  private let record: RecordView
  private let body: RawSpan
  private let flags: UInt32

  @_lifetime(copy record)
  init(_ record: RecordView) {
    self.record = record
    body = record.body
    flags = body.byteCount >= 4 ? body.u32(at: 0) : 0
  }

  /// Where the record stands: a name for it within this generation.
  public var offset: UnitOffset { record.offset }

  // MARK: Texts, as UTF-8

  public var id: RawSpan {
    @_lifetime(copy self)
    get { record.key(0) }
  }

  /// The barcode as the server wrote it.
  public var barcode: RawSpan {
    @_lifetime(copy self)
    get {
      if flags & ProductLayout.hasBarcode == 0 { return record.key(1) }
      return text(1)
    }
  }

  public var name: RawSpan {
    @_lifetime(copy self)
    get { body.extracting(nameStart...) }
  }

  public var skuCode: RawSpan {
    @_lifetime(copy self)
    get { text(0) }
  }

  /// A text that rows share: brand, brandId, category, createBy, orgId, unit or updateBy.
  ///
  /// - Throws: `StoreError.damaged` if the string does not pass its check.
  @_lifetime(copy self)
  public func shared(_ field: ProductText) throws(StoreError) -> RawSpan {
    guard let index = ProductLayout.sharedTexts.firstIndex(of: field) else {
      preconditionFailure("\(field) is not a shared text")
    }
    let bit = ProductLayout.shared(index)
    if flags & bit == 0 { return body.slice(0, 0) }
    let before = flags & (bit - 1) & (0x7F << ProductLayout.firstShared)
    return try record.shared(before.nonzeroBitCount)
  }

  /// `createTime` or `updateTime`, as the server wrote it.
  public var createTime: String { time(ProductLayout.createTime) }
  public var updateTime: String { time(ProductLayout.updateTime) }

  // MARK: Numbers

  public var isGreeProduct: Bool { flags & ProductLayout.isGreeProduct != 0 }
  public var isGroupedProduct: Bool { flags & ProductLayout.isGroupedProduct != 0 }
  public var isSaleProduct: Bool { flags & ProductLayout.isSaleProduct != 0 }
  public var isMarketingProduct: Bool { flags & ProductLayout.isMarketingProduct != 0 }
  public var categoryId: Int64 { integer(ProductLayout.categoryId, default: 0, at: 4) }

  /// Pieces per package.
  public var groupNum: Int64 {
    integer(ProductLayout.groupNum, default: 1, at: 4 + width(ProductLayout.categoryId))
  }

  /// Not zero: the server sent this product as deleted in a full update. It never matches a scan.
  public var delFlag: Int64 {
    if flags & ProductLayout.hasDelFlag == 0 { return 0 }
    let offset = 4 + width(ProductLayout.categoryId) + width(ProductLayout.groupNum)
    return offset + 8 <= body.byteCount ? Int64(bitPattern: body.u64(at: offset)) : 0
  }

  public var length: Double { double(0) }
  public var tall: Double { double(1) }
  public var volume: Double { double(2) }
  public var weight: Double { double(3) }
  public var wide: Double { double(4) }

  // MARK: Places

  /// Bytes of an integer or double in this form.
  @inline(__always)
  private func width(_ shift: UInt32) -> Int { Int(ProductLayout.form(flags, shift)) * 4 }

  private func integer(_ shift: UInt32, default value: Int64, at offset: Int) -> Int64 {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short where offset + 4 <= body.byteCount:
      Int64(Int32(bitPattern: body.u32(at: offset)))
    case ProductLayout.Form.long where offset + 8 <= body.byteCount:
      Int64(bitPattern: body.u64(at: offset))
    default: value
    }
  }

  private var doublesStart: Int {
    4 + width(ProductLayout.categoryId) + width(ProductLayout.groupNum)
      + (flags & ProductLayout.hasDelFlag == 0 ? 0 : 8)
  }

  private func double(_ index: UInt32) -> Double {
    var offset = doublesStart
    for before in 0..<index { offset += width(ProductLayout.firstDouble + 2 * before) }
    switch ProductLayout.form(flags, ProductLayout.firstDouble + 2 * index) {
    case ProductLayout.Form.short where offset + 4 <= body.byteCount:
      return PackedDecimal.unpack(body.u32(at: offset))
    case ProductLayout.Form.long where offset + 8 <= body.byteCount:
      return Double(bitPattern: body.u64(at: offset))
    default: return 0
    }
  }

  private var timesStart: Int {
    var offset = doublesStart
    for index in 0..<UInt32(5) { offset += width(ProductLayout.firstDouble + 2 * index) }
    return offset
  }

  private func timeWidth(_ shift: UInt32) -> Int {
    ProductLayout.form(flags, shift) == ProductLayout.Form.short ? PackedTime.byteCount : 0
  }

  private func time(_ shift: UInt32) -> String {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short:
      let offset = timesStart + (shift == ProductLayout.updateTime ? timeWidth(ProductLayout.createTime) : 0)
      guard offset + PackedTime.byteCount <= body.byteCount else { return "" }
      let bits = UInt64(body.u32(at: offset)) | UInt64(body.u8(at: offset + 4)) << 32
      return String(decoding: PackedTime.unpack(bits), as: UTF8.self)
    case ProductLayout.Form.long:
      let isFirst = shift == ProductLayout.createTime
      let others = (flags & ProductLayout.hasBarcode != 0 ? 1 : 0) + (isFirst || !hasLongCreateTime ? 0 : 1)
      return text(1 + others).string
    default: return ""
    }
  }

  private var hasLongCreateTime: Bool {
    ProductLayout.form(flags, ProductLayout.createTime) == ProductLayout.Form.long
  }

  /// Where the texts with a length begin.
  private var textsStart: Int {
    timesStart + timeWidth(ProductLayout.createTime) + timeWidth(ProductLayout.updateTime)
  }

  /// The text number `index` of those with a length before them.
  @_lifetime(copy self)
  private func text(_ index: Int) -> RawSpan {
    var start = textsStart
    for number in 0...index {
      guard start <= body.byteCount, let range = body.textRange(at: start) else { break }
      if number == index { return body.extracting(range) }
      start = range.upperBound
    }
    return body.slice(0, 0)
  }

  private var nameStart: Int {
    var count = 1
    if flags & ProductLayout.hasBarcode != 0 { count += 1 }
    if hasLongCreateTime { count += 1 }
    if ProductLayout.form(flags, ProductLayout.updateTime) == ProductLayout.Form.long { count += 1 }
    var start = textsStart
    for _ in 0..<count {
      guard start <= body.byteCount, let range = body.textRange(at: start) else { return body.byteCount }
      start = range.upperBound
    }
    return start
  }
}
