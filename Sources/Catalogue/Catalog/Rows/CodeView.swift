public import Barcodes
import Bytes
import CatalogRows
import LogStore

/// The flags of a code in a record of the table of codes.
enum CodeLayout {
  /// The id is there: a number like that of a ``DigitKey``, or a text.
  static let hasDigitId: UInt8 = 1
  static let hasTextId: UInt8 = 2
  /// The code differs from its key, and is in the body.
  static let hasText: UInt8 = 4
  /// The quantity is not 1: a whole number, or one with decimals.
  static let hasWholeQuantity: UInt8 = 8
  static let hasDecimalQuantity: UInt8 = 16
  static let hasUnit: UInt8 = 32
  static let hasKind: UInt8 = 64
  /// Flags that no code has.
  static let unknown: UInt8 = 128
}

/// A borrowed view of a record of the table of codes: some codes of one product.
struct CodeView: ~Escapable {
  let record: RecordView

  @_lifetime(copy record)
  init(_ record: RecordView) { self.record = record }

  /// The id of the product, as UTF-8.
  var productId: RawSpan {
    @_lifetime(copy self)
    get { record.key(0) }
  }

  /// An iterator over the codes.
  var codes: CodeIterator {
    @_lifetime(copy self)
    get { CodeIterator(keys: record.key(1), body: record.body) }
  }

  /// Returns the code that has a key and is a text but for blanks around it; `nil` if there is none.
  @_lifetime(copy self)
  func code(withKey key: RawSpan, trimmed text: RawSpan) -> ProductCodeView? {
    var iterator = codes
    while let code = iterator.next() {
      if code.key.hasSameBytes(as: key), code.isTrimmed(text) { return code }
    }
    return nil
  }

  /// The number of codes.
  var count: Int {
    var list = KeyList(record.key(1))
    var count = 0
    while list.next() != nil { count += 1 }
    return count
  }

  /// Appends copies of all codes.
  ///
  /// - Throws: `StoreError.damaged` if the record breaks a rule of the format.
  func append(to codes: inout [ProductCode]) throws(StoreError) {
    guard let product = productId.validString else { throw damage("its product's id is not UTF-8") }
    var iterator = self.codes
    while let code = iterator.next() {
      guard let copy = code.copy(of: product) else { throw damage("a text is not UTF-8") }
      codes.append(copy)
    }
    if !iterator.isComplete { throw damage("its codes and their keys contradict each other") }
  }

  /// Checks what reading the codes does not: that each is found by its key.
  func checkKeys() throws(StoreError) {
    var iterator = codes
    var text: [UInt8] = []
    while let code = iterator.next() {
      guard DigitKey.isValid(code.key) else { throw damage("a key is no number of digits") }
      text.removeAll(keepingCapacity: true)
      code.appendText(to: &text)
      let key = DigitKey.of(CodeKey.of(text.rawSpan).rawSpan)
      if !key.rawSpan.hasSameBytes(as: code.key) { throw damage("the key of a code is another one") }
      guard let own = code.text else { continue }
      text.removeAll(keepingCapacity: true)
      DigitKey.appendText(of: code.key, to: &text)
      if own.hasSameBytes(as: text.rawSpan) { throw damage("its body repeats a code, which is its key") }
    }
  }

  func damage(_ what: String) -> StoreError {
    record.damage("codes of product \(productId.validString ?? "with an id that is not UTF-8"): \(what)")
  }
}

/// A borrowed view of one further code of a product. Its texts are read from the store's mapping, and nothing is copied.
public struct ProductCodeView: ~Escapable {
  /// The key by which the code is found.
  let key: RawSpan
  let flags: UInt8
  private let idNumber: UInt64
  private let idText: RawSpan
  private let ownText: RawSpan
  /// How many of the product's unit the code stands for, more than 0.
  public let quantity: ExactDecimal
  /// The unit of what the code is on, as UTF-8; may be empty.
  public let unit: RawSpan
  /// The kind of the code, as UTF-8; may be empty.
  public let kind: RawSpan

  @_lifetime(copy key, copy body)
  fileprivate init?(_ key: RawSpan, _ body: RawSpan, at offset: inout Int) {
    self.key = key
    guard offset < body.byteCount else { return nil }
    flags = body.u8(at: offset)
    offset += 1
    let isSound =
      flags & CodeLayout.unknown == 0 && flags & 3 != 3
      && flags & (CodeLayout.hasWholeQuantity | CodeLayout.hasDecimalQuantity) != 24
    guard isSound else { return nil }
    var number: UInt64 = 0
    if flags & CodeLayout.hasDigitId != 0 {
      guard let found = body.number(at: &offset), DigitKey.hasDigits(found) else { return nil }
      number = found
    }
    idNumber = number
    guard let id = body.text(flags & CodeLayout.hasTextId != 0, at: &offset),
      let own = body.text(flags & CodeLayout.hasText != 0, at: &offset)
    else { return nil }
    idText = id
    ownText = own
    if flags & (CodeLayout.hasWholeQuantity | CodeLayout.hasDecimalQuantity) != 0 {
      var decimals = 0
      if flags & CodeLayout.hasDecimalQuantity != 0 {
        guard offset < body.byteCount else { return nil }
        decimals = Int(body.u8(at: offset))
        offset += 1
        if !(1...18).contains(decimals) { return nil }
      }
      guard let found = body.number(at: &offset), let coefficient = Int64(exactly: found), coefficient > 0,
        decimals > 0 ? !coefficient.isMultiple(of: 10) : coefficient != 1
      else { return nil }
      quantity = ExactDecimal(coefficient, decimals: decimals)
    } else {
      quantity = CodeRow.one
    }
    guard let unit = body.text(flags & CodeLayout.hasUnit != 0, at: &offset),
      let kind = body.text(flags & CodeLayout.hasKind != 0, at: &offset)
    else { return nil }
    self.unit = unit
    self.kind = kind
  }

  /// The code as the server wrote it; `nil` if it is the text of its key.
  var text: RawSpan? {
    @_lifetime(copy self)
    get { flags & CodeLayout.hasText != 0 ? ownText : nil }
  }

  /// The code as the server wrote it. Most codes are stored as numbers, so this makes a text.
  public var code: String {
    var bytes: [UInt8] = []
    appendText(to: &bytes)
    return bytes.rawSpan.string
  }

  /// A field as text: the id, the code, the unit or the kind.
  func text(of field: CodeField) -> String {
    switch field {
    case .id: flags & CodeLayout.hasDigitId != 0 ? String(String(idNumber).dropFirst()) : idText.string
    case .unit: unit.string
    case .kind: kind.string
    case .code, .productId, .quantity: code
    }
  }

  /// Whether the code, without blanks around it, is a text.
  func isTrimmed(_ text: RawSpan) -> Bool {
    // Digits are stored as a number because nothing is around them.
    if self.text == nil, key.byteCount > 0, key.u8(at: 0) == DigitKey.mark { return true }
    var bytes: [UInt8] = []
    appendText(to: &bytes)
    return bytes.rawSpan.trimmedAsCode.hasSameBytes(as: text)
  }

  /// Appends the code as the server wrote it.
  func appendText(to bytes: inout [UInt8]) {
    if let text { bytes.append(text) } else { DigitKey.appendText(of: key, to: &bytes) }
  }

  /// A copy of the code; `nil` if a text is not UTF-8.
  func copy(of product: String) -> ProductCode? {
    var copy = ProductCode()
    copy.productId = product
    if flags & CodeLayout.hasDigitId != 0 {
      copy.id = String(String(idNumber).dropFirst())
    } else {
      guard let id = idText.validString else { return nil }
      copy.id = id
    }
    var bytes: [UInt8] = []
    appendText(to: &bytes)
    guard let code = bytes.rawSpan.validString, let unit = unit.validString, let kind = kind.validString else {
      return nil
    }
    copy.code = code
    copy.quantity = quantity
    copy.unit = unit
    copy.kind = kind
    return copy
  }
}

/// An iterator over the codes of a record.
struct CodeIterator: ~Escapable {
  private var keys: KeyList
  private let body: RawSpan
  private var offset = 0
  /// Whether all keys and the complete body were read without a contradiction.
  private(set) var isComplete = false

  @_lifetime(copy keys, copy body)
  fileprivate init(keys: RawSpan, body: RawSpan) {
    self.keys = KeyList(keys)
    self.body = body
  }

  /// Returns the next code; `nil` after the last one, and where keys and body contradict each other.
  @_lifetime(copy self)
  mutating func next() -> ProductCodeView? {
    guard let key = keys.next() else {
      isComplete = offset == body.byteCount
      return nil
    }
    return ProductCodeView(key, body, at: &offset)
  }
}

extension RawSpan {
  /// Returns the number of seven bits a byte at `offset`, lowest first, and moves the offset behind it; `nil` if it is
  /// out of bounds or has more than 64 bits.
  fileprivate func number(at offset: inout Int) -> UInt64? {
    var number: UInt64 = 0
    var shift: UInt64 = 0
    while offset < byteCount, shift < 64 {
      let byte = u8(at: offset)
      if shift == 63, byte > 1 { return nil }
      offset += 1
      number |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return byte == 0 && shift > 0 ? nil : number }
      shift += 7
    }
    return nil
  }

  /// Returns the text at `offset` after its length, which is not empty, and moves the offset behind it; an empty one if
  /// it is not there.
  @_lifetime(copy self)
  fileprivate func text(_ isThere: Bool, at offset: inout Int) -> RawSpan? {
    if !isThere { return slice(0, 0) }
    guard let range = textRange(at: offset), !range.isEmpty else { return nil }
    offset = range.upperBound
    return extracting(range)
  }
}
