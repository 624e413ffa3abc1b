extension Scan {
  /// The kind of a payload, as far as the payload alone shows it.
  public enum Kind: String, CaseIterable, Sendable {
    /// A GTIN with a valid check digit.
    case gtin
    /// A GTIN from the ranges for restricted circulation; see ``GTIN/isRestricted``.
    case rcn
    /// Eight digits that are a UPC-E number and not another GTIN.
    case upcE = "upc-e"
    /// GS1 element strings, at least one of which could be read, or only separators.
    case gs1
    /// GS1 element strings, none of which could be read.
    case gs1Bad = "gs1-bad"
    /// A web address that contains a GTIN.
    case digitalLink = "digital-link"
    /// Any other web address.
    case url
    /// A label that is not GS1's; see ``Scan/label``.
    case label
    /// Digits that do not have the length of a GTIN.
    case digits
    /// Any other text, including numbers with a wrong check digit.
    case text
    /// An empty payload.
    case empty
  }
}
