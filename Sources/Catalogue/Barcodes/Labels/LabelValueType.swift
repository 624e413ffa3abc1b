/// How the value of a data identifier is written, and how it becomes typed.
enum LabelValueType: Hashable, Sendable {
  /// Any text.
  case text
  /// A number with digits and at most one decimal point.
  case number
  /// A number followed by a unit of two letters or digits (ANSI X12.3, data element 355).
  case numberAndUnit
  /// A number in this unit.
  case quantity(unit: String)
  /// A number followed by the three letters of a currency (ISO 4217).
  case money
  /// `n/x`: the nth of x pieces. The pieces become `piece` and `total`.
  case pieceOfTotal
  /// A date.
  case date(LabelDateFormat)
  /// A date, and up to three characters after it that say which date it is (ANSI X12.3, data element 374).
  case qualifiedDate(LabelDateFormat)
  /// A date and an hour or a time.
  case dateTime(LabelDateFormat)
  /// A country of two letters (ISO 3166-1 alpha-2).
  case country
  /// A GTIN of 8, 12, 13 or 14 digits.
  case gtin
  /// A number of a pharmaceutical product with its two check digits, as data identifier 9N has it.
  case ppn

  /// Why a value cannot be typed.
  struct Fault: Error {
    let reason: String
  }

  /// Reads `value`.
  ///
  /// - Parameter today: The current date, which decides the century of years with two digits.
  func read(_ value: [UInt8], today: ScanDate) -> Result<ScanValue, Fault> {
    switch self {
    case .text:
      return .success(.text(String(decoding: value, as: UTF8.self)))
    case .number:
      return Self.result(Self.decimal(value[...]).map { .number($0) }, "the value is not a number")
    case .numberAndUnit:
      let unit = value.suffix(2)
      let isUnit = unit.count == 2 && unit.allSatisfy(ASCII.isAlphanumeric)
      let number = isUnit ? Self.decimal(value.dropLast(2)) : nil
      return Self.result(
        number.map { .quantity($0, unit: String(decoding: unit, as: UTF8.self)) },
        "the value is not a number with a unit of two characters")
    case .quantity(let unit):
      return Self.result(Self.decimal(value[...]).map { .quantity($0, unit: unit) }, "the value is not a number")
    case .money:
      let currency = value.suffix(3)
      let amount = currency.allSatisfy(ASCII.isUpper) ? Self.decimal(value.dropLast(3)) : nil
      return Self.result(
        amount.map { .money($0, currency: String(decoding: currency, as: UTF8.self)) },
        "the value is not a number with the three letters of a currency")
    case .pieceOfTotal:
      return Self.result(Self.pieceOfTotal(value), "the value is not 'piece/total'")
    case .date(let format):
      return Self.result(format.date(value, today: today).map { .date($0) }, "the date does not exist")
    case .qualifiedDate(let format):
      let isQualified = (format.count...format.count + 3).contains(value.count)
      let date = isQualified ? format.date(Array(value.prefix(format.count)), today: today) : nil
      return Self.result(date.map { .date($0) }, "the date does not exist")
    case .dateTime(let format):
      return Self.result(format.dateTime(value, today: today).map { .dateTime($0) }, "the date or time does not exist")
    case .country:
      let isCountry = value.count == 2 && value.allSatisfy(ASCII.isUpper)
      return Self.result(
        isCountry ? .text(String(decoding: value, as: UTF8.self)) : nil, "the value is not a country of two letters")
    case .gtin:
      guard let run = DigitRun(value), run.hasLengthOfGTIN else {
        return .failure(Fault(reason: "the value is not a GTIN of 8, 12, 13 or 14 digits"))
      }
      return Self.result(
        GTIN(run) == nil ? nil : .text(String(decoding: value, as: UTF8.self)), "the check digit is wrong")
    case .ppn:
      let isValid = PharmacyProductNumber(value) != nil
      return Self.result(
        isValid ? .text(String(decoding: value, as: UTF8.self)) : nil,
        "the value is not a Pharmacy Product Number, or its check digits are wrong")
    }
  }

  /// Returns the number that digits with at most one decimal point denote; `nil` for anything else, and for more than
  /// 18 digits.
  static func decimal(_ value: ArraySlice<UInt8>) -> ExactDecimal? {
    guard let point = value.firstIndex(of: UInt8(ascii: ".")) else { return ExactDecimal(digits: value, decimals: 0) }
    let fraction = value[(point + 1)...]
    guard point > value.startIndex, !fraction.isEmpty else { return nil }
    return ExactDecimal(digits: Array(value[..<point]) + fraction, decimals: fraction.count)
  }

  private static func pieceOfTotal(_ value: [UInt8]) -> ScanValue? {
    let numbers = value.split(separator: ASCII.slash, omittingEmptySubsequences: false)
    guard numbers.count == 2, let piece = ExactDecimal(digits: numbers[0], decimals: 0),
      let total = ExactDecimal(digits: numbers[1], decimals: 0)
    else { return nil }
    return .fields([ScanData.Field("piece", .number(piece)), ScanData.Field("total", .number(total))])
  }

  private static func result(_ value: ScanValue?, _ reason: String) -> Result<ScanValue, Fault> {
    value.map { .success($0) } ?? .failure(Fault(reason: reason))
  }
}
