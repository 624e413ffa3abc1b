/// A Global Trade Item Number in its canonical form of 14 digits.
///
/// GTIN-8, GTIN-12 (UPC-A), GTIN-13 (EAN-13) and GTIN-14 name trade items in one number space: padded with
/// zeros on the left they are one key (GS1 General Specifications 2.1 and 3.3.2). Two spellings of one item
/// are therefore equal here, which no comparison of texts can achieve.
///
/// Invariant: ``value`` is less than 10¹⁴ and its last digit is its check digit.
public struct GTIN: Hashable, Sendable {
  /// The 14 digits as a number, fit to be the key of an index.
  public let value: UInt64

  /// The GTIN whose 14 digits read as the number `value`.
  ///
  /// - Returns: Nil when `value` has more than 14 digits or a wrong check digit.
  public init?(value: UInt64) {
    guard value < Self.valueLimit else { return nil }
    var sum: UInt64 = 0
    var rest = value
    while rest > 0 {
      sum += rest % 10 + 3 * (rest / 10 % 10)
      rest /= 100
    }
    guard sum.isMultiple(of: 10) else { return nil }
    self.value = value
  }

  /// The GTIN written as 8, 12, 13 or 14 ASCII digits.
  ///
  /// - Returns: Nil for any other length or character, blanks included, and for a wrong check digit.
  public init?(_ digits: String) {
    self.init(utf8: digits.utf8)
  }

  /// The GTIN written as 8, 12, 13 or 14 ASCII digits.
  ///
  /// - Returns: Nil for any other length or character, blanks included, and for a wrong check digit.
  public init?(_ digits: some StringProtocol) {
    self.init(utf8: digits.utf8)
  }

  /// The GTIN written as 8, 12, 13 or 14 bytes that are ASCII digits.
  ///
  /// - Returns: Nil for any other length or byte, and for a wrong check digit.
  /// - Complexity: Stops at the first byte that is no digit, at the latest at the fifteenth.
  public init?(utf8 bytes: some Sequence<UInt8>) {
    var run = DigitRun()
    for byte in bytes {
      guard run.append(byte), run.count <= DigitRun.valueDigitCount else { return nil }
    }
    self.init(run)
  }

  /// The GTIN written as 8, 12, 13 or 14 bytes that are ASCII digits.
  ///
  /// - Returns: Nil for any other length or byte, and for a wrong check digit.
  public init?(utf8 bytes: Span<UInt8>) {
    guard bytes.count <= DigitRun.valueDigitCount else { return nil }
    var run = DigitRun()
    for index in bytes.indices {
      guard run.append(bytes[index]) else { return nil }
    }
    self.init(run)
  }

  init?(_ run: DigitRun) {
    guard run.hasLengthOfGTIN, run.endsInCheckDigit else { return nil }
    value = run.value
  }

  /// One more than the greatest number of 14 digits.
  private static let valueLimit: UInt64 = 100_000_000_000_000

  /// The 14 digits.
  public var digits: String {
    unsafe String(unsafeUninitializedCapacity: 14) { text in
      // Fourteen bytes are asked for, and all of them are written.
      var rest = value
      for place in stride(from: 13, through: 0, by: -1) {
        unsafe text[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return 14
    }
  }

  /// The first of the 14 digits: 0 for the item itself, 1 to 8 for a grouping of it such as a case, 9 for an
  /// item of variable measure (GS1 General Specifications 2.1). Each indicator makes *another* trade item.
  public var indicator: Int { Int(value / 10_000_000_000_000) }

  /// Every way to write this GTIN without losing a digit: 14 digits; 13 if they start with 0; 12 if with 00;
  /// 8 if with 000000. The longest comes first.
  public var spellings: [String] {
    let digits = digits
    return Self.digitCounts.filter(canBeWritten).map { String(digits.suffix($0)) }
  }

  /// The lengths that a GTIN is written with, the longest first.
  package static let digitCounts = [14, 13, 12, 8]

  /// Whether the last `digitCount` of the 14 digits are all that is not a zero in front, and a spelling.
  package func canBeWritten(digitCount: Int) -> Bool {
    switch digitCount {
    case 14: true
    case 13: value < 10_000_000_000_000
    case 12: value < 1_000_000_000_000
    case 8: value < 100_000_000
    default: false
    }
  }

  /// True for a restricted circulation number, whose meaning ends at a company's or a country's border
  /// (GS1 General Specifications 2.1 and the table of GS1 prefixes): GTIN-13 starting with 2, or with 02 or
  /// 04 (UPC-A number systems 2 and 4), and GTIN-8 starting with 0 or 2. Such numbers often hold a price or a
  /// weight.
  public var isRestricted: Bool {
    if value < 100_000_000 {
      let first = value / 10_000_000
      return first == 0 || first == 2
    }
    let prefix = value / 100_000_000_000
    return (20...29).contains(prefix) || prefix == 2 || prefix == 4
  }

  /// The check digit that belongs behind `digits`, as an ASCII digit (GS1 General Specifications 7.9).
  ///
  /// The same rule serves GTIN, SSCC, GLN and every other numeric GS1 key, so any number of digits will do.
  ///
  /// - Returns: Nil when `digits` is empty or holds something else than ASCII digits.
  public static func checkDigit(following digits: some Sequence<UInt8>) -> UInt8? {
    guard let run = DigitRun(digits), run.count > 0 else { return nil }
    return UInt8(ascii: "0") + UInt8(run.nextCheckDigit)
  }
}

extension GTIN: Comparable {
  /// The order of the 14 digits.
  public static func < (left: GTIN, right: GTIN) -> Bool { left.value < right.value }
}

extension GTIN: CustomStringConvertible {
  /// The 14 digits.
  public var description: String { digits }
}
