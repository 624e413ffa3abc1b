/// The configuration of the scanners in use: how they send the contents of a symbol.
public struct ScanConfiguration: Hashable, Sendable {
  /// Texts that represent FNC1 in addition to GS (0x1D), for example `"<GS>"`, `"|"` or `"^"`. None by default, because
  /// each of them may also be ordinary text. Empty texts are ignored.
  ///
  /// A text of only digits is a programmer's error: it could not be distinguished from the data, and a scanned number
  /// would be split. Use ``isSeparator(_:)`` to check a text that a user entered.
  public var separators: [String] {
    didSet { Self.check(separators) }
  }

  /// The maximum length of a payload in bytes of UTF-8. A longer one is noise and matches nothing.
  public var maximumLength: Int

  /// Whether ``Scan/folded`` provides a second reading with full-width characters and inner blanks folded.
  public var foldsFullWidth: Bool

  /// The default of ``maximumLength``: more than any symbol on goods contains. (The maximum is 4,296 letters and digits
  /// for a QR code, and 2,335 for a Data Matrix.)
  public static let defaultMaximumLength = 4096

  /// Creates a configuration. The defaults are for a scanner that sends FNC1 as GS.
  ///
  /// - Precondition: `maximumLength` is not negative, and no separator consists of digits.
  public init(
    separators: [String] = [],
    maximumLength: Int = Self.defaultMaximumLength,
    foldsFullWidth: Bool = true
  ) {
    precondition(maximumLength >= 0, "maximumLength must not be negative")
    Self.check(separators)
    self.separators = separators
    self.maximumLength = maximumLength
    self.foldsFullWidth = foldsFullWidth
  }

  /// Returns whether a text may represent FNC1: it must not consist of digits.
  public static func isSeparator(_ text: String) -> Bool {
    text.isEmpty || !text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  private static func check(_ separators: [String]) {
    precondition(separators.allSatisfy(isSeparator), "a separator must not consist of digits")
  }
}
