/// One scanned text and all that it says without a catalogue.
///
/// The reading decides nothing about products. It says which keys and texts are worth looking up, in the
/// order in which a matcher should try them:
///
/// 1. ``payload`` as it stands, where ``allowsExactText``;
/// 2. ``gtin``, then ``upcE``;
/// 3. the longest known text that ``headText`` starts with, where ``allowsHead``;
/// 4. the same for ``folded``, a second reading for text from a keyboard.
///
/// If nothing is found, ``refusal`` tells a misread from a missing product.
///
/// Invariants: ``payload`` is a part of ``text``; ``gtin`` and ``upcE`` have right check digits; ``elements``
/// is there exactly for the kinds `gs1`, `gs1Bad` and `digitalLink`.
public struct Scan: Hashable, Sendable {
  /// The text as the reader sent it.
  public let text: String

  /// The text without noise at its ends and without the symbology identifier. Separators stay as they are.
  public let payload: String

  /// The identifier at the start of the text. Most readers send none.
  public let symbology: SymbologyIdentifier?

  /// What the payload is.
  public let kind: Kind

  /// The trade item that the payload names. For GS1 data (01), or (02) where there is no (01): see
  /// ``namesContents``. For eight digits that read both as GTIN-8 and as UPC-E this is the GTIN-8.
  public let gtin: GTIN?

  /// The expansion of a payload that reads as UPC-E, whatever else it reads as. Under `]E4` there is none.
  public let upcE: GTIN?

  /// What the check digit of the payload says.
  public let checkDigit: CheckDigit

  /// The element strings of GS1 data, a Digital Link included.
  public let elements: ElementString?

  /// The add-on of 2 or 5 digits that followed the number under `]E3`.
  public let addOn: String?

  /// How the payload was recognised as GS1 data.
  let evidence: Evidence

  /// What the scan was read with.
  let configuration: ScanConfiguration

  /// What can speak for element strings, strongest first.
  enum Evidence: Hashable, Sendable {
    /// The symbology identifier says so.
    case carrier
    /// The data do: a separator or brackets.
    case form
    /// Only the digits do: `01`, 14 digits, right check digit. One number in ten has that by chance.
    case digits
    case none
  }

  /// Reads `text`.
  ///
  /// Every text can be read; none makes this trap.
  ///
  /// - Complexity: Linear in the length of `text`. A text of digits alone is read without an allocation.
  public init(_ text: String, configuration: ScanConfiguration = ScanConfiguration()) {
    let reading = Reading(of: text, configuration: configuration)
    self.text = text
    payload = reading.payload
    symbology = reading.symbology
    kind = reading.kind
    gtin = reading.gtin
    upcE = reading.upcE
    checkDigit = reading.checkDigit
    elements = reading.elements
    addOn = reading.addOn
    evidence = reading.evidence
    self.configuration = configuration
  }
}
