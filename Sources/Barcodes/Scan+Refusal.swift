extension Scan {
  /// Why a scan matches nothing, or is likely to match nothing.
  public enum Refusal: Hashable, Sendable {
    /// There was no text.
    case empty
    /// The payload has more than `maximum` bytes.
    case tooLong(byteCount: Int, maximum: Int)
    /// The digits have the length of a GTIN, but the check digit is wrong: a misread more likely than not. An
    /// equal text in the catalogue is a match all the same.
    case wrongCheckDigit
    /// A web address without a GTIN.
    case addressWithoutGTIN
    /// Element strings that cannot be read.
    case unreadableElements(ElementString.Fault)
    /// The GTIN in the element strings has a wrong check digit.
    case wrongCheckDigitInElements(ai: String)
    /// Element strings that name something else than a trade item, such as a pallet (00) or a place (414);
    /// `ai` is the first of them, nil when there are separators only.
    case noTradeItem(ai: String?)
    /// An add-on without the number it belongs to.
    case addOnAlone
  }

  /// What to tell a person when nothing matched; nil when the scan is sound, so that the product is merely
  /// unknown.
  public var refusal: Refusal? {
    if isTooLong {
      return .tooLong(byteCount: payload.utf8.count, maximum: configuration.maximumLength)
    }
    if symbology?.isAddOnAlone == true { return .addOnAlone }
    switch kind {
    case .empty: return .empty
    case .url: return .addressWithoutGTIN
    case .gs1, .gs1Bad, .digitalLink: return refusalOfElements
    case .gtin, .rcn, .upcE, .digits, .text: return checkDigit == .invalid ? .wrongCheckDigit : nil
    }
  }

  private var refusalOfElements: Refusal? {
    guard gtin == nil, let elements else { return nil }
    for ai in ["01", "02"] where elements[ai] != nil { return .wrongCheckDigitInElements(ai: ai) }
    if let fault = elements.fault { return .unreadableElements(fault) }
    return .noTradeItem(ai: elements.elements.first?.ai)
  }
}

extension Scan.Refusal: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .empty: "nothing was scanned"
    case .tooLong(let byteCount, let maximum): "the scan has \(byteCount) bytes, more than \(maximum)"
    case .wrongCheckDigit: "the check digit is wrong"
    case .addressWithoutGTIN: "the web address holds no GTIN"
    case .unreadableElements(let fault): "the GS1 data cannot be read: \(fault)"
    case .wrongCheckDigitInElements(let ai): "the check digit of (\(ai)) is wrong"
    case .noTradeItem(let ai?): "the GS1 data name no trade item; they start with (\(ai))"
    case .noTradeItem(nil): "the GS1 data are empty"
    case .addOnAlone: "only the add-on was scanned, not the number beside it"
    }
  }
}
