import Configuration

/// Where a configuration comes from: arguments, then the environment's variables `CATALOGD_…`, then a file, then what goes
/// without saying.
public struct ConfigurationSources: Sendable {
  /// What stands before the names of variables.
  public static let variablePrefix = "CATALOGD_"

  /// Faults that were found before any setting was asked for.
  let faults: [ConfigurationFault]
  /// What is no fault, but may be a mistake.
  let warnings: [String]
  let arguments: ArgumentSettings
  /// The environment as it is.
  let environment: [String: String]
  /// Without the prefix.
  let variables: [String: String]
  let file: FileSettings?
  let filePath: String?
  /// Whether somebody may type or pipe codes into this process.
  let hasStandardInput: Bool

  /// Reads the file.
  ///
  /// - Parameters:
  ///   - arguments: those that are settings.
  ///   - environment: all variables.
  ///   - file: a path.
  ///   - hasStandardInput: whether the standard input is a pipe, a file or a terminal, so that it is read where no inputs are
  ///     named.
  public init(
    arguments: [String] = [], environment: [String: String] = [:], file: String? = nil, hasStandardInput: Bool = false
  ) {
    var faults: [ConfigurationFault] = []
    self.arguments = ArgumentSettings(arguments, faults: &faults)
    self.environment = environment
    self.hasStandardInput = hasStandardInput
    var variables: [String: String] = [:]
    for (name, value) in environment where name.hasPrefix(Self.variablePrefix) && !value.isEmpty {
      variables[String(name.dropFirst(Self.variablePrefix.count))] = value
    }
    // The path of the file is no setting.
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

  /// Variables that look like settings and are none. They are no faults: environments are filled by many hands.
  private static func unknown(_ variables: [String: String]) -> [String] {
    variables.keys.sorted().compactMap { name in
      let argument = "--" + name.lowercased().replacing("_", with: "-")
      if Setting.all.contains(where: { $0.matches(argument: argument) }) { return nil }
      let names = Setting.all.map { Setting.variable($0.path) }
      let hint = Setting.nearest(to: name, among: names).map { "; did you mean $\(variablePrefix)\($0)?" } ?? ""
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
