/// A run of ASCII digits, read once from the left, with its length, its value and the sums for the check digit.
///
/// The weights of the check digit (GS1 General Specifications 7.9) alternate between 3 and 1 from the *right*. When
/// reading from the left, the digits with weight 3 are known only at the end, so both sums are kept.
struct DigitRun {
  /// The maximum length of a run whose value is kept: the length of a GTIN-14.
  static let valueDigitCount = 14

  private(set) var count = 0
  /// The first ``valueDigitCount`` digits as a number. A longer run is not a GTIN, so the rest is not needed.
  private(set) var value: UInt64 = 0
  private var evenSum = 0
  private var oddSum = 0

  init() {}

  /// Reads all of `bytes`; `nil` if one of them is not an ASCII digit.
  init?(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      guard append(byte) else { return nil }
    }
  }

  /// Appends a byte.
  ///
  /// - Returns: Whether `byte` is an ASCII digit. If not, the run is unchanged.
  @inline(__always)
  mutating func append(_ byte: UInt8) -> Bool {
    let digit = byte &- UInt8(ascii: "0")
    guard digit < 10 else { return false }
    if count < Self.valueDigitCount { value = value * 10 + UInt64(digit) }
    if count.isMultiple(of: 2) { evenSum += Int(digit) } else { oddSum += Int(digit) }
    count += 1
    return true
  }

  /// Whether the last digit is the check digit of those before it.
  var endsInCheckDigit: Bool {
    let sum = count.isMultiple(of: 2) ? oddSum + 3 * evenSum : evenSum + 3 * oddSum
    return count > 0 && sum.isMultiple(of: 10)
  }

  /// The check digit for the digits of the run.
  var nextCheckDigit: Int {
    let sum = count.isMultiple(of: 2) ? evenSum + 3 * oddSum : oddSum + 3 * evenSum
    return (10 - sum % 10) % 10
  }

  /// Whether the run has one of the four lengths of a GTIN.
  var hasLengthOfGTIN: Bool { count == 13 || count == 12 || count == 8 || count == 14 }
}
