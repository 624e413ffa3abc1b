/// The layouts of restricted numbers that a country publishes, or that are in use there, as rules.
///
/// The name is the country's code of ISO 3166-1 in lower case. Where stores choose among several layouts, each has a
/// name that starts with the country's code, and the code alone is no preset.
public struct MeasurePreset: Hashable, Sendable {
  /// The name, for example `de`.
  public let name: String
  /// What the layouts are, for users.
  public let title: String
  /// The document that describes the layouts.
  public let source: String
  /// The rules.
  public let rules: [MeasureRule]

  /// Every preset, by name.
  public static let all: [MeasurePreset] = (europe + northAmerica + asia).sorted { $0.name < $1.name }

  /// The names of all presets, in order.
  public static let names: [String] = all.map(\.name)

  /// Returns a preset.
  ///
  /// - Throws: ``MeasureRulesError/unknownPreset(name:layouts:)`` if there is none of this name.
  public static func preset(named name: String) throws(MeasureRulesError) -> MeasurePreset {
    guard let preset = all.first(where: { $0.name == name }) else {
      throw .unknownPreset(name: name, layouts: name.isEmpty ? [] : names.filter { $0.hasPrefix(name + "-") })
    }
    return preset
  }

  /// Creates a preset from rules that are constants of this module, so that a fault in them is a programmer's error.
  init(_ name: String, _ title: String, source: String, _ layouts: [Layout]) {
    self.name = name
    self.title = title
    self.source = source
    rules = layouts.flatMap { layout in layout.prefixes.map { layout.rule(named: name, prefix: $0) } }
  }

  /// A layout that is the same for several prefixes.
  struct Layout {
    let prefixes: [String]
    let pattern: String
    let measure: Measure
    let decimals: Int
    var unit: String?
    var currency: String?
    var innerCheck: InnerCheckDigit?

    static func weight(
      _ prefixes: [String],
      pattern: String,
      decimals: Int,
      innerCheck: InnerCheckDigit? = nil
    ) -> Layout {
      Layout(
        prefixes: prefixes,
        pattern: pattern,
        measure: .weight,
        decimals: decimals,
        unit: "kg",
        innerCheck: innerCheck
      )
    }

    static func price(
      _ prefixes: [String],
      pattern: String,
      decimals: Int,
      _ currency: String,
      innerCheck: InnerCheckDigit? = nil
    ) -> Layout {
      Layout(
        prefixes: prefixes,
        pattern: pattern,
        measure: .price,
        decimals: decimals,
        currency: currency,
        innerCheck: innerCheck
      )
    }

    static func count(_ prefixes: [String], pattern: String, innerCheck: InnerCheckDigit? = nil) -> Layout {
      Layout(prefixes: prefixes, pattern: pattern, measure: .count, decimals: 0, innerCheck: innerCheck)
    }

    /// The rule for one prefix, with a name such as `de-weight-28`, or `us-5-2` for one of several layouts.
    func rule(named preset: String, prefix: String) -> MeasureRule {
      do throws(MeasureRulesError) {
        return try MeasureRule(
          name: preset.contains("-") ? "\(preset)-\(prefix)" : "\(preset)-\(measure.rawValue)-\(prefix)",
          prefix: prefix,
          pattern: pattern,
          measure: measure.rawValue,
          decimals: decimals,
          unit: unit,
          currency: currency,
          innerCheck: innerCheck?.rawValue
        )
      } catch {
        preconditionFailure("a preset is invalid: \(error)")
      }
    }
  }
}
