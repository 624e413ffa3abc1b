/// How the readers at hand write what a symbol holds.
public struct ScanConfiguration: Hashable, Sendable {
  /// Texts that stand for FNC1 besides GS (0x1D), such as `"<GS>"`, `"|"` or `"^"`. None by default, because
  /// each of them may also be ordinary text. Empty texts are passed over.
  ///
  /// A text of digits alone cannot stand for FNC1: nothing would tell it from the data, and a scan that is a number
  /// would be cut. It is the caller's mistake; ``isSeparator(_:)`` tells one that a person typed.
  public var separators: [String] {
    didSet { Self.check(separators) }
  }

  /// Longest payload in bytes of UTF-8 that is taken for a scan; what is longer is noise and matches nothing.
  public var maximumLength: Int

  /// Whether ``Scan/folded`` offers a second reading with full-width characters and inner blanks folded.
  public var foldsFullWidth: Bool

  /// The default of ``maximumLength``: more than any symbol holds that names goods. (A QR code ends at 4,296
  /// letters and digits, a Data Matrix at 2,335.)
  public static let defaultMaximumLength = 4096

  /// A configuration; the defaults fit a reader that sends FNC1 as GS.
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

  /// Whether a text may stand for FNC1: not if it consists of digits.
  public static func isSeparator(_ text: String) -> Bool {
    text.isEmpty || !text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  private static func check(_ separators: [String]) {
    precondition(separators.allSatisfy(isSeparator), "a separator must not consist of digits")
  }
}
