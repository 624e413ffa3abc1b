/// What the check digit says about a reading.
public enum CheckDigit: Hashable, Sendable {
  /// There is a GTIN and its check digit is right.
  case valid
  /// The digits have the length of a GTIN, but the last one does not follow from the others.
  case invalid
  /// The reading has no check digit of its own. Element strings without a right GTIN are of this kind too:
  /// their ``ElementString/fault`` tells why.
  case none
}
