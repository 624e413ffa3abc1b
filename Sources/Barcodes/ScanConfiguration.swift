/// How the readers at hand write what a symbol holds.
public struct ScanConfiguration: Hashable, Sendable {
  /// Texts that stand for FNC1 besides GS (0x1D), such as `"<GS>"`, `"|"` or `"^"`. None by default, because
  /// each of them may also be ordinary text. Empty texts are passed over.
  public var separators: [String]

  /// Longest payload in bytes of UTF-8 that is taken for a scan; what is longer is noise and matches nothing.
  public var maximumLength: Int

  /// Whether ``Scan/folded`` offers a second reading with full-width characters and inner blanks folded.
  public var foldsFullWidth: Bool

  /// The default of ``maximumLength``: more than any symbol holds that names goods. (A QR code ends at 4,296
  /// letters and digits, a Data Matrix at 2,335.)
  public static let defaultMaximumLength = 4096

  /// A configuration; the defaults fit a reader that sends FNC1 as GS.
  ///
  /// - Precondition: `maximumLength` is not negative.
  public init(
    separators: [String] = [],
    maximumLength: Int = Self.defaultMaximumLength,
    foldsFullWidth: Bool = true
  ) {
    precondition(maximumLength >= 0, "maximumLength must not be negative")
    self.separators = separators
    self.maximumLength = maximumLength
    self.foldsFullWidth = foldsFullWidth
  }
}
