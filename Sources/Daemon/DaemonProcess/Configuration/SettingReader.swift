import Configuration
import Synchronization
import UploadHTTP

/// A reader of settings that collects faults, so that all of them can be reported at once.
struct SettingReader {
  private let sources: ConfigurationSources
  private let reader: ConfigReader
  private let accesses: Accesses
  private(set) var faults: [ConfigurationFault]
  /// The explicitly set settings, in the order in which they were read.
  private(set) var used: [UsedSetting] = []
  /// All values read, including secrets and the contents of secret files, for comparison with another configuration.
  private(set) var allValues: [[String]: String] = [:]

  init(_ sources: ConfigurationSources) {
    self.sources = sources
    faults = sources.faults
    accesses = Accesses()
    reader = sources.reader(accesses)
  }

  /// All environment variables.
  var environment: [String: String] { sources.environment }

  // MARK: Values

  mutating func text(_ path: String...) -> String? { text(path) }
  mutating func int(_ path: String...) -> Int? { int(path) }
  mutating func number(_ path: String...) -> Double? { number(path) }
  mutating func bool(_ path: String...) -> Bool? { bool(path) }

  mutating func text(_ path: [String]) -> String? {
    let setting = Self.setting(path)
    guard let value = reader.string(forKey: ConfigKey(path), isSecret: setting.isSecret) else { return nothing(path) }
    if case .choice(let names) = setting.kind, !names.contains(value) {
      return refuse(path, value, "is to be one of \(names.joined(separator: ", "))")
    }
    guard !value.utf8.contains(0) else { return refuse(path, value, "has a zero byte") }
    return use(path, value, Self.shown(value, setting), value)
  }

  mutating func int(_ path: [String]) -> Int? {
    guard let value = reader.int(forKey: ConfigKey(path)) else { return nothing(path) }
    if case .int(let range) = Self.setting(path).kind, !range.contains(value) {
      return refuse(path, "\(value)", "is to be \(range.lowerBound) to \(range.upperBound)")
    }
    return use(path, value, "\(value)")
  }

  mutating func number(_ path: [String]) -> Double? {
    guard let value = reader.double(forKey: ConfigKey(path)) else { return nothing(path) }
    // NaN and infinity are in no range.
    if case .number(let range) = Self.setting(path).kind, !range.contains(value) {
      let (least, most) = (DaemonSetting.plain(range.lowerBound), DaemonSetting.plain(range.upperBound))
      return refuse(path, "\(value)", "is to be \(least) to \(most)")
    }
    return use(path, value, DaemonSetting.plain(value))
  }

  mutating func bool(_ path: [String]) -> Bool? {
    guard let value = reader.bool(forKey: ConfigKey(path)) else { return nothing(path) }
    return use(path, value, "\(value)")
  }

  mutating func list(_ path: [String]) -> [String]? {
    let setting = Self.setting(path)
    guard let value = reader.stringArray(forKey: ConfigKey(path), isSecret: setting.isSecret) else {
      return nothing(path)
    }
    return use(path, value, Self.shown(value.joined(separator: ","), setting), value.joined(separator: "\u{0}"))
  }

  /// Adds the content of a file to the values, for the comparison with another configuration.
  mutating func record(_ path: [String], _ content: String) { allValues[path] = content }

  /// The path of a file. In the value of the setting, `$CREDENTIALS_DIRECTORY/` stands for the folder in which systemd
  /// passes files to a service (`LoadCredential=`).
  mutating func file(_ path: [String]) -> String? {
    guard let file = text(path) else { return nil }
    if file.hasPrefix("%d/") {
      return refuse(
        path, file, "%d means something in a unit of systemd only; write $CREDENTIALS_DIRECTORY/\(file.dropFirst(3))")
    }
    guard let name = Self.credential(file) else { return file }
    guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
      refuse(
        path, file,
        "is passed by systemd to a unit with LoadCredential=\(name):FILE, and this process is not started by such a unit;"
          + " 'systemd-run --pipe --wait -p LoadCredential=\(name):FILE catalogd …' starts one", isUnreadableFile: true)
      return nil
    }
    return directory + "/" + name
  }

  /// The name of a credential in the value of a setting, `$CREDENTIALS_DIRECTORY/NAME`.
  private static func credential(_ file: String) -> Substring? {
    for prefix in ["$CREDENTIALS_DIRECTORY/", "${CREDENTIALS_DIRECTORY}/"] where file.hasPrefix(prefix) {
      return file.dropFirst(prefix.count)
    }
    return nil
  }

  /// Records that a file cannot be used, and what to do if systemd should have passed it.
  mutating func refuse(_ path: [String], _ file: String, _ problem: SmallFile.Problem) {
    var words = problem.description
    if problem.isUnreadable, let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty,
      file.hasPrefix(directory + "/")
    {
      words += "; the unit needs LoadCredential=\(file.dropFirst(directory.utf8.count + 1)):FILE, and then a restart"
    }
    refuse(path, file, words, isUnreadableFile: problem.isUnreadable)
  }

  /// A secret in a file, whose path is the value of a setting.
  mutating func secret(file path: [String]) -> String? {
    guard let file = file(path) else { return nil }
    switch SmallFile.secret(file) {
    case .success(let secret):
      allValues[path] = file + "\u{0}" + secret
      return secret
    case .failure(let problem):
      refuse(path, file, problem)
      return nil
    }
  }

  /// A signing secret in a file, whose path is the value of a setting.
  mutating func signingSecret(file path: [String]) -> WebhookSecret? {
    guard let file = file(path) else { return nil }
    switch SmallFile.read(file, limit: 65_536, isPrivate: true) {
    case .success(let bytes):
      allValues[path] = file + "\u{0}" + bytes.map { String($0, radix: 16) }.joined(separator: " ")
      do throws(UploadHTTPError) { return try WebhookSecret(bytes) } catch { refuse(path, file, "\(error)") }
    case .failure(let problem): refuse(path, file, problem)
    }
    return nil
  }

  /// A file of certificate authorities, whose path is the value of a setting. Its contents count as a value, so that a
  /// reload takes other ones.
  mutating func authorities(file path: [String]) -> String? {
    guard let file = file(path) else { return nil }
    switch SmallFile.read(file, limit: 16 << 20) {
    case .success(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      allValues[path] = file + "\u{0}" + text
      if !text.contains("-----BEGIN CERTIFICATE-----") { refuse(path, file, "holds no certificates in PEM form") }
    case .failure(let problem): refuse(path, file, problem)
    }
    return file
  }

  /// Whether the setting is set explicitly, validly or not.
  func isSet(_ path: [String]) -> Bool { source(path) != .nowhere }

  // MARK: Faults

  /// Records a fault of a value.
  mutating func refuse(_ path: [String], _ value: String?, _ problem: String, isUnreadableFile: Bool = false) {
    let setting = Self.setting(path)
    let shown = setting.isSecret ? nil : value.map { setting.kind == .url ? Shown.url($0) : $0 }
    var place = source(path)
    if place == .nowhere { place = surroundings(path) }
    var fault = ConfigurationFault(path.joined(separator: "."), value: shown, source: place, problem)
    fault.isUnreadableFile = isUnreadableFile
    faults.append(fault)
  }

  /// Records a fault of a value and returns `nil`.
  private mutating func refuse<Value>(_ path: [String], _ value: String?, _ problem: String) -> Value? {
    refuse(path, value, problem)
    return nil
  }

  /// Where a value of an input or webhook is missing: the line of the first other setting that it has in the file.
  private func surroundings(_ path: [String]) -> ConfigurationFault.Source {
    guard path.count >= 3, let name = sources.filePath, let lines = sources.file?.lines else { return .nowhere }
    let line = lines.filter { $0.key.count >= 3 && $0.key.starts(with: path.prefix(2)) }.values.min()
    return line.map { .file(name, line: $0) } ?? .nowhere
  }

  mutating func fault(_ fault: ConfigurationFault) { faults.append(fault) }

  /// The source of a setting's value: the first one that has it.
  func source(_ path: [String]) -> ConfigurationFault.Source {
    let argument = DaemonSetting.argument(path)
    if sources.arguments.values[argument] != nil { return .argument(argument) }
    let variable = DaemonSetting.variable(path)
    if sources.variables[variable] != nil { return .variable(ConfigurationSources.variablePrefix + variable) }
    if let name = sources.filePath, let line = sources.file?.lines[path] { return .file(name, line: line) }
    return .nowhere
  }

  /// Returns `nil`, and records a fault if a value exists but has the wrong type.
  private mutating func nothing<Value>(_ path: [String]) -> Value? {
    guard accesses.lastFailed else { return nil }
    let setting = Self.setting(path)
    let value: String? =
      switch source(path) {
      case .argument(let name): sources.arguments.values[name].flatMap { $0.isEmpty ? nil : $0.joined(separator: " ") }
      case .variable: sources.variables[DaemonSetting.variable(path)]
      default: nil
      }
    refuse(path, value, "is to be " + Self.type(setting.kind))
    return nil
  }

  private mutating func use<Value>(_ path: [String], _ value: Value, _ shown: String, _ text: String? = nil) -> Value {
    allValues[path] = text ?? shown
    used.append(UsedSetting(key: path.joined(separator: "."), value: shown, source: source(path)))
    return value
  }

  /// Records a fault for each name in the sources that is not an input or webhook, because its settings would have no
  /// effect.
  mutating func refuseUnused(_ group: String, names: [String]) {
    let listed = Set(names)
    var refused: Set<String> = []
    for path in sources.file?.lines.keys.sorted(by: { sources.file?.lines[$0] ?? 0 < sources.file?.lines[$1] ?? 0 })
      ?? []
    where path.count >= 3 && path[0] == group && !listed.contains(path[1]) && refused.insert(path[1]).inserted {
      refuse(path, nil, "\(group).names does not list \(Shown.quoted(path[1]))")
    }
    let arguments = Set(names.flatMap { name in Self.paths(group, name).map(DaemonSetting.argument) })
    for argument in sources.arguments.values.keys.sorted() {
      let isNamed = DaemonSetting.all.contains {
        $0.path[0] == group && $0.path.count >= 3 && $0.matches(argument: argument)
      }
      let isList = argument == DaemonSetting.argument([group, "names"])
      if isNamed, !isList, !arguments.contains(argument) {
        fault(ConfigurationFault(nil, source: .argument(argument), "\(group).names does not list this name"))
      }
    }
  }

  private static func paths(_ group: String, _ name: String) -> [[String]] {
    DaemonSetting.all.filter { $0.path.count >= 3 && $0.path[0] == group }.map { [group, name] + $0.path[2...] }
  }

  // MARK: Messages

  private static func setting(_ path: [String]) -> DaemonSetting {
    guard let setting = DaemonSetting.matching(path) else { preconditionFailure("\(path) is no setting") }
    return setting
  }

  private static func shown(_ value: String, _ setting: DaemonSetting) -> String {
    switch setting.kind {
    case .secret, .secretList: "(secret)"
    case .url: Shown.url(value)
    default: value
    }
  }

  private static func type(_ kind: DaemonSetting.Kind) -> String {
    switch kind {
    case .text, .url, .secret: "one text"
    case .choice(let names): "one of \(names.joined(separator: ", "))"
    case .int(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
    case .number(let range):
      "a number from \(DaemonSetting.plain(range.lowerBound)) to \(DaemonSetting.plain(range.upperBound))"
    case .bool: "true or false"
    case .list, .secretList: "a list of texts"
    case .json: "one text, which is JSON or a name"
    }
  }
}

/// An explicitly set setting.
package struct UsedSetting: Sendable, Equatable {
  /// The key, for example `http.address`.
  package let key: String
  /// The value, for people; never a secret.
  package let value: String
  /// The source of the value.
  package let source: ConfigurationFault.Source
}

extension UsedSetting: CustomStringConvertible {
  /// A description for people: `http.address = "127.0.0.1:8765" (/etc/catalogd.json:12)`.
  package var description: String { "\(Shown.plain(key)) = \(Shown.quoted(value)) (\(source))" }
}

/// An access reporter that records whether the last access failed, because the reader does not return that.
private final class Accesses: AccessReporter {
  /// Guards only the flag.
  private let failed = Mutex(false)

  var lastFailed: Bool { failed.withLock { $0 } }

  func report(_ event: AccessEvent) {
    let isFailure =
      event.conversionError != nil
      || event.providerResults.contains { if case .failure = $0.result { true } else { false } }
    failed.withLock { $0 = isFailure }
  }
}
