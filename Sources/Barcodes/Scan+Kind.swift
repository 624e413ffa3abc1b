extension Scan {
  /// What a payload is, as far as the payload itself tells.
  public enum Kind: String, CaseIterable, Sendable {
    /// A GTIN with a right check digit.
    case gtin
    /// A GTIN from the ranges for restricted circulation: see ``GTIN/isRestricted``.
    case rcn
    /// Eight digits that are a UPC-E number and no other GTIN.
    case upcE = "upc-e"
    /// GS1 element strings of which at least one was read, or separators alone.
    case gs1
    /// GS1 element strings of which none could be read.
    case gs1Bad = "gs1-bad"
    /// A web address around a GTIN.
    case digitalLink = "digital-link"
    /// Any other web address.
    case url
    /// Digits that have not the length of a GTIN.
    case digits
    /// Everything else, numbers with a wrong check digit included.
    case text
    /// Nothing.
    case empty
  }
}
