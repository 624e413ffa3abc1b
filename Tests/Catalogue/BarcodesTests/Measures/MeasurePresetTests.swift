import Testing

@testable import Barcodes

@Suite struct MeasurePresetTests {
  /// A number that a preset reads.
  struct Example: Sendable, CustomTestStringConvertible {
    let preset: String
    let number: String
    let rule: String
    let value: ScanValue
    /// The number with zeros for the value.
    let itemNumber: String

    init(_ preset: String, _ number: String, _ rule: String, _ value: ScanValue, _ itemNumber: String) {
      (self.preset, self.number, self.rule, self.value, self.itemNumber) = (preset, number, rule, value, itemNumber)
    }

    var testDescription: String { "\(preset) \(number)" }
  }

  private static func kilograms(_ coefficient: Int64, _ decimals: Int) -> ScanValue {
    .quantity(ExactDecimal(coefficient, decimals: decimals), unit: "kg")
  }

  private static func money(_ coefficient: Int64, _ decimals: Int, _ currency: String) -> ScanValue {
    .money(ExactDecimal(coefficient, decimals: decimals), currency: currency)
  }

  /// Numbers, values and item numbers as biip 5.2 reads them.
  static let examplesOfAnotherImplementation: [Example] =
    [
      Example("de", "2212348123459", "de-price-22", money(12345, 2, "EUR"), "2212340000000"),
      Example("de", "2312348123456", "de-price-23", money(12345, 2, "EUR"), "2312340000007"),
      Example("de", "2512348123450", "de-count-25", .number(ExactDecimal(12345)), "2512340000001"),
      Example("de", "2612348123457", "de-count-26", .number(ExactDecimal(12345)), "2612340000008"),
      Example("de", "2812348123451", "de-weight-28", kilograms(12345, 3), "2812340000002"),
      Example("de", "2912348123458", "de-weight-29", kilograms(12345, 3), "2912340000009"),
      Example("dk", "2112340123450", "dk-price-21", money(12345, 2, "DKK"), "2112340000003"),
      Example("dk", "2212340123457", "dk-price-22", money(12345, 2, "DKK"), "2212340000000"),
      Example("dk", "2312340123454", "dk-price-23", money(12345, 2, "DKK"), "2312340000007"),
      Example("dk", "2412340123451", "dk-price-24", money(12345, 2, "DKK"), "2412340000004"),
      Example("dk", "2612340123455", "dk-weight-26", kilograms(12345, 3), "2612340000008"),
      Example("dk", "2712345123457", "dk-weight-27", kilograms(12345, 3), "2712345000000"),
      Example("dk", "2812340123459", "dk-weight-28", kilograms(12345, 3), "2812340000002"),
      Example("gb", "2012345912342", "gb-price-20", money(1234, 2, "GBP"), "2012345000001"),
    ]
    + ["ee", "fi", "lt", "lv", "no", "se"].flatMap { country in
      [
        Example(country, "2312345612342", "\(country)-weight-23", kilograms(1234, 3), "2312345600004"),
        Example(country, "2412345612349", "\(country)-weight-24", kilograms(1234, 2), "2412345600001"),
        Example(country, "2512345612346", "\(country)-weight-25", kilograms(1234, 1), "2512345600008"),
      ]
    }
    + [("no", "NOK"), ("se", "SEK")].flatMap { country, currency in
      [
        Example(country, "2012345612341", "\(country)-price-20", money(1234, 2, currency), "2012345600003"),
        Example(country, "2112345612348", "\(country)-price-21", money(1234, 1, currency), "2112345600000"),
        Example(country, "2212345612345", "\(country)-price-22", money(1234, 0, currency), "2212345600007"),
      ]
    }

  /// Examples from the sources of the presets, with valid check digits.
  static let examplesOfSources: [Example] =
    [
      Example("gb", "2812345912348", "gb-price-28", money(1234, 2, "GBP"), "2812345000007"),
      Example("cn-price", "2106013040083", "cn-price-21", money(4008, 2, "CNY"), "2106013000001"),
      Example("cn-weight", "2110001005008", "cn-weight-21", kilograms(500, 3), "2110001000003"),
      Example("jp-4", "2112002515005", "jp-4-21", money(1500, 0, "JPY"), "2112002500001"),
      Example("jp-5", "2212345019809", "jp-5-22", money(1980, 0, "JPY"), "2212345000005"),
      Example("jp-6", "2312341500001", "jp-6-23", money(150_000, 0, "JPY"), "2312340000007"),
    ]
    + [("us", "USD"), ("ca", "CAD")].flatMap { country, currency in
      [
        Example(country, "299265108631", "\(country)-price-2", money(863, 2, currency), "299265000003"),
        Example(
          "\(country)-unchecked", "212345019955", "\(country)-unchecked-2", money(1995, 2, currency),
          "212345000007"),
        Example("\(country)-5", "212345198957", "\(country)-5-2", money(19895, 2, currency), "212345000007"),
      ]
    }

  @Test(arguments: examplesOfAnotherImplementation + examplesOfSources)
  func `a preset reads its example`(example: Example) throws {
    let rules = try MeasureRules([.preset(example.preset)])
    let gtin = try #require(GTIN(example.number))
    #expect(gtin.isRestricted)
    let reading = try #require(rules.reading(of: gtin)).get()
    #expect(reading.rule.name == example.rule)
    #expect(reading.value == example.value)
    #expect(reading.itemNumber == GTIN(example.itemNumber))
    #expect(try rules.reading(ofDigits: example.number)?.get() == reading)
    #expect(try rules.reading(of: reading.itemNumber)?.get().head == reading.head)
  }

  @Test func `every rule of a preset has an example`() {
    let examples = Set((Self.examplesOfAnotherImplementation + Self.examplesOfSources).map(\.rule))
    for preset in MeasurePreset.all {
      // The presets of stores that choose their prefix have the same rule for all of them.
      let kinds = Set(preset.rules.map { $0.name.hasPrefix("cn-") || $0.name.hasPrefix("jp-") ? preset.name : $0.name })
      for kind in kinds {
        #expect(examples.contains { $0.hasPrefix(kind) }, "\(kind)")
      }
    }
  }

  @Test func `presets have names in order, and sources`() {
    #expect(
      MeasurePreset.names == [
        "ca", "ca-5", "ca-unchecked", "cn-price", "cn-weight", "de", "dk", "ee", "fi", "gb", "jp-4", "jp-5", "jp-6",
        "lt", "lv", "no", "se", "us", "us-5", "us-unchecked",
      ]
    )
    for preset in MeasurePreset.all {
      #expect(!preset.title.isEmpty && !preset.source.isEmpty && !preset.rules.isEmpty, "\(preset.name)")
    }
  }

  @Test(arguments: MeasurePreset.all)
  func `a preset overlaps with none of its own rules and reads only restricted numbers`(preset: MeasurePreset) throws {
    #expect(try MeasureRules([.preset(preset.name)]).rules == preset.rules)
    #expect(try MeasurePreset.preset(named: preset.name) == preset)
    for rule in preset.rules {
      #expect(rule.number(item: 0, value: 0).isRestricted)
      #expect(rule.number(item: .max, value: .max).isRestricted)
    }
  }

  @Test func `presets of different prefixes can be combined`() throws {
    #expect(try MeasureRules([.preset("fi"), .preset("gb"), .preset("us")]).rules.count == 6)
  }
}
