/// The format of the data field of a GS1 Application Identifier (GS1 General Specifications 3.2, release 25; the GS1
/// Barcode Syntax Dictionary contains the same list).
///
/// It contains only what a decoder needs to delimit and validate a field: lengths and the positions of digits. Whether
/// a date exists in the calendar or a country in ISO 3166 is not checked.
struct ElementFormat: Equatable {
  /// The number of digits of the identifier, 2 to 4.
  let identifierLength: Int
  let minimumLength: Int
  let maximumLength: Int
  /// The number of leading characters that must be digits; `maximumLength` for a numeric field.
  let leadingDigitCount: Int
  /// Whether the identifier has a predefined length and so needs no separator (General Specifications 7.8, element
  /// strings with predefined length). The list is closed: no identifier will ever be added to it.
  let isPredefined: Bool

  var isNumeric: Bool { leadingDigitCount == maximumLength }
  var isFixed: Bool { minimumLength == maximumLength }

  private init(_ field: Field, identifierLength: Int, prefix: Int) {
    self.identifierLength = identifierLength
    minimumLength = field.minimum
    maximumLength = field.maximum
    leadingDigitCount = field.digits
    isPredefined =
      switch prefix {
      case 0...4, 11...20, 31...36, 41: true
      default: false
      }
  }

  /// Finds the format of the identifier at `offset` in `bytes`; `nil` if there is no identifier at that offset.
  init?(at offset: Int, in bytes: [UInt8]) {
    guard offset + 2 <= bytes.count, let prefix = DigitRun(bytes[offset..<offset + 2]) else { return nil }
    let prefixValue = Int(prefix.value)
    let length = Self.identifierLength(prefix: prefixValue)
    guard offset + length <= bytes.count, let identifier = DigitRun(bytes[offset..<offset + length]) else {
      return nil
    }
    guard let field = Self.field(of: Int(identifier.value)) else { return nil }
    self.init(field, identifierLength: length, prefix: prefixValue)
  }

  /// Returns the number of digits of an identifier, known or not, which its first two digits determine.
  private static func identifierLength(prefix: Int) -> Int {
    switch prefix {
    case 23...25, 40...42, 71: 3
    case 31...36, 39, 43, 70, 72, 80...82: 4
    default: 2
    }
  }

  private struct Field {
    let minimum: Int
    let maximum: Int
    let digits: Int

    /// Returns a numeric field of `count` digits.
    static func number(_ count: Int) -> Field { Field(minimum: count, maximum: count, digits: count) }
    /// Returns a numeric field whose number of digits is in `range`.
    static func number(_ range: ClosedRange<Int>) -> Field {
      Field(minimum: range.lowerBound, maximum: range.upperBound, digits: range.upperBound)
    }
    /// Returns a text field of `count` characters.
    static func text(_ count: Int) -> Field { Field(minimum: count, maximum: count, digits: 0) }
    /// Returns a text field whose number of characters is in `range`. The first `digits` characters are digits.
    static func text(_ range: ClosedRange<Int>, digits: Int = 0) -> Field {
      Field(minimum: range.lowerBound, maximum: range.upperBound, digits: digits)
    }
  }

  /// Returns the field of an identifier. Identifiers of 2, 3 and 4 digits never collide as numbers, because only those
  /// of two digits start with zero.
  private static func field(of identifier: Int) -> Field? {
    switch identifier {
    // Kind of object: logistic unit, item, contents, made-to-order item.
    case 0: .number(18)
    case 1, 2, 3: .number(14)
    // Lot, dates, variant, serial number and other attributes.
    case 10, 21, 22: .text(1...20)
    case 11, 12, 13, 15, 16, 17: .number(6)
    case 20: .number(2)
    case 235: .text(1...28)
    case 240, 241, 250, 251: .text(1...30)
    case 242: .number(1...6)
    case 243, 254: .text(1...20)
    case 253: .text(13...30, digits: 13)
    case 255: .number(13...25)
    case 30, 37: .number(1...8)
    // Measures; the last digit is the number of decimals.
    case 3100...3699: measure(identifier)
    // Amounts and prices.
    case 3900...3909, 3920...3929: .number(1...15)
    case 3910...3919, 3930...3939: .number(4...18)
    case 3940...3943: .number(4)
    case 3950...3955: .number(6)
    // Orders, consignments, locations, countries.
    case 400, 401, 403: .text(1...30)
    case 402: .number(17)
    case 410...417: .number(13)
    case 420: .text(1...20)
    case 421: .text(4...12, digits: 3)
    case 422, 424, 426: .number(3)
    case 423, 425: .number(3...15)
    case 427: .text(1...3)
    // Transport.
    case 4300, 4301, 4310, 4311, 4320: .text(1...35)
    case 4302...4306, 4312...4316: .text(1...70)
    case 4307, 4317: .text(2)
    case 4308, 4319: .text(1...30)
    case 4309: .number(20)
    case 4318: .text(1...20)
    case 4321...4323: .number(1)
    case 4324, 4325: .number(10)
    case 4326: .number(6)
    case 4330...4333: .text(6...7, digits: 6)
    // Production, freshness, processors.
    case 7001: .number(13)
    case 7002: .text(1...30)
    case 7003: .number(10)
    case 7004: .number(1...4)
    case 7005: .text(1...12)
    case 7006: .number(6)
    case 7007: .number(6...12)
    case 7008: .text(1...3)
    case 7009: .text(1...10)
    case 7010: .text(1...2)
    case 7011: .number(6...10)
    case 7020...7022: .text(1...20)
    case 7023: .text(1...30)
    case 7030...7039: .text(4...30, digits: 3)
    case 7040: .text(4...4, digits: 1)
    case 7041: .text(1...4)
    // National healthcare numbers, certificates, patients.
    case 710...717: .text(1...20)
    case 7230...7239: .text(3...30)
    case 7240: .text(1...20)
    case 7241: .number(2)
    case 7242: .text(1...25)
    case 7250: .number(8)
    case 7251: .number(12)
    case 7252: .number(1)
    case 7253, 7254, 7259: .text(1...40)
    case 7255: .text(1...10)
    case 7256: .text(1...90)
    case 7257: .text(1...70)
    case 7258: .text(3)
    // Other keys, coupons, web addresses.
    case 8001: .number(14)
    case 8002: .text(1...20)
    case 8003: .text(14...30, digits: 14)
    case 8004: .text(1...30)
    case 8005: .number(6)
    case 8006, 8017, 8018, 8026: .number(18)
    case 8007: .text(1...34)
    case 8008: .number(8...12)
    case 8009: .text(1...50)
    case 8010: .text(1...30)
    case 8011: .number(1...12)
    case 8012: .text(1...20)
    case 8013, 8014, 8020: .text(1...25)
    case 8019: .number(1...10)
    case 8030: .text(1...90)
    case 8110, 8112, 8200: .text(1...70)
    case 8111: .number(4)
    // Internal use, and mutual agreement between partners.
    case 90: .text(1...30)
    case 91...99: .text(1...90)
    default: nil
    }
  }

  /// Returns the field of 310n to 316n, 320n to 337n, 340n to 357n or 360n to 369n, with up to five decimals.
  private static func measure(_ identifier: Int) -> Field? {
    guard identifier % 10 <= 5 else { return nil }
    switch identifier / 10 {
    case 310...316, 320...337, 340...357, 360...369: return .number(6)
    default: return nil
    }
  }

  /// Returns what is wrong with `value` as a value of this field: its length, its digits or its characters; `nil` if it
  /// is valid.
  ///
  /// Text may contain any printable ASCII character except the backslash. That is more than character set 82 (General
  /// Specifications 7.11) allows, because lots with blanks or `#` are printed in practice and should be returned
  /// unchanged. The backslash is excluded because it is the escape character of the bracketed form.
  func defect(of value: ArraySlice<UInt8>) -> Defect? {
    for (index, byte) in value.prefix(maximumLength).enumerated() {
      if index < leadingDigitCount {
        guard ASCII.isDigit(byte) else { return .wrongCharacter }
      } else {
        guard ASCII.isPrintable(byte), byte != ASCII.backslash else { return .wrongCharacter }
      }
    }
    if value.count < minimumLength { return .tooShort }
    if value.count > maximumLength { return .tooLong }
    return nil
  }

  enum Defect { case tooShort, tooLong, wrongCharacter }
}
