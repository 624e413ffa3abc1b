extension MeasurePreset {
  /// Countries in which each store chooses the second digit of the prefix, and one of several layouts.
  ///
  /// The rules apply to all prefixes from 20 to 29. A store that uses several layouts writes a rule for each prefix.
  static let asia: [MeasurePreset] = [
    // GB/T 18283-2008 (商品条码 店内条码) has numbers with a price or a measure in section 4.2 and a check digit of that value
    // in annex A. Its table of layouts could not be consulted, so only the two are here that Chinese scales print:
    // prefix, item of five digits, and amount or weight of five digits.
    MeasurePreset(
      "cn-price",
      "China: price of five digits in fen",
      source: "manuals of Chinese scales (DDIIIIIPPPPPC); compare GB/T 18283-2008, 4.2",
      [.price(twenties, pattern: "PPIIIIIVVVVVC", decimals: 2, "CNY")]
    ),
    MeasurePreset(
      "cn-weight",
      "China: weight of five digits in grams",
      source: "manuals of Chinese scales (DDIIIIIWWWWWC); compare GB/T 18283-2008, 4.2",
      [.weight(twenties, pattern: "PPIIIIIVVVVVC", decimals: 3)]
    ),
    // Japanese stores mark items themselves (インストアマーキング) and choose flag and digits. In the NON-PLU form, item and
    // price share ten digits. Manuals of cash registers have prices of 4 (cm55), 5 and 6 digits (Uniaim); the yen has
    // no decimals.
    MeasurePreset(
      "jp-4",
      "Japan: NON-PLU, price of four digits in yen",
      source: "manual of the cash register cm55, インストアJAN設定",
      [.price(twenties, pattern: "PPIIIIIIVVVVC", decimals: 0, "JPY")]
    ),
    MeasurePreset(
      "jp-5",
      "Japan: NON-PLU, price of five digits in yen",
      source: "manual of the cash register of Uniaim, NonPLU設定",
      [.price(twenties, pattern: "PPIIIIIVVVVVC", decimals: 0, "JPY")]
    ),
    MeasurePreset(
      "jp-6",
      "Japan: NON-PLU, price of six digits in yen",
      source: "manual of the cash register of Uniaim, NonPLU設定",
      [.price(twenties, pattern: "PPIIIIVVVVVVC", decimals: 0, "JPY")]
    ),
  ]

  private static let twenties = (20...29).map { String($0) }
}
