import TextFormat

/// Converts the values of elements to typed values.
struct ElementReader {
  /// The date of the day, which determines the century of a year with two digits.
  let today: ScanDate

  /// Why a value cannot be converted, for users.
  struct Problem: Error {
    let reason: String
  }

  /// Adds the typed values of an element to `data`.
  ///
  /// - Returns: Whether there was no value with this name yet.
  /// - Throws: `Problem` if the value is wrong. Nothing is added in this case.
  func add(_ element: ElementString.Element, _ identifier: ApplicationIdentifier, to data: inout ScanData)
    throws(Problem)
    -> Bool
  {
    if identifier.type == .text, identifier.components.count == 1, identifier.components[0].checks.isEmpty {
      // Most texts. What has been delimited has the right length.
      for byte in element.value.utf8 where !identifier.components[0].characters.contains(byte) {
        throw Problem(reason: Self.foreign(byte, in: element.value.utf8))
      }
      return data.add(.text(element.value), identifier.name)
    }
    let parts = try self.parts(Array(element.value.utf8), identifier)
    let decimals = identifier.first == identifier.last ? 0 : Int(element.ai.utf8.last! - UInt8(ascii: "0"))
    let name = identifier.name
    switch identifier.type {
    case .text, .url: return data.add(.text(element.value), name)
    case .encoded:
      guard let plain = PercentEncoding.decodedText(element.value[...], plusIsBlank: true) else {
        throw Problem(reason: "'\(element.value)' is not percent-encoded UTF-8")
      }
      return data.add(.text(plain), name)
    case .number: return data.add(.number(try number(parts[0], 0)), name)
    case .flag: return data.add(.flag(parts[0].first == UInt8(ascii: "1")), name)
    case .date: return data.add(.date(try date(parts[0], identifier)), name)
    case .dates:
      let dates = try parts.map { (part) throws(Problem) in try date(part, identifier) }
      guard dates.count == 2 else { return data.add(.date(dates[0]), name) }
      return data.add(.fields([ScanData.Field("from", .date(dates[0])), ScanData.Field("to", .date(dates[1]))]), name)
    case .dateTime: return data.add(try moment(parts, identifier), name)
    case .measure(let unit): return data.add(.quantity(try number(parts[0], decimals), unit: unit), name)
    case .money: return data.add(.money(try number(parts[0], decimals), currency: nil), name)
    case .currencyMoney:
      let currency = NumericCodes.currency(Self.integer(parts[0]))
      return data.add(.money(try number(parts[1], decimals), currency: currency), name)
    case .percent: return data.add(.number(try number(parts[0], decimals)), name)
    case .temperature(let unit):
      let degrees = try number(parts[0], 2)
      let sign: Int64 = parts.count > 1 ? -1 : 1
      return data.add(.quantity(ExactDecimal(sign * degrees.coefficient, decimals: 2), unit: unit), name)
    case .country: return data.add(country(parts[0]), name)
    case .countries: return data.add(.list(parts.map(country)), name)
    case .countryAndPostalCode:
      let isFirst = data.add(country(parts[0]), name + ".country")
      return data.add(text(parts[1]), name + ".postalCode") && isFirst
    case .countryAndText:
      return data.add(
        .fields([ScanData.Field("country", country(parts[0])), ScanData.Field("id", text(parts[1]))]), name)
    case .certificate:
      return data.add(
        .fields([ScanData.Field("scheme", text(parts[0])), ScanData.Field("reference", text(parts[1]))]), name)
    case .position: return data.add(position(parts), name)
    case .piece:
      let piece = Self.integer(parts[1])
      return data.add(
        .fields([
          ScanData.Field("gtin", text(parts[0])), ScanData.Field("piece", .number(ExactDecimal(Int64(piece / 100)))),
          ScanData.Field("total", .number(ExactDecimal(Int64(piece % 100)))),
        ]), name)
    case .roll: return data.add(try roll(parts), name)
    case .internal: return data.add(.text(element.value), name + "." + element.ai)
    }
  }

  // MARK: Components

  /// Returns the components of a value, checked.
  private func parts(_ value: [UInt8], _ identifier: ApplicationIdentifier) throws(Problem) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var rest = value[...]
    for component in identifier.components {
      if rest.isEmpty, component.isOptional { break }
      let part = rest.prefix(component.maximumLength)
      rest = rest.dropFirst(part.count)
      guard part.count >= component.minimumLength else {
        throw Problem(reason: "\(Self.quoted(value)) is too short: the format is \(identifier.format)")
      }
      for byte in part where !component.characters.contains(byte) {
        throw Problem(reason: Self.foreign(byte, in: value))
      }
      if Self.isNoTimeOfDay(part, identifier) {
        parts.append(part)
        continue
      }
      for check in component.checks {
        if let reason = check.problem(of: part) { throw Problem(reason: "\(Self.quoted(value)): \(reason)") }
      }
      parts.append(part)
    }
    return parts
  }

  private func number(_ digits: ArraySlice<UInt8>, _ decimals: Int) throws(Problem) -> ExactDecimal {
    guard let number = ExactDecimal(digits: digits, decimals: decimals) else {
      throw Problem(reason: "\(Self.quoted(digits)) is no number of at most 18 digits")
    }
    return number
  }

  private func text(_ part: ArraySlice<UInt8>) -> ScanValue { .text(String(decoding: part, as: UTF8.self)) }

  private func country(_ digits: ArraySlice<UInt8>) -> ScanValue {
    // 999 stands for several countries.
    .text(NumericCodes.country(Self.integer(digits)) ?? String(decoding: digits, as: UTF8.self))
  }

  /// Returns the place. The numbers count ten millionths of a degree, from the south pole, and eastward from Greenwich.
  private func position(_ parts: [ArraySlice<UInt8>]) -> ScanValue {
    let unit: Int64 = 10_000_000
    let longitude = Int64(Self.integer(parts[1]))
    let east = longitude > 180 * unit ? longitude - 360 * unit : longitude
    return .fields([
      ScanData.Field("latitude", .number(ExactDecimal(Int64(Self.integer(parts[0])) - 90 * unit, decimals: 7))),
      ScanData.Field("longitude", .number(ExactDecimal(east, decimals: 7))),
    ])
  }

  private func roll(_ parts: [ArraySlice<UInt8>]) throws(Problem) -> ScanValue {
    .fields([
      ScanData.Field("width", .quantity(try number(parts[0], 0), unit: "mm")),
      ScanData.Field("length", .quantity(try number(parts[1], 0), unit: "m")),
      ScanData.Field("coreDiameter", .quantity(try number(parts[2], 0), unit: "mm")),
      ScanData.Field("winding", .text(Self.windings[Self.integer(parts[3])] ?? "unknown")),
      ScanData.Field(
        "splices", parts[4].first == UInt8(ascii: "9") ? .text("unknown") : .number(try number(parts[4], 0))),
    ])
  }

  private static let windings = [0: "outside", 1: "inside", 9: "unknown"]

  // MARK: Dates

  private func date(_ digits: ArraySlice<UInt8>, _ identifier: ApplicationIdentifier) throws(Problem) -> ScanDate {
    let dayMayBeZero = identifier.components[0].checks.contains(.yymmd0)
    guard let date = Self.date(digits, year: today.year, dayMayBeZero: dayMayBeZero) else {
      throw Problem(reason: "\(Self.quoted(digits)) is no date: \(Self.reason(digits, dayMayBeZero))")
    }
    return date
  }

  /// Returns the date of six digits, or of eight with the century; `nil` if the calendar has no such date.
  ///
  /// - Parameter dayMayBeZero: Whether day 00 stands for the last day of the month.
  static func date(_ digits: ArraySlice<UInt8>, year currentYear: Int, dayMayBeZero: Bool) -> ScanDate? {
    let day = integer(digits.suffix(2))
    let month = integer(digits.dropLast(2).suffix(2))
    let number = integer(digits.dropLast(4))
    let year = digits.count == 8 ? number : ScanDate.year(ofTwoDigits: number, in: currentYear)
    if day == 0, dayMayBeZero { return ScanDate.end(of: month, year: year) }
    return ScanDate(year: year, month: month, day: day)
  }

  private static func reason(_ digits: ArraySlice<UInt8>, _ dayMayBeZero: Bool) -> String {
    let month = integer(digits.dropLast(2).suffix(2))
    let day = integer(digits.suffix(2))
    if !(1...12).contains(month) { return "there is no month \(month)" }
    return day == 0 && !dayMayBeZero ? "the day is missing" : "month \(month) has no day \(day)"
  }

  private func moment(_ parts: [ArraySlice<UInt8>], _ identifier: ApplicationIdentifier) throws(Problem) -> ScanValue {
    let date = try date(parts[0], identifier)
    // An hour with its minutes in one component, or each in its own.
    let clock = Array(parts.dropFirst().joined())
    guard !clock.isEmpty, !Self.isNoTimeOfDay(clock[...], identifier) else { return .date(date) }
    let numbers = stride(from: 0, to: clock.count, by: 2).map { Self.integer(clock[$0..<min($0 + 2, clock.count)]) }
    let second = numbers.count > 2 ? numbers[2] : nil
    guard
      let moment = ScanDateTime(
        date: date, hour: numbers[0], minute: numbers.count > 1 ? numbers[1] : 0, second: second)
    else { throw Problem(reason: "\(Self.quoted(clock)) is no time of day") }
    return .dateTime(moment)
  }

  /// Whether the part says that a delivery has no time of day: 9999 after the date of (4324) and (4325).
  private static func isNoTimeOfDay(_ part: ArraySlice<UInt8>, _ identifier: ApplicationIdentifier) -> Bool {
    (4324...4325).contains(identifier.first) && part.elementsEqual("9999".utf8)
  }

  // MARK: Texts

  private static func foreign(_ byte: UInt8, in value: some Sequence<UInt8>) -> String {
    "\(quoted(value)) has a character that is not allowed: \(quoted([byte]))"
  }

  /// The number of at most 14 digits.
  static func integer(_ digits: ArraySlice<UInt8>) -> Int { Int(DigitRun(digits)?.value ?? 0) }

  private static func quoted(_ value: some Sequence<UInt8>) -> String {
    "'" + String(decoding: Array(value), as: UTF8.self) + "'"
  }
}
