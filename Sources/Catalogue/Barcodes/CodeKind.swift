/// What a scanned code is, as an answer to a scan names it.
///
/// Raw values are the names that programs read; they do not change.
public enum CodeKind: String, CaseIterable, Sendable {
  /// A GTIN of 8 digits.
  case gtin8 = "gtin-8"
  /// A GTIN of 12 digits: UPC-A.
  case gtin12 = "gtin-12"
  /// A GTIN of 13 digits: EAN-13.
  case gtin13 = "gtin-13"
  /// A GTIN of 14 digits, usually of a case.
  case gtin14 = "gtin-14"
  /// A UPC-E number, which stands for a GTIN of 12 digits.
  case upcE = "upc-e"
  /// A book: a GTIN that starts with 978 or 979, or an ISBN as it is printed.
  case isbn
  /// A periodical: a GTIN that starts with 977, or an ISSN as it is printed.
  case issn
  /// Printed music: a GTIN that starts with 9790, or an ISMN as it is printed.
  case ismn
  /// A number that is valid only within a company or a country, and often contains a weight or a price.
  case restricted
  /// A coupon or a refund receipt.
  case coupon
  /// The number of a logistic unit, a pallet for example.
  case sscc
  /// The number of a location or a party.
  case gln
  /// GS1 element strings.
  case gs1
  /// A web address with GS1 data.
  case digitalLink = "digital-link"
  /// A label of ISO/IEC 15434, with the data identifiers of ANSI MH10.8.2.
  case iso15434
  /// A label of the Health Industry Bar Code Standard.
  case hibc
  /// A Pharmazentralnummer, the number of a pharmaceutical product in Germany.
  case pzn
  /// A label in a distributor's own form.
  case label
  /// Any other text.
  case text
}
