extension MeasurePreset {
  /// The nine European countries for which the Python library biip has rules too.
  static let europe: [MeasurePreset] = [
    // GS1 Germany, "Die Globale Artikelnummer (GTIN) in der Anwendung", and its SAN-4 concept. The check digit of the
    // value has five digits for counts and weights as well.
    MeasurePreset(
      "de",
      "Germany: price, count and weight, with a check digit of the value",
      source: "GS1 Germany, Die Globale Artikelnummer (GTIN) in der Anwendung; SAN-4-Konzept",
      [
        .price(["22", "23"], pattern: "PPIIIIKVVVVVC", decimals: 2, "EUR", innerCheck: .fiveDigitPrice),
        .count(["25", "26"], pattern: "PPIIIIKVVVVVC", innerCheck: .fiveDigitPrice),
        .weight(["28", "29"], pattern: "PPIIIIKVVVVVC", decimals: 3, innerCheck: .fiveDigitPrice),
      ]
    ),
    // GS1 Denmark, "Interne GS1-stregkoder" and its pages on GTIN-13 with price and with weight: 4 digits for the item,
    // the price in øre, the weight in grams. 27 has five digits for the item.
    MeasurePreset(
      "dk",
      "Denmark: price in øre, weight in grams",
      source: "GS1 Denmark, Interne GS1-stregkoder; GTIN-13 pris; GTIN-13 vægt",
      [
        .price(["21", "22", "23", "24"], pattern: "PPIIIIVVVVVVC", decimals: 2, "DKK"),
        .weight(["26", "28"], pattern: "PPIIIIVVVVVVC", decimals: 3),
        .weight(["27"], pattern: "PPIIIIIVVVVVC", decimals: 3),
      ]
    ),
    // GS1 Latvia, "Variable measure in Latvia", which describes one layout for the Baltic countries.
    MeasurePreset("ee", "Estonia: weight", source: "GS1 Latvia, Variable measure in Latvia", weightsBySecondDigit),
    MeasurePreset("lt", "Lithuania: weight", source: "GS1 Latvia, Variable measure in Latvia", weightsBySecondDigit),
    MeasurePreset("lv", "Latvia: weight", source: "GS1 Latvia, Variable measure in Latvia", weightsBySecondDigit),
    // GS1 Finland, "How to identify the product (GTIN)": 23 YYYY AA PPPP T. Items are registered with a weight of zero
    // and the check digit that follows from it ("GS1 Synkka: Creating a variable-measure item").
    MeasurePreset(
      "fi",
      "Finland: weight",
      source: "GS1 Finland, How to identify the product (GTIN)",
      weightsBySecondDigit
    ),
    // GS1 UK, "How to barcode variable measure items": 20XXX and 28XXX, RR, V, PPPP, C. biip has only 20.
    MeasurePreset(
      "gb",
      "Great Britain: price, with a check digit of the price",
      source: "GS1 UK, How to barcode variable measure items",
      [.price(["20", "28"], pattern: "PPIIIIIKVVVVC", decimals: 2, "GBP", innerCheck: .fourDigitPrice)]
    ),
    // No document of GS1 Norway was found. biip states that the products tested follow the Swedish rules.
    MeasurePreset(
      "no",
      "Norway: not published; the Swedish layouts with Norwegian currency",
      source: "none of GS1 Norway; biip observed the Swedish layouts",
      pricesBySecondDigit("NOK") + weightsBySecondDigit
    ),
    // GS1 Sweden, "Hur skapar jag mina viktvarunummer?" The English page leaves out 23 by mistake.
    MeasurePreset(
      "se",
      "Sweden: price and weight",
      source: "GS1 Sweden, Hur skapar jag mina viktvarunummer?",
      pricesBySecondDigit("SEK") + weightsBySecondDigit
    ),
  ]

  /// Weights in four digits: the second digit of the number tells the decimals.
  private static let weightsBySecondDigit: [Layout] = [
    .weight(["23"], pattern: "PPIIIIIIVVVVC", decimals: 3),
    .weight(["24"], pattern: "PPIIIIIIVVVVC", decimals: 2),
    .weight(["25"], pattern: "PPIIIIIIVVVVC", decimals: 1),
  ]

  /// Prices in four digits: the second digit of the number tells the decimals.
  private static func pricesBySecondDigit(_ currency: String) -> [Layout] {
    [
      .price(["20"], pattern: "PPIIIIIIVVVVC", decimals: 2, currency),
      .price(["21"], pattern: "PPIIIIIIVVVVC", decimals: 1, currency),
      .price(["22"], pattern: "PPIIIIIIVVVVC", decimals: 0, currency),
    ]
  }
}
