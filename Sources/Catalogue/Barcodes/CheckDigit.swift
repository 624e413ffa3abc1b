/// The result of verifying a check digit.
public enum CheckDigit: Hashable, Sendable {
  /// The scan is a GTIN with a valid check digit.
  case valid
  /// The digits have the length of a GTIN, but the check digit is wrong.
  case invalid
  /// The scan has no check digit of its own. This includes element strings without a valid GTIN; their
  /// ``ElementString/fault`` contains the reason.
  case none
}
