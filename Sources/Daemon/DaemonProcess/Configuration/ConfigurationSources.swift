import Configuration
import TextFormat

/// The sources of a configuration, in order of precedence: arguments, environment variables `CATALOGD_…`, a file,
/// defaults.
package struct ConfigurationSources: Sendable {
  /// The prefix of the environment variables.
  package static let variablePrefix = "CATALOGD_"

  /// Faults found before any setting was read.
  let faults: [ConfigurationFault]
  /// Possible mistakes that are not faults.
  let warnings: [String]
  let arguments: ArgumentSettings
  /// The environment, unchanged.
  let environment: [String: String]
  /// The variables, without the prefix.
  let variables: [String: String]
  let file: FileSettings?
  let filePath: String?
  /// Whether codes can be typed or piped into this process.
  let hasStandardInput: Bool
  /// What keeps a root directory from being created; `nil` if that is not to be checked.
  let rootProblem: (@Sendable (String) -> String?)?

  /// Reads the file.
  ///
  /// - Parameters:
  ///   - arguments: The arguments that are settings.
  ///   - environment: All environment variables.
  ///   - file: The path of the file.
  ///   - hasStandardInput: Whether the standard input is a pipe, a file or a terminal, so that it is used if no inputs
  ///     are named.
  ///   - rootProblem: Returns what keeps a root directory from being created, and `nil` if nothing does. Without it that
  ///     is not checked, and is found when the daemon starts.
  package init(
    arguments: [String] = [], environment: [String: String] = [:], file: String? = nil, hasStandardInput: Bool = false,
    rootProblem: (@Sendable (String) -> String?)? = nil
  ) {
    var faults: [ConfigurationFault] = []
    self.arguments = ArgumentSettings(arguments, faults: &faults)
    self.environment = environment
    self.hasStandardInput = hasStandardInput
    self.rootProblem = rootProblem
    var variables: [String: String] = [:]
    for (name, value) in environment where name.hasPrefix(Self.variablePrefix) && !value.isEmpty {
      variables[String(name.dropFirst(Self.variablePrefix.count))] = value
    }
    // The path of the file is not a setting.
    variables["CONFIG"] = nil
    for (name, value) in variables where value.unicodeScalars.contains("\u{FFFD}") {
      faults.append(ConfigurationFault(nil, source: .variable(Self.variablePrefix + name), "is not valid UTF-8"))
    }
    self.variables = variables
    warnings = Self.unknown(variables)
    filePath = file
    self.file = file.flatMap { path in
      switch SmallFile.read(path, limit: FileSettings.maximumByteCount) {
      case .success(let bytes): return FileSettings(bytes, name: path, faults: &faults)
      case .failure(let problem):
        var fault = ConfigurationFault(nil, source: .file(path, line: nil), problem.description)
        fault.isUnreadableFile = problem.isUnreadable
        faults.append(fault)
        return nil
      }
    }
    self.faults = faults
  }

  /// Variables that look like settings but are not. They are not faults, because many programs add variables to an
  /// environment.
  private static func unknown(_ variables: [String: String]) -> [String] {
    variables.keys.sorted().compactMap { name in
      let argument = "--" + name.lowercased().replacing("_", with: "-")
      if DaemonSetting.all.contains(where: { $0.matches(argument: argument) }) { return nil }
      let names = DaemonSetting.all.map { DaemonSetting.variable($0.path) }
      let hint = NearestName.of(name, among: names).map { "; did you mean $\(variablePrefix)\($0)?" } ?? ""
      return "$\(variablePrefix)\(Shown.plain(name)) is no setting and was ignored\(hint)"
    }
  }

  /// A reader of all sources.
  func reader(_ reporter: any AccessReporter) -> ConfigReader {
    var providers: [any ConfigProvider] = [arguments, EnvironmentVariablesProvider(environmentVariables: variables)]
    if let file { providers.append(InMemoryProvider(name: "file", values: file.values)) }
    return ConfigReader(providers: providers, accessReporter: reporter)
  }
}
