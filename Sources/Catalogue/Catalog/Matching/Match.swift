public import Barcodes

/// The way in which a scan was matched. Raw values are the names that the command line uses.
public enum MatchKind: String, Sendable {
  /// The scanned text is a catalogue barcode.
  case exact
  /// The scanned GTIN is a catalogue barcode, written with a different number of digits.
  case gtin
  /// The GTIN of AI (01) in GS1 element strings.
  case gs1
  /// The GTIN of AI (02) in GS1 element strings: the contents of a logistic unit, not the unit. It is not a scan of the
  /// product itself.
  case gs1Content = "gs1-content"
  /// The GTIN of AI (01) in a GS1 Digital Link.
  case digitalLink = "digital-link"
  /// A catalogue barcode is a prefix of the scanned code; a serial number follows.
  case head
  /// The item in a restricted number that also contains a weight, a price or a count.
  case measure
  /// A part number on a label is a catalogue barcode or SKU.
  case part
  /// The scan matched no product.
  case none
}

/// The result of matching a scan: the kind of match, the barcode that matched, and every product with that barcode.
public struct Match: Sendable {
  /// The way in which the scan was matched; `none` if no product was found.
  public var kind = MatchKind.none
  /// The catalogue barcode that matched, with surrounding blanks removed. If several spellings matched, the first in
  /// byte order.
  public var key: String?
  /// The GTIN in the scan, whether or not the catalogue contains it.
  public var gtin: GTIN?
  /// The text after the head (a serial number), or an add-on.
  public var rest: String?
  /// All products that the scan may refer to, sorted by id.
  public var products: [Product] = []
  /// The parsed scan.
  public var scan: Scan
  /// The scan after full-width folding, if that reading matched. Few scans have it, so it is kept apart.
  var foldedScan: Scan? {
    get {
      guard case .folded(let scan) = folding else { return nil }
      return scan
    }
    set { folding = newValue.map { .folded($0) } ?? .none }
  }
  private var folding = Folding.none

  private indirect enum Folding: Sendable {
    case none
    case folded(Scan)
  }

  /// What the rules for restricted numbers say of the scanned number. Few scans have it, so it is kept apart.
  var measuring = Measuring.none

  /// What the rules for restricted numbers say of a number.
  indirect enum Measuring: Sendable {
    /// No rule applies.
    case none
    /// A rule reads it, and its item is in the catalogue.
    case matched(MeasureReading)
    /// A rule reads it, but its item is not in the catalogue.
    case unmatched(MeasureReading)
    /// A rule applies, but does not read it.
    case refused(MeasureRefusal)
  }

  /// The weight, price or count in a restricted number, if its item matched by a rule.
  public var measure: MeasureReading? {
    guard case .matched(let reading) = measuring else { return nil }
    return reading
  }
  /// What a rule for restricted numbers reads, if the catalogue does not have the item.
  public var unmatchedMeasure: MeasureReading? {
    guard case .unmatched(let reading) = measuring else { return nil }
    return reading
  }
  /// Why a rule for restricted numbers that applies to the number does not read it; `nil` if it does, or none applies.
  public var measureRefusal: MeasureRefusal? {
    guard case .refused(let refusal) = measuring else { return nil }
    return refusal
  }

  /// The code of the table of codes that matched: what it is on, and how many pieces that is. `nil` if a product's own
  /// barcode matched, if nothing did, and if several products have the code with different quantities.
  public var package: ProductCode? {
    get {
      guard case .code(let code) = packaging else { return nil }
      return code
    }
    set {
      if let newValue {
        packaging = .code(newValue)
      } else if package != nil {
        packaging = .unknown
      }
    }
  }
  /// Whether the catalogue has further codes, so that ``package`` says something.
  package var mayHavePackage: Bool {
    get { if case .none = packaging { false } else { true } }
    set { if newValue, !mayHavePackage { packaging = .unknown } }
  }
  private var packaging = Packaging.none

  /// Few catalogues have further codes, so what they say is kept apart.
  private indirect enum Packaging: Sendable {
    /// The catalogue has no further codes.
    case none
    /// It has some, but no quantity is known.
    case unknown
    case code(ProductCode)
  }

  /// The number of pieces that the scan counts as: those of the ``package``, else 1.
  public var pieceCount: Int { package?.pieceCount ?? 1 }

  /// The item inside the scanned case, if the catalogue contains that. It is a hint, never a match: the number of
  /// pieces in a case is not known.
  public var contents: Contents?
  /// The products whose code is one edit away, best first, if nothing matched: one digit or letter more, fewer or
  /// other, or two neighbours swapped. They are hints, never a match. `nil` if something matched, or if no suggestions
  /// are wanted; see ``MatchingOptions/suggestionLimit``.
  public var suggestions: [Product]?
  /// The lookups that were tried, in order, for diagnostics.
  public var attempts: [Attempt] = []
  /// The numbers of products that came in one transmission, if the scan is more than one; otherwise empty. Such a scan
  /// matches nothing: it is not known which one is meant.
  public var gluedCodes: [String] {
    get {
      guard case .severalCodes(let codes) = transmission else { return [] }
      return codes
    }
    set { transmission = newValue.isEmpty ? .oneCode : .severalCodes(newValue) }
  }
  /// Whether the scan is one of ``MatchingOptions/ignoredTexts``.
  public var isIgnored: Bool {
    if case .ignored = transmission { true } else { false }
  }
  /// What the scanner has sent. It is one code for nearly all scans, so the rest is kept apart.
  var transmission = Transmission.oneCode

  /// What a scanner has sent.
  enum Transmission: Sendable {
    case oneCode
    /// A text that stands for no code.
    case ignored
    indirect case severalCodes([String])
  }

  /// One lookup in the catalogue.
  public struct Attempt: Sendable {
    /// The way of matching that was tried.
    public var kind: MatchKind
    /// The text that was looked up; for heads, the complete code.
    public var text: String
    /// The number of products that the lookup found.
    public var productCount: Int
    /// Why products that were found do not count, for users; `nil` if they do.
    public var note: String?
  }

  /// A trade item that the scanned one contains.
  public struct Contents: Hashable, Sendable {
    /// The GTIN of the item inside, which the catalogue contains.
    public var gtin: GTIN
    /// The packaging level: the first digit of the scanned GTIN, 1 to 8.
    public var level: Int
  }

  /// Whether no product was found.
  public var isEmpty: Bool { products.isEmpty }

  /// Why no product was found, for users; `nil` if one was.
  public var reason: String? {
    guard isEmpty else { return nil }
    if isIgnored { return "ignored, as the setting matching.ignore says" }
    if !gluedCodes.isEmpty { return gluedCodesIssue.reason }
    if isCoupon { return "a coupon, not a product" }
    if let reason = scan.refusal?.description ?? measureRefusal?.description { return reason }
    // Only a check digit that is right shows that the code was read well.
    return gtin == nil ? "not in the catalogue" : "sound, but not in the catalogue"
  }

  /// What is wrong with the transmission: each issue with its place in the scanned text.
  public var issuesOfTransmission: [ScanIssue] {
    (gluedCodes.isEmpty ? [] : [gluedCodesIssue]) + scan.issuesOfFrame
  }

  private var gluedCodesIssue: ScanIssue {
    let count = gluedCodes.count == 2 ? "two" : "\(gluedCodes.count)"
    let list = gluedCodes.joined(separator: ", ")
    return ScanIssue(ai: nil, position: 0, reason: "\(count) codes in one scan: \(list)", codes: gluedCodes)
  }

  /// Whether the catalogue lacks what was scanned. A pallet or a location that no product has is no miss.
  public var isMiss: Bool { isEmpty && !isIgnored && !scan.identifiesAnotherThing && !isCoupon }

  /// Whether the scan is the number of a coupon.
  private var isCoupon: Bool { scan.kind == .gtin && scan.codeKind == .coupon }

  /// What the scanned code is. A text that only looks like a label, and is a barcode or begins with one, is that.
  public var codeKind: CodeKind {
    if reading.elements != nil, !statesElements { return .text }
    return isLabel || reading.label == nil ? reading.codeKind : reading.codeKindWithoutLabel
  }

  /// Whether the scan is taken for a label: it certainly is one, or it may be one and nothing speaks for a plain text.
  var isLabel: Bool {
    guard let label = reading.label else { return false }
    if !label.isWeak { return true }
    if label.isGuess, !label.parts.isEmpty { return kind == .part || kind == .gtin }
    return kind != .exact && kind != .head
  }

  /// Whether the scan is taken for GS1 data: nothing but its digits says so, and it is a barcode or begins with one, is
  /// a reason not to.
  var statesElements: Bool {
    guard reading.elements != nil else { return false }
    return !reading.isGS1ByDigits || kind != .exact && kind != .head
  }

  /// The scan in the reading that matched.
  public var reading: Scan { foldedScan ?? scan }

  init(scan: Scan) { self.scan = scan }

  /// Adds a note to the last lookup.
  mutating func note(_ note: String) {
    if !attempts.isEmpty { attempts[attempts.count - 1].note = note }
  }
}
