/// Labels of the Health Industry Bar Code, supplier labeling (ANSI/HIBC 2.6):
///
///     +A99912345/$$52001510X3/16D20111212/S77DEFG457
///      └┬─┘└┬─┘│ └┬│└─┬─┘└┬─┘ └────┬────┘ └───┬───┘└ check character of everything before it
///       │   │  │  ││  │   │        └──────────┴ data with identifiers of ANSI MH10.8.2
///       │   │  │  ││  │   └ lot
///       │   │  │  ││  └ expiry: 2020, day 15
///       │   │  │  │└ format of the date
///       │   │  │  └ flag of secondary data
///       │   │  └ unit of measure
///       │   └ product or catalogue number, 1 to 18 characters
///       └ labeler
///
/// In a symbol of their own, the secondary data are `+$$52001510X3GD`: a link, which is the check character of the
/// primary data, precedes their own check character.
extension Label {
  /// Parses a label of primary data, secondary data, or both. Asterisks at both ends, as in the printed line, are
  /// ignored.
  init?(hibc bytes: [UInt8]) {
    let isPrinted = bytes.count > 2 && bytes.first == UInt8(ascii: "*") && bytes.last == UInt8(ascii: "*")
    let data = isPrinted ? bytes.dropFirst().dropLast() : bytes[...]
    guard data.first == UInt8(ascii: "+"), (4...200).contains(data.count) else { return nil }
    guard let check = HIBCCheck(data) else { return nil }
    let message = check.message
    let body = message.dropFirst()
    guard let first = body.first else { return nil }

    if ASCII.isUpper(first) {
      guard let primary = Primary(body, isStrict: !check.isValid) else { return nil }
      self.init(kind: .hibc)
      addPrimary(primary, at: data.startIndex)
      if check.isValid { addParts(of: primary) }
      if let secondary = primary.secondary { readSecondary(message[secondary...]) }
    } else if first == UInt8(ascii: "$") {
      guard body.count >= 2 else { return nil }
      self.init(kind: .hibc)
      readSecondaryAlone(message)
    } else if check.isValid, body.count >= 6, body.prefix(5).allSatisfy(ASCII.isDigit) {
      self.init(kind: .hibc)
      // One telephone number in 43 has this form.
      isWeak = true
      readSecondaryAlone(message)
    } else if check.isValid, first == ASCII.slash {
      self.init(kind: .hibc)
      addElement("+/", at: data.startIndex, body.dropFirst())
      addFault("+/", at: data.startIndex, "a label of the HIBC provider applications standard is not read")
    } else {
      return nil
    }
    if !check.isValid {
      // A text that only begins like a label has a wrong check character too.
      isWeak = true
      entries = []
      let position = min(message.endIndex, bytes.count - 1)
      faults = [ScanIssue(ai: nil, position: position, reason: "the check character of HIBC is wrong")]
    }
  }

  /// The primary data.
  private struct Primary {
    let labeler: ArraySlice<UInt8>
    let product: ArraySlice<UInt8>
    let unit: ArraySlice<UInt8>
    /// Labeler, product and unit.
    let all: ArraySlice<UInt8>
    /// The offset of the secondary data; `nil` if there are none.
    let secondary: Int?

    /// Reads the primary data at the start of `body`, up to a slash.
    ///
    /// - Parameter isStrict: Whether the product may only have letters and digits, as the standard demands. Some
    ///   labelers use hyphens and points as well.
    init?(_ body: ArraySlice<UInt8>, isStrict: Bool) {
      let slash = body.firstIndex(of: ASCII.slash)
      let all = body[..<(slash ?? body.endIndex)]
      guard (6...23).contains(all.count), let unit = all.last, ASCII.isDigit(unit) else { return nil }
      let (labeler, product) = (all.prefix(4), all.dropFirst(4).dropLast())
      guard (labeler + (isStrict ? product : [])).allSatisfy({ ASCII.isDigit($0) || ASCII.isUpper($0) }) else {
        return nil
      }
      self.labeler = labeler
      self.product = product
      self.unit = all.suffix(1)
      self.all = all
      secondary = slash.map { $0 + 1 }
    }
  }

  private mutating func addPrimary(_ primary: Primary, at position: Int) {
    addElement("+", at: position, primary.all)
    addEntry("labelerId", .text, "+", at: position, primary.labeler)
    addEntry("productCode", .text, "+", at: position, primary.product)
    addEntry("unitOfMeasure", .text, "+", at: position, primary.unit)
  }

  private mutating func addParts(of primary: Primary) {
    let flagged = [UInt8(ascii: "+")] + primary.all
    addPart(String(decoding: flagged + [HIBCCheck.character(for: flagged)], as: UTF8.self))
    addPart(String(decoding: primary.all, as: UTF8.self))
    addPart(String(decoding: primary.product, as: UTF8.self))
  }

  /// Reads secondary data in a symbol of their own, whose last character before the check character is the link.
  private mutating func readSecondaryAlone(_ message: ArraySlice<UInt8>) {
    readSecondary(message.dropFirst().dropLast())
    addElement("link", at: message.endIndex - 1, message.suffix(1))
    addEntry("link", .text, "link", at: message.endIndex - 1, message.suffix(1))
  }

  /// Reads the secondary data: fields with a slash between them, whose first may be a lot with a date.
  private mutating func readSecondary(_ data: ArraySlice<UInt8>) {
    for field in data.split(separator: ASCII.slash) {
      let position = field.startIndex
      if let flag = ["$$+", "$$", "$+", "$"].first(where: { field.starts(with: $0.utf8) }) {
        addElement(flag, at: position, field.dropFirst(flag.utf8.count))
        readLot(field.dropFirst(flag.utf8.count), flag, at: position)
      } else if let length = DataIdentifier.length(at: field) {
        addField(String(decoding: field.prefix(length), as: UTF8.self), at: position, field.dropFirst(length))
      } else if field.count >= 5, field.prefix(5).allSatisfy(ASCII.isDigit) {
        addElement("YYJJJ", at: position, field)
        addEntry("expiry", .date(.yearDay), "YYJJJ", at: position, field.prefix(5))
        addLot(field.dropFirst(5), "YYJJJ", at: position)
      } else {
        addFault(nil, at: position, "no secondary data of HIBC start here")
      }
    }
  }

  /// Reads what follows a flag: with `$$` a quantity and a date, then the lot; with a plus sign, a serial number
  /// instead of the lot.
  private mutating func readLot(_ data: ArraySlice<UInt8>, _ flag: String, at position: Int) {
    var rest = data
    if flag.hasPrefix("$$") {
      let quantityLength: Int? =
        switch rest.first {
        case UInt8(ascii: "8"): 2
        case UInt8(ascii: "9"): 5
        default: nil
        }
      if let quantityLength {
        addEntry("count", .number, flag, at: position, rest.dropFirst().prefix(quantityLength))
        rest = rest.dropFirst(1 + quantityLength)
      }
      if let (format, flagLength, hasHour) = Self.dateFormat(rest.first) {
        let digits = rest.dropFirst(flagLength).prefix(format.count)
        addEntry(
          hasHour ? "expiryTime" : "expiry", hasHour ? .dateTime(format) : .date(format), flag, at: position, digits)
        rest = rest.dropFirst(flagLength + format.count)
      } else if rest.first == UInt8(ascii: "7") {
        rest = rest.dropFirst()
      } else if !rest.isEmpty {
        addFault(flag, at: position, "the format of the date is unknown")
        return
      }
    }
    addLot(rest, flag, at: position)
  }

  private mutating func addLot(_ lot: ArraySlice<UInt8>, _ flag: String, at position: Int) {
    if !lot.isEmpty { addEntry(flag.hasSuffix("+") ? "serial" : "lot", .text, flag, at: position, lot) }
  }

  /// Returns the format of the date that starts with `first`, the length of its flag, and whether it has an hour.
  private static func dateFormat(_ first: UInt8?) -> (LabelDateFormat, flagLength: Int, hasHour: Bool)? {
    switch first {
    case UInt8(ascii: "0"), UInt8(ascii: "1"): (.monthYear, 0, false)
    case UInt8(ascii: "2"): (.monthDayYear, 1, false)
    case UInt8(ascii: "3"): (.yearMonthDay, 1, false)
    case UInt8(ascii: "4"): (.yearMonthDayHour, 1, true)
    case UInt8(ascii: "5"): (.yearDay, 1, false)
    case UInt8(ascii: "6"): (.yearDayHour, 1, true)
    default: nil
    }
  }
}
