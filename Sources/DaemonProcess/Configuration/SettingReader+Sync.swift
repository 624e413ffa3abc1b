import CatalogHTTP
import ScanDaemon

extension SettingReader {
  /// The options of the synchronisation; `nil` if no server is configured.
  mutating func sync() -> SyncOptions? {
    let url = text("sync", "url")
    var options = SyncOptions(url: url ?? "")
    options.organisation = text("sync", "organisation")
    if let seconds = real("sync", "intervalSeconds") { options.interval = .seconds(seconds) }
    if let seconds = real("sync", "firstRetrySeconds") { options.firstRetry = .seconds(seconds) }
    options.jitter = real("sync", "jitter") ?? options.jitter
    options.threshold = whole("sync", "threshold") ?? options.threshold
    options.maximumLoss = real("sync", "maximumLoss") ?? options.maximumLoss
    if let seconds = real("sync", "connectSeconds") { options.transport.connectTimeout = .seconds(seconds) }
    if let seconds = real("sync", "idleSeconds") { options.transport.idleTimeout = .seconds(seconds) }
    options.transport.minimumRate = whole("sync", "minimumRate") ?? options.transport.minimumRate
    options.transport.proxies = ProxyRules(environment: environment)
    options.transport.authorization = either(["sync", "authorization"], orFile: ["sync", "authorizationFile"])
    options.transport.names = OptionNames(
      idleTimeout: "sync.idleSeconds", minimumRate: "sync.minimumRate", certificateAuthorityFile: "sync.caFile")
    if let file = text("sync", "caFile") {
      // The transport validates the contents.
      if case .failure(let problem) = SmallFile.read(file, limit: 16 << 20) {
        refuse(["sync", "caFile"], file, problem.description, isUnreadableFile: problem.isUnreadable)
      }
      options.transport.certificateAuthorityFile = file
    }
    guard let url else {
      for setting in Setting.all
      where setting.path[0] == "sync" && setting.path != ["sync", "url"] && isSet(setting.path) {
        refuse(setting.path, nil, "is without effect as long as sync.url is not set")
      }
      return nil
    }
    do throws(TransportError) {
      _ = try HTTPTransport(url: url, options: options.transport)
    } catch {
      switch error {
      case .invalidHeader: refuse(["sync", "authorization"], nil, "is no value of a header")
      case .invalidProxy: refuse(["sync", "url"], url, "cannot be asked: \(error)")
      default: refuse(["sync", "url"], url, "is to be an http or https URL with a host")
      }
    }
    return options
  }

  /// A secret from a setting or from a file; setting both is a fault.
  mutating func either(_ path: [String], orFile filePath: [String]) -> String? {
    let secret = text(path)
    let filed = self.secret(file: filePath)
    if isSet(path), isSet(filePath) {
      refuse(path, nil, "is set, and \(filePath.joined(separator: ".")) as well; keep one")
    }
    return secret ?? filed
  }
}
