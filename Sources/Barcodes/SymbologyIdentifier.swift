/// A symbology identifier such as `]E0`, which a reader may send before the data (ISO/IEC 15424;
/// GS1 General Specifications 5.1.2).
///
/// Few readers send one, so nothing may depend on its presence; where it is there, it settles questions that
/// the data alone leave open.
public struct SymbologyIdentifier: Hashable, Sendable {
  /// The code character that names the symbology, an ASCII letter. Its case matters: `]e0` is GS1 DataBar.
  public let letter: Unicode.Scalar
  /// The modifier character that names the options in force, an ASCII digit or a letter from A to F.
  public let modifier: Unicode.Scalar

  /// The identifier `]` + `letter` + `modifier`.
  ///
  /// - Returns: Nil for characters that cannot stand in an identifier.
  public init?(letter: Unicode.Scalar, modifier: Unicode.Scalar) {
    switch (letter, modifier) {
    case ("A"..."Z", "0"..."9"), ("A"..."Z", "A"..."F"), ("a"..."z", "0"..."9"), ("a"..."z", "A"..."F"): break
    default: return nil
    }
    self.letter = letter
    self.modifier = modifier
  }

  /// The identifier written as `text`, three characters.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8.prefix(4))
    guard bytes.count == Self.byteCount else { return nil }
    self.init(startOf: bytes[...])
  }

  /// The identifier at the start of `bytes`, if there is one.
  init?(startOf bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.byteCount, bytes[bytes.startIndex] == UInt8(ascii: "]") else { return nil }
    self.init(
      letter: Unicode.Scalar(bytes[bytes.startIndex + 1]),
      modifier: Unicode.Scalar(bytes[bytes.startIndex + 2])
    )
  }

  /// Bytes that an identifier takes.
  static let byteCount = 3

  /// True when the symbol says of itself that its data are GS1 element strings: FNC1 in first position, or a
  /// symbology that knows nothing else.
  public var isGS1: Bool {
    switch (letter, modifier) {
    case ("C", "1"), ("e", _), ("d", "2"), ("Q", "3"), ("J", "1"): true
    // The same with extended channel interpretation switched on.
    case ("d", "5"), ("Q", "4"), ("J", "4"): true
    default: false
    }
  }

  /// True for EAN-13, UPC-A, UPC-E, EAN-8 and their add-ons: numbers of a fixed length that nothing can
  /// follow.
  public var isEANUPC: Bool { letter == "E" }

  /// True for EAN-8, whose digits are never a UPC-E number.
  public var isEAN8: Bool { letter == "E" && modifier == "4" }

  /// True when the data of an add-on of 2 or 5 digits follow the number.
  public var hasAddOn: Bool { letter == "E" && modifier == "3" }

  /// True when the data are an add-on of 2 or 5 digits without the number it belongs to.
  public var isAddOnAlone: Bool { letter == "E" && (modifier == "1" || modifier == "2") }
}

extension SymbologyIdentifier: CustomStringConvertible {
  /// The three characters as a reader sends them.
  public var description: String { "]\(letter)\(modifier)" }
}
