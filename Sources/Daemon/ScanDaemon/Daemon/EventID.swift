/// An event's position: `RUN-NUMBER`. Numbers increase by one within a run of the daemon. A random part identifies the
/// run.
public struct EventID: Sendable, Hashable, LosslessStringConvertible {
  /// The random id of the daemon's run.
  public let run: UInt64
  /// The event's number, from 1; 0 is the position before the first event of a run.
  public let number: UInt64

  init(run: UInt64, number: UInt64) {
    self.run = run
    self.number = number
  }

  /// Parses an id; `nil` if the text has another form.
  ///
  /// - Parameter text: up to 16 hexadecimal digits, a hyphen, a decimal number; anything else is no id.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2, (1...16).contains(parts[0].count), (1...20).contains(parts[1].count),
      let run = parts[0].number(radix: 16), let number = parts[1].number(radix: 10)
    else { return nil }
    self.init(run: run, number: number)
  }

  /// The id as text: 16 hexadecimal digits of the run, a hyphen and the number in decimal.
  public var description: String {
    let digits = String(run, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits + "-" + String(number)
  }
}

extension Substring.UTF8View {
  /// The number that the digits represent; `nil` if they have a sign, are not digits, or the number is too large.
  fileprivate func number(radix: UInt64) -> UInt64? {
    var value: UInt64 = 0
    for byte in self {
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      let (product, isTooLarge) = value.multipliedReportingOverflow(by: radix)
      let (sum, isTooLargeNow) = product.addingReportingOverflow(UInt64(digit))
      if UInt64(digit) >= radix || isTooLarge || isTooLargeNow { return nil }
      value = sum
    }
    return value
  }
}
