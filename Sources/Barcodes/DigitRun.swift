/// A run of ASCII digits, read once from the left: how many, their value, and the sums for the check digit.
///
/// The weights of the check digit (GS1 General Specifications 7.9) alternate 3 and 1 from the *right*.
/// Reading from the left, the side on which 3 falls is known only at the end, so both sums are kept.
struct DigitRun {
  /// Longest run whose value is kept: a GTIN-14.
  static let valueDigitCount = 14

  private(set) var count = 0
  /// The first ``valueDigitCount`` digits as a number. Longer runs are no GTIN, so the rest is not needed.
  private(set) var value: UInt64 = 0
  private var evenSum = 0
  private var oddSum = 0

  init() {}

  /// All of `bytes`, or nothing when one of them is no ASCII digit.
  init?(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      guard append(byte) else { return nil }
    }
  }

  /// Takes one more byte.
  ///
  /// - Returns: False, and no change, when `byte` is no ASCII digit.
  @inline(__always)
  mutating func append(_ byte: UInt8) -> Bool {
    let digit = byte &- UInt8(ascii: "0")
    guard digit < 10 else { return false }
    if count < Self.valueDigitCount { value = value * 10 + UInt64(digit) }
    if count.isMultiple(of: 2) { evenSum += Int(digit) } else { oddSum += Int(digit) }
    count += 1
    return true
  }

  /// True when the last digit is the check digit of those before it.
  var endsInCheckDigit: Bool {
    let sum = count.isMultiple(of: 2) ? oddSum + 3 * evenSum : evenSum + 3 * oddSum
    return count > 0 && sum.isMultiple(of: 10)
  }

  /// The digit that, put after the run, makes its check digit right.
  var nextCheckDigit: Int {
    let sum = count.isMultiple(of: 2) ? evenSum + 3 * oddSum : oddSum + 3 * evenSum
    return (10 - sum % 10) % 10
  }

  /// True for the four lengths of a GTIN.
  var hasLengthOfGTIN: Bool { count == 13 || count == 12 || count == 8 || count == 14 }
}
