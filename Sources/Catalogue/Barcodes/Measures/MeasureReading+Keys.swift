extension MeasureReading {
  /// A barcode under which a catalogue may list the item.
  public enum Key: Hashable, Sendable {
    /// The number of the item; see ``MeasureReading/itemNumber``. Any spelling of it is a match.
    case itemNumber(GTIN)
    /// A text that a barcode must equal.
    case text(String)

    /// The barcode in its shortest spelling: 13, 12 or 8 digits for a number.
    public var text: String {
      switch self {
      case .itemNumber(let gtin): gtin.spellings.last ?? gtin.digits
      case .text(let text): text
      }
    }
  }

  /// The barcodes to look up, in this order. The first one that the catalogue lists is the item.
  ///
  /// For 2112345015002, read as `PPIIIIIVVVVVC`:
  ///
  /// 1. 2112345000008: the number with zeros for the value. It is a whole number that can identify nothing else. Odoo,
  ///    GS1 Finland and cash registers list items so. The check digit of a value of zero is zero.
  /// 2. 2112345: prefix and item. A rule for 12 digits tries `212345`, then `0212345`, and a rule for 13 digits with a
  ///    leading 0 both in reverse order.
  /// 3. 2112345000000: the number with zeros for the value and the check digit, as some systems keep it. Its check
  ///    digit is wrong, so it is a text, and spelled in two ways like 2.
  /// 4. 12345: the item alone, the number of a scale's key. It is last because a short number is most likely to be
  ///    something else as well.
  ///
  /// For a number of 18 digits, the first is prefix and item with zeros after them, up to 13 digits; the third is not
  /// looked up.
  ///
  /// The whole number as scanned is not among them, because an equal barcode is a match without any rule.
  public var keys: [Key] {
    let item = item
    let itemNumber = itemNumber
    let isLong = rule.digitCount == MeasureRule.longDigitCount
    var keys: [Key] = []
    keys.reserveCapacity(6)
    if !isLong || head.utf8.count <= 12 { keys.append(.itemNumber(itemNumber)) }
    appendSpellings(of: rule.prefix + item, to: &keys)
    let checkDigit = itemNumber.value % 10
    if checkDigit != 0, !isLong {
      let field = DigitField(place: 0, count: rule.digitCount)
      appendSpellings(of: field.digits(in: itemNumber.value - checkDigit), to: &keys)
    }
    keys.append(.text(item))
    return keys
  }

  /// Appends the start of a number as the rule spells it, then as the other of the two lengths does, 12 or 13 digits.
  private func appendSpellings(of start: String, to keys: inout [Key]) {
    keys.append(.text(start))
    switch rule.digitCount {
    case 12: keys.append(.text("0" + start))
    case 13 where start.utf8.first == UInt8(ascii: "0"): keys.append(.text(String(start.dropFirst())))
    default: break
    }
  }
}
