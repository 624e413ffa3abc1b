import ArgumentParser
import CatalogHTTP
import Essentials
import Workspace

/// The options of the connection to a server.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("File with the value of the Authorization header, mode 0600.", valueName: "file"),
    completion: .file())
  var authorizationFile: String?
  @Option(help: ArgumentHelp("Value of the Authorization header.", valueName: "value"))
  var authorization: String?
  @Option(
    help: ArgumentHelp("PEM file of the authorities to trust instead of the system's.", valueName: "file"),
    completion: .file())
  var caFile: String?
  @Option(help: ArgumentHelp("The longest time for a connection.", valueName: "seconds"))
  var connectTimeout = 10.0
  @Option(help: ArgumentHelp("The longest silence of the server.", valueName: "seconds"))
  var idleTimeout = 30.0
  @Option(
    help: ArgumentHelp("Fewer bytes a second for 30 seconds end the attempt; 0 for no limit.", valueName: "bytes"))
  var minimumRate = 1000
  @Option(help: ArgumentHelp("The longest time for everything.", valueName: "seconds"))
  var timeout = 3600
  @Option(help: ArgumentHelp("How often a failed request is tried in all.", valueName: "times"))
  var attempts = 5

  /// The names of these options in messages.
  static let names = OptionNames(
    idleTimeout: "--idle-timeout", minimumRate: "--minimum-rate",
    certificateAuthorityFile: "--ca-file, or the setting sync.caFile")

  func validate() throws {
    for (name, seconds) in [("--connect-timeout", connectTimeout), ("--idle-timeout", idleTimeout)]
    where !(seconds > 0 && seconds <= 86_400) {
      throw ValidationError("\(name) is more than 0 and at most 86400 seconds")
    }
    guard minimumRate >= 0 else { throw ValidationError("--minimum-rate is at least 0 bytes a second") }
    guard timeout > 0 else { throw ValidationError("--timeout is at least 1 second") }
    guard attempts > 0 else { throw ValidationError("--attempts is at least 1") }
    if authorization != nil, authorizationFile != nil {
      throw ValidationError("give --authorization or --authorization-file, one of them")
    }
  }

  /// The connection to the server at `url`.
  ///
  /// - Throws: `Failure` for a file of credentials that cannot be used; `TransportError`.
  func transport(to url: String, _ settings: SyncSettings) throws -> ServerConnection {
    try ServerConnection(url: url, options: options(to: url, settings))
  }

  /// The options of a connection to the server at `url`.
  ///
  /// - Throws: As ``transport(to:_:)``.
  func options(to url: String, _ settings: SyncSettings) throws -> TransportOptions {
    var options = TransportOptions()
    options.authorization = try credentials(for: url, settings)
    options.certificateAuthorityFile = caFile ?? settings.caFile
    options.connectTimeout = .seconds(connectTimeout)
    options.idleTimeout = .seconds(idleTimeout)
    options.minimumRate = minimumRate
    options.totalTimeout = .seconds(timeout)
    options.retry.maximumAttempts = attempts
    options.proxies = ProxyRules(environment: ProcessInfo.processInfo.environment)
    return options
  }

  /// An option takes precedence over the environment, which takes precedence over a setting. Credentials in the
  /// settings are for the server in the settings.
  private func credentials(for url: String, _ settings: SyncSettings) throws -> String? {
    if let authorization { return authorization }
    if let authorizationFile { return try SecretFile.read(authorizationFile) }
    if let value = ProcessInfo.processInfo.environment["CATALOG_AUTHORIZATION"] { return value }
    guard let file = settings.authorizationFile else { return nil }
    if let known = settings.url, try HTTPTransport(url: known).host != HTTPTransport(url: url).host {
      Console.say(
        "catalogctl: the credentials of the setting sync.authorizationFile are for the server of sync.url and are not sent"
          + " to another one; --authorization-file names a file for this one")
      return nil
    }
    return try SecretFile.read(file)
  }
}

/// A transport that reports retries on a display, or on standard error.
struct ServerConnection {
  let url: String
  let host: String
  private let address: String
  private let options: TransportOptions

  /// - Throws: `TransportError` for an address, a header or a proxy that cannot be used.
  init(url: String, options: TransportOptions) throws {
    let transport = try HTTPTransport(url: url, options: options)
    (self.url, host) = (transport.url, transport.host)
    (address, self.options) = (url, options)
  }

  /// The transport, whose retries are reported on the display.
  func announcing(on display: SyncDisplay) throws -> HTTPTransport {
    var options = options
    options.onRetry = { notice in
      display.interrupt(for: notice.pause)
      Console.say(
        "catalogctl: attempt \(notice.attempt) of \(notice.maximumAttempts) failed:"
          + " \(notice.error.ofOneAttempt.description(naming: ConnectionOptions.names));"
          + " trying again in \(Quantity.rounded(notice.pause / .seconds(1))) s")
    }
    return try HTTPTransport(url: address, options: options)
  }
}
