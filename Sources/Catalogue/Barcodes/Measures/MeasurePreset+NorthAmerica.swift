extension MeasurePreset {
  /// UPC number system 2: the number starts with 2 if it is written with 12 digits, and with 02 if with 13.
  ///
  /// The Uniform Code Council's guideline 11 for random-weight items has five digits for the item, a check digit of the
  /// price, and four digits for the price. GS1 Canada's dictionary names these parts ("packager code", "price
  /// check-digit") as those of North American products that are weighed or measured. As a price of four digits ends at
  /// 99.99, and as simple scales compute no check digit, cash registers know two more layouts (RetailEdge, "Random
  /// Weight (Type 2 UPC) Items"; Regit Express, "Random Weight Standard"): the check digit is arbitrary, or it is the
  /// first digit of a price with five digits.
  static let northAmerica: [MeasurePreset] = [("ca", "Canada", "CAD"), ("us", "USA", "USD")].flatMap {
    country,
    place,
    currency in
    let guideline = "Uniform Code Council, guideline 11 for random-weight items (UPC number system 2)"
    let source = country == "ca" ? "GS1 Canada, dictionary; " + guideline : guideline
    let manual = "RetailEdge, Random Weight (Type 2 UPC) Items"
    return [
      MeasurePreset(
        country,
        "\(place): price of four digits, with a check digit of the price",
        source: source,
        [.price(["2"], pattern: "PIIIIIKVVVVC", decimals: 2, currency, innerCheck: .fourDigitPrice)]
      ),
      MeasurePreset(
        country + "-unchecked",
        "\(place): price of four digits; the digit before it is arbitrary",
        source: manual,
        [.price(["2"], pattern: "PIIIIIXVVVVC", decimals: 2, currency)]
      ),
      MeasurePreset(
        country + "-5",
        "\(place): price of five digits",
        source: "Regit Express, Random Weight Standard",
        [.price(["2"], pattern: "PIIIIIVVVVVC", decimals: 2, currency)]
      ),
    ]
  }
}
