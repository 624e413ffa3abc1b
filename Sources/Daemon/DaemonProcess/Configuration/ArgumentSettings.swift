import Configuration
import TextFormat

/// A configuration provider of command-line arguments: `--http-address VALUE`, `--http-address=VALUE`, and lists as
/// `--inputs-names A B` or `--inputs-names A,B`. A Boolean without a value is true.
///
/// swift-configuration's own provider splits every value at commas. This one does so only for lists, because URLs and
/// paths may contain commas.
struct ArgumentSettings: ConfigProvider, ConfigSnapshot {
  let providerName = "arguments"
  /// The values by argument, including its dashes.
  private(set) var values: [String: [String]] = [:]

  /// - Parameter faults: The list that unknown arguments are added to.
  init(_ arguments: [String], faults: inout [ConfigurationFault]) {
    var current: String?
    for argument in arguments {
      guard argument.hasPrefix("--"), argument != "--" else {
        if let current {
          values[current]?.append(argument)
        } else {
          faults.append(
            ConfigurationFault(
              nil, value: argument, source: .argument("argument"), "is no option; 'catalogd --help' lists them"))
        }
        continue
      }
      let name = String(argument.prefix { $0 != "=" })
      current = nil
      guard DaemonSetting.all.contains(where: { $0.matches(argument: name) }) else {
        let names = DaemonSetting.all.map { DaemonSetting.argument($0.path) }
        let hint =
          NearestName.of(name, among: names).map { "did you mean \($0)?" } ?? "'catalogd --help' lists them"
        faults.append(ConfigurationFault(nil, source: .argument(name), "there is no such option; \(hint)"))
        // Do not report its values as well.
        current = argument == name ? "" : nil
        continue
      }
      if values[name] != nil {
        faults.append(ConfigurationFault(nil, source: .argument(name), "is given twice; once is enough"))
      }
      values[name] = argument == name ? [] : [String(argument.dropFirst(name.count + 1))]
      current = argument == name ? name : nil
    }
  }

  func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
    let name = DaemonSetting.argument(key.components)
    guard let texts = values[name] else { return LookupResult(encodedKey: name, value: nil) }
    guard let content = Self.content(texts, type) else { throw Mismatch(encodedKey: name) }
    return LookupResult(encodedKey: name, value: ConfigValue(content, isSecret: false))
  }

  /// The values of an argument do not have the type of its setting.
  struct Mismatch: Error {
    let encodedKey: String
  }

  private static func content(_ texts: [String], _ type: ConfigType) -> ConfigContent? {
    if type == .stringArray {
      return .stringArray(texts.flatMap { $0.split(separator: ",").map(String.init) })
    }
    if type == .bool, texts.isEmpty { return .bool(true) }
    guard texts.count == 1 else { return nil }
    return switch type {
    case .string: .string(texts[0])
    case .int: Int(texts[0]).map { .int($0) }
    case .double: Double(texts[0]).map { .double($0) }
    case .bool: Bool(texts[0].lowercased()).map { .bool($0) }
    default: nil
    }
  }

  // MARK: Immutable provider

  func fetchValue(forKey key: AbsoluteConfigKey, type: ConfigType) async throws -> LookupResult {
    try value(forKey: key, type: type)
  }

  nonisolated(nonsending) func watchValue<Return: ~Copyable>(
    forKey key: AbsoluteConfigKey, type: ConfigType,
    updatesHandler:
      nonisolated(nonsending) (
        ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>
      ) async throws -> Return
  ) async throws -> Return {
    try await watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler)
  }

  func snapshot() -> any ConfigSnapshot { self }

  nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
    updatesHandler:
      nonisolated(nonsending) (ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
  ) async throws -> Return {
    try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler)
  }
}
