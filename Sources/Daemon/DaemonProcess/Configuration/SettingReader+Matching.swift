import DocumentFormat
import Workspace

extension SettingReader {
  /// How scans are parsed and matched, as far as this configuration says. Values are checked like those of the stores.
  mutating func matching() -> MatchingSettings {
    var settings = MatchingSettings()
    for name in MatchingSettings.Name.allCases {
      let path = name.rawValue.split(separator: ".").map(String.init)
      let value: DocumentValue? =
        switch name {
        case .separators: text(path).map { .text($0) }
        case .measures: text(path).map { name.value(of: $0) }
        case .minimumHeadLength, .minimumHeadDigits, .suggestionLimit: int(path).map { .integer(Int64($0)) }
        case .areHeadsEnabled: bool(path).map { .bool($0) }
        case .sku: text(path).map { .text($0) }
        case .excludedSymbologies, .ignoredTexts: list(path).map { .array($0.map { .text($0) }) }
        }
      if let value { set(name, to: value, in: &settings, path) }
    }
    return settings
  }

  /// The texts that stand for FNC1, of a setting that overrides `matching.separators`; `nil` if it is not set.
  mutating func separators(_ path: [String]) -> [String]? {
    guard let text = text(path) else { return nil }
    var settings = MatchingSettings()
    set(.separators, to: .text(text), in: &settings, path)
    return settings.separators
  }

  private mutating func set(
    _ name: MatchingSettings.Name, to value: DocumentValue, in settings: inout MatchingSettings, _ path: [String]
  ) {
    do throws(MatchingSettingsError) { try settings.set(name, to: value) } catch {
      refuse(path, nil, error.reason)
    }
  }
}
