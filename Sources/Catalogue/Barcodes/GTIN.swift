/// A Global Trade Item Number in its canonical form of 14 digits.
///
/// GTIN-8, GTIN-12 (UPC-A), GTIN-13 (EAN-13) and GTIN-14 identify trade items in one number space: padded with zeros on
/// the left, they are the same key (GS1 General Specifications 2.1 and 3.3.2). Two spellings of one item are therefore
/// equal, which a comparison of strings cannot achieve.
///
/// Invariant: ``value`` is less than 10¹⁴ and its last digit is its check digit.
public struct GTIN: Hashable, Sendable {
  /// The 14 digits as a number, suitable as an index key.
  public let value: UInt64

  /// Creates the GTIN whose 14 digits are the number `value`.
  ///
  /// Returns `nil` if `value` has more than 14 digits or a wrong check digit.
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

  /// Creates the GTIN written as 8, 12, 13 or 14 ASCII digits.
  ///
  /// Returns `nil` for any other length or character, including blanks, and for a wrong check digit.
  public init?(_ digits: String) {
    self.init(utf8: digits.utf8)
  }

  /// Creates the GTIN written as 8, 12, 13 or 14 ASCII digits.
  ///
  /// Returns `nil` for any other length or character, including blanks, and for a wrong check digit.
  public init?(_ digits: some StringProtocol) {
    self.init(utf8: digits.utf8)
  }

  /// Creates the GTIN written as 8, 12, 13 or 14 bytes that are ASCII digits.
  ///
  /// Returns `nil` for any other length or byte, and for a wrong check digit.
  ///
  /// - Complexity: Stops at the first byte that is not a digit, and at the fifteenth at the latest.
  public init?(utf8 bytes: some Sequence<UInt8>) {
    var run = DigitRun()
    for byte in bytes {
      guard run.append(byte), run.count <= DigitRun.valueDigitCount else { return nil }
    }
    self.init(run)
  }

  /// Creates the GTIN written as 8, 12, 13 or 14 bytes that are ASCII digits.
  ///
  /// Returns `nil` for any other length or byte, and for a wrong check digit.
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

  /// One more than the largest number of 14 digits.
  private static let valueLimit: UInt64 = 100_000_000_000_000

  /// The 14 digits.
  public var digits: String {
    unsafe String(unsafeUninitializedCapacity: 14) { text in
      // The capacity is fourteen bytes, and all of them are written.
      var rest = value
      for index in stride(from: 13, through: 0, by: -1) {
        unsafe text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return 14
    }
  }

  /// The first of the 14 digits: 0 for the item itself, 1 to 8 for a grouping of it, for example a case, and 9 for an
  /// item of variable measure (GS1 General Specifications 2.1). Each indicator identifies *another* trade item.
  public var indicator: Int { Int(value / 10_000_000_000_000) }

  /// The item of which this GTIN identifies a grouping: the same number with the indicator 0 and its own check digit;
  /// `nil` if the indicator is 0.
  public var withoutIndicator: GTIN? {
    guard indicator > 0 else { return nil }
    let digits = value % 10_000_000_000_000 / 10
    var run = DigitRun()
    for byte in String(digits).utf8 { _ = run.append(byte) }
    return GTIN(value: digits * 10 + UInt64(run.nextCheckDigit))
  }

  /// All spellings of this GTIN that lose no digit, longest first: 14 digits; 13 if they start with 0; 12 if they start
  /// with 00; 8 if they start with 000000.
  public var spellings: [String] {
    let digits = digits
    return Self.digitCounts.filter(canBeWritten).map { String(digits.suffix($0)) }
  }

  /// The numbers of digits of a GTIN's spellings, longest first.
  package static let digitCounts = [14, 13, 12, 8]

  /// Returns whether the last `digitCount` of the 14 digits are a spelling of this GTIN, so all digits before them are
  /// zero.
  package func canBeWritten(digitCount: Int) -> Bool {
    switch digitCount {
    case 14: true
    case 13: value < 10_000_000_000_000
    case 12: value < 1_000_000_000_000
    case 8: value < 100_000_000
    default: false
    }
  }

  /// Whether this is a restricted circulation number, which is valid only within a company or a country (GS1 General
  /// Specifications 2.1 and the table of GS1 prefixes): GTIN-13 starting with 2, or with 02 or 04 (UPC-A number systems
  /// 2 and 4), and GTIN-8 starting with 0 or 2. Such numbers often contain a price or a weight.
  public var isRestricted: Bool {
    if value < 100_000_000 {
      let first = value / 10_000_000
      return first == 0 || first == 2
    }
    let prefix = value / 100_000_000_000
    return (20...29).contains(prefix) || prefix == 2 || prefix == 4
  }

  /// Returns the check digit to append to `digits`, as an ASCII digit (GS1 General Specifications 7.9).
  ///
  /// GTIN, SSCC, GLN and all other numeric GS1 keys use the same rule, so any number of digits is accepted.
  ///
  /// - Returns: The check digit; `nil` if `digits` is empty or contains anything but ASCII digits.
  public static func checkDigit(following digits: some Sequence<UInt8>) -> UInt8? {
    guard let run = DigitRun(digits), run.count > 0 else { return nil }
    return UInt8(ascii: "0") + UInt8(run.nextCheckDigit)
  }
}

extension GTIN: Comparable {
  /// Compares the 14 digits as numbers.
  public static func < (left: GTIN, right: GTIN) -> Bool { left.value < right.value }
}

extension GTIN: CustomStringConvertible {
  /// The 14 digits.
  public var description: String { digits }
}
