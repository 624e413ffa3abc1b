extension Scan {
  /// The reason why a scan matches nothing, or is unlikely to match.
  public enum Refusal: Hashable, Sendable {
    /// The scanned text is empty.
    case empty
    /// The payload has more than `maximum` bytes.
    case tooLong(byteCount: Int, maximum: Int)
    /// The digits have the length of a GTIN, but the check digit is wrong, which usually means a misread. An equal
    /// barcode in the catalogue is nevertheless a match.
    case wrongCheckDigit
    /// A web address without a GTIN.
    case addressWithoutGTIN
    /// Element strings that cannot be read.
    case unreadableElements(ElementString.Fault)
    /// The GTIN in the element strings has a wrong check digit.
    case wrongCheckDigitInElements(ai: String)
    /// The element strings identify something other than a trade item, for example a pallet (00) or a location (414).
    /// `ai` is the first identifier; `nil` if there are only separators.
    case noTradeItem(ai: String?)
    /// A label that is not GS1's names no product, or what names it is wrong.
    case labelWithoutProduct(reason: String)
    /// The scan is an add-on without its number.
    case addOnAlone
  }

  /// The reason to show to the user if nothing matched; `nil` if the scan is valid and the product is simply unknown.
  public var refusal: Refusal? {
    if isTooLong {
      return .tooLong(byteCount: payload.utf8.count, maximum: configuration.maximumLength)
    }
    if symbology?.isAddOnAlone == true { return .addOnAlone }
    switch kind {
    case .empty: return .empty
    case .url: return .addressWithoutGTIN
    case .gs1, .gs1Bad, .digitalLink: return refusalOfElements
    case .label: return refusalOfLabel
    case .gtin, .rcn, .upcE, .digits, .text:
      if label?.faults.isEmpty == false { return refusalOfLabel }
      return checkDigit == .invalid ? .wrongCheckDigit : nil
    }
  }

  private var refusalOfLabel: Refusal? {
    guard gtin == nil, let label, label.parts.isEmpty else { return nil }
    return .labelWithoutProduct(reason: label.faults.first?.reason ?? "the label names no product")
  }

  private var refusalOfElements: Refusal? {
    guard gtin == nil, let elements else { return nil }
    for ai in ["01", "02"] where elements[ai] != nil { return .wrongCheckDigitInElements(ai: ai) }
    if let fault = elements.fault { return .unreadableElements(fault) }
    // The pallet or location is what the label is about, in whatever order its elements are.
    let keys = elements.elements.lazy.map(\.ai).filter { $0 == "00" || $0.hasPrefix("41") }
    return .noTradeItem(ai: keys.first ?? elements.elements.first?.ai)
  }
}

extension Scan.Refusal: CustomStringConvertible {
  /// A description of the reason for users.
  public var description: String {
    switch self {
    case .empty: "nothing was scanned"
    case .tooLong(let byteCount, let maximum): "the scan has \(byteCount) bytes, more than \(maximum)"
    case .wrongCheckDigit: "wrong check digit"
    case .addressWithoutGTIN: "the web address holds no GTIN"
    case .unreadableElements(let fault): "the GS1 data cannot be read: \(fault)"
    case .wrongCheckDigitInElements(let ai): "the check digit of (\(ai)) is wrong"
    case .noTradeItem("00"): "a pallet (SSCC), not a product"
    case .noTradeItem(let ai?) where ai.hasPrefix("41"): "a location or a party (GLN), not a product"
    case .noTradeItem("8006"), .noTradeItem("8026"): "a piece of a trade item (ITIP), not the item"
    case .noTradeItem("255"), .noTradeItem("8110"), .noTradeItem("8112"): "a coupon, not a product"
    case .noTradeItem(let ai?): "the GS1 data name no trade item; they start with (\(ai))"
    case .noTradeItem(nil): "the GS1 data are empty"
    case .labelWithoutProduct(let reason): reason
    case .addOnAlone: "only the add-on was scanned, not the number next to it"
    }
  }
}
