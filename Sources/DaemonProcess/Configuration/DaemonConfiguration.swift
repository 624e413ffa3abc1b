public import DaemonHTTP
public import Logging
public import ScanDaemon
public import ScanInputs

/// Everything that `catalogd` is told.
public struct DaemonConfiguration: Sendable {
  /// How lines of the log look.
  public enum LogFormat: String, Sendable, CaseIterable {
    /// Text on a terminal, JSON otherwise.
    case auto
    case text, json
  }

  /// What the daemon does.
  public var daemon: DaemonOptions
  /// What it reads; names differ.
  public var inputs: [InputOptions]
  /// `nil`: no HTTP interface.
  public var server: DaemonServer.Options?
  /// What is worth a line in the log.
  public var logLevel = Logger.Level.info
  /// How such a line looks.
  public var logFormat = LogFormat.auto
  /// Whether the daemon ends when its standard input does.
  public var exitsAtEnd = false
  /// What somebody has set, in the order of the documentation; without secrets.
  public let settings: [UsedSetting]
  /// What is no fault, but may be a mistake.
  public private(set) var warnings: [String]
  /// What tells it from another one: all values, secret ones too.
  private let told: [[String]: String]

  /// Reads and checks all settings.
  ///
  /// - Throws: ``ConfigurationFaults``: everything that cannot be.
  public init(_ sources: ConfigurationSources) throws(ConfigurationFaults) {
    var values = SettingReader(sources)
    warnings = sources.warnings
    daemon = DaemonOptions(root: values.root(sources.environment))
    values.fillGeneral(&daemon)
    logLevel = values.text("log", "level").flatMap { Logger.Level(rawValue: $0) } ?? logLevel
    logFormat = values.text("log", "format").flatMap { LogFormat(rawValue: $0) } ?? logFormat
    exitsAtEnd = values.truth("exitAtEnd") ?? exitsAtEnd
    server = values.server()
    daemon.sync = values.sync()
    daemon.webhooks = values.webhooks()
    inputs = values.inputs(&daemon, besides: server, hasStandardInput: sources.hasStandardInput)
    settings = values.used
    told = values.told.filter { $0.key.first != "log" }
    if values.isSet(["http", "token"]), case .argument = values.source(["http", "token"]) {
      warnings.append("--http-token shows the token to everybody who may list processes; use http.tokenFile")
    }
    if values.isSet(["sync", "authorization"]), case .argument = values.source(["sync", "authorization"]) {
      warnings.append("--sync-authorization shows it to everybody who may list processes; use sync.authorizationFile")
    }
    if server == nil, inputs.isEmpty {
      warnings.append("nothing can be scanned: there are no inputs and no HTTP interface")
    }
    if exitsAtEnd, !inputs.contains(where: { $0.source == .standardInput }) {
      warnings.append("exitAtEnd is without effect: no input reads the standard input")
    }
    guard values.faults.isEmpty else { throw ConfigurationFaults(faults: values.faults) }
  }

  /// What is wrong with this configuration, given who is signed in at the root directory.
  ///
  /// - Parameter signedIn: Who is signed in there; `nil` for nobody.
  public func faults(signedIn: String?) -> [ConfigurationFault] {
    guard daemon.sync != nil, daemon.user == nil, signedIn == nil else { return [] }
    let key = "sync.url"
    let source = settings.first { $0.key == key }?.source ?? .nowhere
    return [
      ConfigurationFault(
        key, source: source,
        "is set, but nobody is signed in whose catalogue could be synchronised: set user, or run 'catalogctl login USER'"
      )
    ]
  }

  /// Whether something else is said than by another configuration, the log left aside.
  public func differs(from other: DaemonConfiguration) -> Bool {
    told != other.told || daemon.root != other.daemon.root || inputs != other.inputs
  }
}
