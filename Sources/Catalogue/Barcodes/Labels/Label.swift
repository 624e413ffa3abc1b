/// A label whose data are no GS1 element strings: of ISO/IEC 15434, of the Health Industry Bar Code, a PZN, a printed
/// ISBN, ISSN or ISMN, or a label in a distributor's own form.
///
///     [)>␞06␝P296-6501-1-ND␝1PLM358BIDDFR␝Q10␝4LPH␞␄     ISO/IEC 15434 with ANSI MH10.8.2 data identifiers
///     +A99912345/$$52001510X33                             HIBC, primary and secondary data
///     -03752864                                            PZN in Code 39
///     ISBN 3-16-148410-X                                   a printed ISBN
///     {pbn:PICK1,on:SO1,pc:C312270,pm:ST-1,qty:2}          LCSC
///     QTY:1 PN:WBP-302 PO:19361337/1 MPN:WBP-302           TME
///
/// A label does not identify a product by itself: it provides ``gtin`` and ``parts``, and a matcher looks them up.
public struct Label: Hashable, Sendable {
  /// The kind: `iso15434`, `hibc`, `pzn`, `isbn`, `issn`, `ismn` or `label`.
  public internal(set) var kind: CodeKind

  /// The identifiers and their values as they are on the label, in its order. Identifiers without a value are left out.
  public internal(set) var elements: [ElementString.Element] = []

  /// The GTIN of the product: that of a data identifier, or the one that contains the ISBN, ISSN, ISMN or PZN; `nil` if
  /// there is none or a check digit is wrong.
  public internal(set) var gtin: GTIN?

  /// The texts to look up among barcodes and SKUs, most specific first, at most ``maximumPartCount``. None is empty and
  /// none occurs twice. There are none if a check digit is wrong.
  public private(set) var parts: [String] = []

  /// The greatest number of ``parts``: more than any label has, and few enough to look up.
  public static let maximumPartCount = 16

  /// Whether the text may well be something else, such as a part number that looks like an ISBN-10 by chance. A matcher
  /// should try the exact text and heads before it uses such a label.
  public internal(set) var isWeak = false

  /// Whether nothing but its first characters makes the text a label: a data identifier alone, as in a one-dimensional
  /// symbol. If a catalogue has no such part, it is just a text.
  public internal(set) var isGuess = false

  /// The values to be typed, in the order of the label.
  var entries: [LabelEntry] = []

  /// What is wrong with the label's form and check digits. Values that cannot be typed are found in ``issues(today:)``.
  var faults: [ScanIssue] = []

  /// The GS1 element strings of an ISO/IEC 15434 message in format 05.
  var elementStrings: EmbeddedElementStrings?

  init(kind: CodeKind) {
    self.kind = kind
  }

  /// Parses a label.
  ///
  /// - Parameters:
  ///   - text: The scanned text without noise at its ends and without the symbology identifier.
  ///   - symbology: The symbology identifier, if the scanner sent one.
  /// - Returns: `nil` if `text` is no such label. A plain number is no label, except for an ISBN-10.
  /// - Complexity: A text that is no label is usually rejected by its first bytes.
  public init?(_ text: String, symbology: SymbologyIdentifier? = nil) {
    self.init(bytes: Array(text.utf8), symbology: symbology)
  }

  /// Returns whether a label may begin with this byte.
  static func mayBegin(with first: UInt8, _ symbology: SymbologyIdentifier?) -> Bool {
    guard symbology?.isGS1 != true, symbology?.isEANUPC != true else { return false }
    return switch first {
    case UInt8(ascii: "["), UInt8(ascii: ">"), UInt8(ascii: "+"), UInt8(ascii: "*"), UInt8(ascii: "{"): true
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "I"), UInt8(ascii: "M"), UInt8(ascii: "P"), UInt8(ascii: "Q"), UInt8(ascii: "i"),
      UInt8(ascii: "p"), UInt8(ascii: "q"):
      true
    default: false
    }
  }

  /// Parses a label. Positions of issues are offsets in `bytes`.
  init?(bytes: [UInt8], symbology: SymbologyIdentifier?) {
    guard let first = bytes.first, Self.mayBegin(with: first, symbology) else { return nil }
    let label: Label? =
      switch first {
      case UInt8(ascii: "["), UInt8(ascii: ">"): Label(envelope: bytes)
      case UInt8(ascii: "+"), UInt8(ascii: "*"): Label(hibc: bytes)
      case UInt8(ascii: "{"): Label(lcsc: bytes)
      case UInt8(ascii: "-"), UInt8(ascii: "p"): Label(pzn: bytes, symbology: symbology)
      case UInt8(ascii: "P"): Label(pzn: bytes, symbology: symbology) ?? Label(tme: bytes) ?? Label(single: bytes)
      case UInt8(ascii: "Q"): Label(tme: bytes) ?? Label(single: bytes)
      case UInt8(ascii: "0")...UInt8(ascii: "9"): Label(printed: bytes) ?? Label(single: bytes)
      case UInt8(ascii: "I"), UInt8(ascii: "i"), UInt8(ascii: "M"): Label(printed: bytes)
      default: nil
      }
    guard let label else { return nil }
    self = label
  }

  /// Parses a label whose letters have the other case, because a keyboard had caps lock on. Returns `nil` if that does
  /// not make it a label that names something.
  init?(withSwappedCase bytes: [UInt8], symbology: SymbologyIdentifier?) {
    let swapped = bytes.map { ASCII.isUpper($0 & 0xDF) && $0 >= 0x41 ? $0 ^ 0x20 : $0 }
    guard swapped != bytes, let label = Label(bytes: swapped, symbology: symbology), label.namesSomething, !label.isWeak
    else { return nil }
    self = label
  }

  /// Whether anything on the label can be looked up, or contains GS1 data.
  var namesSomething: Bool { !parts.isEmpty || gtin != nil || elementStrings != nil }

  /// Adds an element as it is on the label.
  ///
  /// - Parameter position: The offset of its identifier.
  mutating func addElement(_ identifier: String, at position: Int, _ value: some Sequence<UInt8>) {
    let text = String(decoding: Array(value), as: UTF8.self)
    elements.append(ElementString.Element(ai: identifier, value: text, offset: position))
  }

  /// Adds a text to look up, unless it is empty or there already, or there are enough.
  mutating func addPart(_ text: String) {
    if !text.isEmpty, parts.count < Self.maximumPartCount, !parts.contains(text) { parts.append(text) }
  }

  /// Adds an issue.
  mutating func addFault(_ identifier: String?, at position: Int, _ reason: String) {
    faults.append(ScanIssue(ai: identifier, position: position, reason: reason))
  }
}

/// GS1 element strings inside another message.
struct EmbeddedElementStrings: Hashable, Sendable {
  /// The message up to the end of the element strings. Texts that a scanner sends for GS, such as `<GS>`, are replaced
  /// by as many separators as they have bytes, so that offsets are those of the scanned text.
  let bytes: [UInt8]
  /// The offset of the first identifier.
  let start: Int
}
