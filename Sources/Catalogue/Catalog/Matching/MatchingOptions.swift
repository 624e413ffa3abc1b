public import Barcodes

/// How scans are parsed and matched: the settings `matching.…` of a store.
public struct MatchingOptions: Hashable, Sendable {
  /// How scanners send the contents of symbols.
  public var scan = ScanConfiguration()
  /// How weights, prices and counts are read from restricted numbers.
  public var measures = MeasureRules()
  /// How heads are matched.
  public var heads = HeadOptions()
  /// The maximum number of products that are suggested for a scan that matches none; 0 for no suggestions. See
  /// ``Match/suggestions``.
  public var suggestionLimit = 0
  /// Whether a scan that equals the SKU of a product finds it.
  public var sku = SKUMatching.suggest
  /// The texts that fixed scanners send instead of a code, such as `NOREAD`, in upper case without blanks around them. A
  /// scan of one matches nothing, and the catalogue lacks nothing.
  public var ignoredTexts: Set<String> = []

  /// Creates the default options.
  public init() {}

  /// Whether a scan has one of ``ignoredTexts``.
  func ignores(_ scan: Scan) -> Bool {
    if ignoredTexts.isEmpty { return false }
    return ignoredTexts.contains(scan.payload.uppercased())
  }

  /// The default options, created once.
  public static let standard = MatchingOptions()
}

/// Whether a scan that equals the SKU of a product, ignoring the case of letters, finds it. The raw values are those of
/// the setting `matching.sku`.
public enum SKUMatching: String, CaseIterable, Sendable {
  /// SKUs are not looked at, except for the part numbers of labels.
  case off
  /// If nothing matches, the products with this SKU are suggested.
  case suggest
  /// The products with this SKU are a match, if none has this barcode.
  case match
}

/// How heads are matched: catalogue barcodes that are a prefix of the scanned code.
public struct HeadOptions: Hashable, Sendable {
  /// Whether heads are matched at all.
  public var isEnabled = true
  /// The minimum number of characters of a head. Shorter barcodes are junk that would match almost everything.
  public var minimumLength = 4
  /// The minimum number of characters of a head that consists of digits, if the code is a sound GTIN that is not
  /// restricted. Such a code is nearly always a product that is missing from the catalogue, and a short number in the
  /// catalogue would begin many of them: of 5,000 unknown EAN-13 numbers, 53 began with a barcode like `5410`.
  public var minimumDigits = 7
  /// The symbologies whose data have no head, by the letter of their identifier, for example `A` for Code 39. Those
  /// that never have one, such as EAN-13, need not be named.
  public var excludedSymbologies: Set<Unicode.Scalar> = []

  /// Creates the default options.
  public init() {}

  /// Whether a scan may have a head.
  func allows(_ scan: Scan) -> Bool {
    isEnabled && (scan.symbology.map { !excludedSymbologies.contains($0.letter) } ?? true)
  }
}
