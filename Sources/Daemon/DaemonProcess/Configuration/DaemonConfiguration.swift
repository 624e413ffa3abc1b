package import DaemonHTTP
package import Logging
package import ScanDaemon
package import ScanInputs

/// The complete configuration of `catalogd`.
package struct DaemonConfiguration: Sendable {
  /// The format of log lines.
  package enum LogFormat: String, Sendable, CaseIterable {
    /// Text on a terminal, JSON otherwise.
    case auto
    case text, json
  }

  /// The options of the daemon.
  package var daemon: DaemonOptions
  /// The inputs to read from. Their names are unique.
  package var inputs: [InputOptions]
  /// The options of the HTTP server; `nil` to disable it.
  package var server: DaemonServer.Options?
  /// The minimum level of logged events.
  package var logLevel = Logger.Level.info
  /// The format of log lines.
  package var logFormat = LogFormat.auto
  /// Whether the daemon exits when its standard input ends.
  package var exitsAtEnd = false
  /// The settings that are set explicitly, in the order of the documentation; without secrets.
  package let settings: [UsedSetting]
  /// Possible mistakes that are not faults.
  package private(set) var warnings: [String]
  /// All values, including secret ones, for comparison with another configuration.
  private let allValues: [[String]: String]

  /// Reads and checks all settings.
  ///
  /// - Throws: ``ConfigurationFaults``: everything that cannot be.
  package init(_ sources: ConfigurationSources) throws(ConfigurationFaults) {
    var values = SettingReader(sources)
    warnings = sources.warnings
    daemon = DaemonOptions(root: values.root(sources.environment))
    if !daemon.root.isEmpty, let problem = sources.rootProblem?(daemon.root) {
      values.refuse(["root"], daemon.root, problem)
    }
    values.fillGeneral(&daemon)
    logLevel = values.text("log", "level").flatMap { Logger.Level(rawValue: $0) } ?? logLevel
    logFormat = values.text("log", "format").flatMap { LogFormat(rawValue: $0) } ?? logFormat
    exitsAtEnd = values.bool("exitAtEnd") ?? exitsAtEnd
    daemon.key = values.key()
    daemon.sealsNewUsers = values.bool("sealing", "newUsers")
    if daemon.sealsNewUsers == true, daemon.key == nil {
      warnings.append("sealing.newUsers needs a key, such as sealing.keyFile: without one, nobody new can sign in")
    }
    server = values.server()
    daemon.sync = values.sync()
    daemon.webhooks = values.webhooks()
    inputs = values.inputs(&daemon, besides: server, hasStandardInput: sources.hasStandardInput)
    daemon.matching = values.matching()
    settings = values.used
    allValues = values.allValues.filter { $0.key.first != "log" }
    if values.isSet(["http", "token"]), case .argument = values.source(["http", "token"]) {
      warnings.append("--http-token shows the token to everybody who may list processes; use http.tokenFile")
    }
    if values.isSet(["sync", "authorization"]), case .argument = values.source(["sync", "authorization"]) {
      warnings.append("--sync-authorization shows it to everybody who may list processes; use sync.authorizationFile")
    }
    if server == nil, inputs.isEmpty {
      warnings.append("nothing can be scanned: there are no inputs and no HTTP interface")
    }
    if values.isSet(["http", "socketMode"]), case .host? = server?.address {
      warnings.append("http.socketMode is without effect: http.address is not unix:PATH")
    }
    if server == nil, values.isSet(["studio", "enabled"]) {
      warnings.append("studio.enabled is without effect: there is no HTTP interface")
    }
    if server == nil, daemon.sync?.publication?.isMirror == true {
      warnings.append("publish.mirror is without effect: there is no HTTP interface")
    }
    if values.isSet(["studio", "edit"]), server?.hasStudio != true {
      warnings.append("studio.edit is without effect: the studio is not served")
    }
    if exitsAtEnd, !inputs.contains(where: { $0.source == .standardInput }) {
      warnings.append("exitAtEnd is without effect: no input reads the standard input")
    }
    guard values.faults.isEmpty else { throw ConfigurationFaults(faults: values.faults) }
  }

  /// The faults of this configuration that depend on the user signed in at the root directory.
  ///
  /// - Parameter signedIn: The signed-in user; `nil` if no user is signed in.
  package func faults(signedIn: String?) -> [ConfigurationFault] {
    guard daemon.sync != nil, daemon.user == nil, signedIn == nil else { return [] }
    let setting = settings.first { ["sync.url", "sync.from", "sync.fromFile", "sync.published"].contains($0.key) }
    let key = setting?.key ?? "sync.url"
    let source = setting?.source ?? .nowhere
    return [
      ConfigurationFault(
        key, source: source,
        "is set, but nobody is signed in whose catalogue could be synchronised: set user, or run 'catalogctl login USER'"
      )
    ]
  }

  /// Whether this configuration differs from another one, ignoring the log settings.
  package func differs(from other: DaemonConfiguration) -> Bool {
    allValues != other.allValues || daemon.root != other.daemon.root || inputs != other.inputs
  }
}
