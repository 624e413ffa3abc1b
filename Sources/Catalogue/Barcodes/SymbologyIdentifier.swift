/// A symbology identifier, for example `]E0`, which a scanner may send before the data (ISO/IEC 15424; GS1 General
/// Specifications 5.1.2).
///
/// Few scanners send one, so nothing may depend on its presence. If there is one, it resolves ambiguities in the data.
public struct SymbologyIdentifier: Hashable, Sendable {
  /// The code character of the symbology, an ASCII letter. Its case is significant: `]e0` is GS1 DataBar.
  public let letter: Unicode.Scalar
  /// The modifier character of the symbology's options, an ASCII digit or a letter from A to F.
  public let modifier: Unicode.Scalar
  /// The number system of UPC-E, 0 or 1, if a scanner named that symbology beside the data. Its number may then come
  /// without number system and check digit.
  var upcENumberSystem: Int?

  /// Creates the identifier `]` + `letter` + `modifier`.
  ///
  /// Returns `nil` for characters that are not allowed in an identifier.
  public init?(letter: Unicode.Scalar, modifier: Unicode.Scalar) {
    switch (letter, modifier) {
    case ("A"..."Z", "0"..."9"), ("A"..."Z", "A"..."F"), ("a"..."z", "0"..."9"), ("a"..."z", "A"..."F"): break
    default: return nil
    }
    self.letter = letter
    self.modifier = modifier
  }

  /// Parses an identifier of three characters.
  public init?(_ text: some StringProtocol) {
    let bytes = Array(text.utf8.prefix(4))
    guard bytes.count == Self.byteCount else { return nil }
    self.init(startOf: bytes[...])
  }

  /// Parses the identifier at the start of `bytes`; `nil` if there is no identifier.
  init?(startOf bytes: ArraySlice<UInt8>) {
    guard bytes.count >= Self.byteCount, bytes[bytes.startIndex] == UInt8(ascii: "]") else { return nil }
    self.init(
      letter: Unicode.Scalar(bytes[bytes.startIndex + 1]),
      modifier: Unicode.Scalar(bytes[bytes.startIndex + 2])
    )
  }

  /// The length of an identifier in bytes.
  static let byteCount = 3

  /// Whether the symbology identifier declares GS1 element strings: FNC1 in first position, or a symbology that
  /// contains nothing else.
  public var isGS1: Bool {
    switch (letter, modifier) {
    case ("C", "1"), ("e", _), ("d", "2"), ("Q", "3"), ("J", "1"): true
    // The same with extended channel interpretation.
    case ("d", "5"), ("Q", "4"), ("J", "4"): true
    default: false
    }
  }

  /// Whether the symbology is EAN-13, UPC-A, UPC-E or EAN-8, or one of their add-ons: numbers of a fixed length that
  /// nothing can follow.
  public var isEANUPC: Bool { letter == "E" }

  /// Whether the symbology is EAN-13, UPC-A or UPC-E.
  var isEAN13OrUPC: Bool { letter == "E" && modifier == "0" }

  /// Whether the symbology is EAN-8, whose digits are never a UPC-E number.
  public var isEAN8: Bool { letter == "E" && modifier == "4" }

  /// Whether an add-on of 2 or 5 digits follows the number.
  public var hasAddOn: Bool { letter == "E" && modifier == "3" }

  /// Whether an add-on may follow the number: some scanners send it with the identifier of the number alone.
  var mayHaveAddOn: Bool { isEANUPC && !isAddOnAlone }

  /// Whether the data are an add-on of 2 or 5 digits without its number.
  public var isAddOnAlone: Bool { letter == "E" && (modifier == "1" || modifier == "2") }
}

extension SymbologyIdentifier: CustomStringConvertible {
  /// The three characters as a scanner sends them.
  public var description: String { "]\(letter)\(modifier)" }
}
