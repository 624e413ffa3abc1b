/// A scanned text and everything that can be derived from it without a catalogue.
///
/// A scan does not identify a product. It provides the keys and texts to look up, in the order in which a matcher
/// should try them:
///
/// 1. ``exactTexts``: ``payload`` unchanged, if ``allowsExactText``;
/// 2. ``gtin``, then ``upcE``;
/// 3. the parts of ``label``;
/// 4. the longest known barcode that is a prefix of ``headText``, if ``allowsHead``;
/// 5. the GTIN of a ``label`` that is weak;
/// 6. the same for ``folded``, a second reading.
///
/// If nothing is found, ``refusal`` distinguishes a misread from a missing product.
///
/// Invariants: ``payload`` is a part of ``text``; ``gtin`` and ``upcE`` have valid check digits; ``elements`` is
/// present exactly for the kinds `gs1`, `gs1Bad` and `digitalLink`; a ``label`` that is not weak is present exactly for
/// the kind `label`, and for `gs1` inside an envelope of ISO/IEC 15434.
public struct Scan: Hashable, Sendable {
  /// The text as the scanner sent it.
  public let text: String

  /// The text without noise at its ends and without the symbology identifier. Separators are unchanged.
  public var payload: String { reading.payload }

  /// The symbology identifier at the start of the text, or the one that the scanner sent beside it. Most scanners send
  /// none.
  public var symbology: SymbologyIdentifier? { reading.symbology }

  /// The kind of the payload.
  public var kind: Kind { reading.kind }

  /// The trade item that the payload identifies. For GS1 data it is AI (01), or (02) if there is no (01); see
  /// ``namesContents``. For eight digits that are valid both as GTIN-8 and as UPC-E, it is the GTIN-8.
  public var gtin: GTIN? { reading.gtin }

  /// The expansion of a payload that is valid as UPC-E, whatever else it may be; `nil` after `]E4`.
  public var upcE: GTIN? { reading.upcE }

  /// The result of verifying the payload's check digit.
  public var checkDigit: CheckDigit { reading.checkDigit }

  /// The element strings of GS1 data, including a Digital Link.
  public var elements: ElementString? { reading.elements }

  /// The label, if the payload is one that is not GS1's: of ISO/IEC 15434, HIBC, a PZN, a printed ISBN and others.
  public var label: Label? { reading.details?.label }

  /// The add-on of 2 or 5 digits that follows the number of an EAN or UPC.
  public var addOn: String? { reading.addOn }

  /// What few scans have.
  var details: Details { reading.details ?? Details() }

  /// Whether the scan has anything that few scans have.
  var hasDetails: Bool { reading.hasDetails }

  /// The evidence that the payload is GS1 data.
  var evidence: Evidence { reading.evidence }

  /// What was found in the text.
  private let reading: Reading

  /// The configuration with which the text was parsed.
  package let configuration: ScanConfiguration

  /// What few scans have, apart from the rest, so that a plain number stays small.
  struct Details: Hashable, Sendable {
    /// The label, if the payload is one that is not GS1's.
    var label: Label?
    /// Whether the letters of the label were read in the other case.
    var hasSwappedCase = false
    /// Whether what looks like a separator that was typed is data: only so the elements can be read.
    var hasTokensAsData = false
    /// What is wrong with the form of a Digital Link.
    var linkIssues: [ScanIssue] = []
    /// Whether invisible characters were removed around the payload or the symbology identifier.
    var hasInvisible = false
    /// The payload with the invisible characters that were removed at its ends; `nil` if there were none.
    var framedText: String?
    /// The payload without the separators at its ends, if it has some.
    var textBetweenSeparators: String?
    /// The number of bytes of the number before an add-on.
    var itemByteCount: Int?
  }

  /// The evidence for element strings, strongest first.
  enum Evidence: Hashable, Sendable {
    /// The symbology identifier declares GS1 data.
    case carrier
    /// The form of the data: a separator or brackets.
    case form
    /// Only the digits: `01`, 14 digits, valid check digit. One number in ten meets this by chance.
    case digits
    case none
  }

  /// Parses `text`.
  ///
  /// Every text can be parsed; none causes a trap.
  ///
  /// - Parameters:
  ///   - text: The text as the scanner sent it.
  ///   - symbology: The symbology, if the scanner sent it beside the text. An identifier in the text counts more.
  ///   - configuration: How the scanner sends the contents of a symbol.
  /// - Complexity: Linear in the length of `text`. A text of only digits is parsed without an allocation.
  public init(
    _ text: String, symbology: SymbologyIdentifier? = nil,
    configuration: ScanConfiguration = ScanConfiguration()
  ) {
    self.text = text
    reading = Reading(of: text, symbology, configuration: configuration)
    self.configuration = configuration
  }
}
