import CatalogHTTP
import CatalogSources
import Cryptography
import RowSources
import ScanDaemon
import UploadHTTP
import Workspace

extension SettingReader {
  /// The settings that only a server has.
  private static let serverSettings = [
    "organisation", "authorization", "authorizationFile", "threshold", "caFile", "connectSeconds", "idleSeconds",
    "minimumRate", "extra",
  ]

  /// The settings that say where the catalogue comes from, and those that belong to one such place.
  private static let settingsOfOneSource = [
    "url", "published", "rootKey", "mirrors", "reportsUrl", "reportsAuthorizationFile", "mapFile", "reconcileSeconds",
  ]

  /// The options of the synchronisation; `nil` if no server, publication or other source is configured.
  mutating func sync() -> SyncOptions? {
    let url = text("sync", "url")
    let published = text("sync", "published")
    let from = either(["sync", "from"], orFile: ["sync", "fromFile"])
    // What a file holds is not shown.
    let place = isSet(["sync", "fromFile"]) ? ["sync", "fromFile"] : ["sync", "from"]
    var options = from.flatMap { source($0, place) }.map(SyncOptions.init(source:)) ?? SyncOptions(url: url ?? "")
    options.organisation = text("sync", "organisation")
    if let seconds = number("sync", "intervalSeconds") { options.interval = .seconds(seconds) }
    if let seconds = number("sync", "firstRetrySeconds") { options.firstRetry = .seconds(seconds) }
    options.jitter = number("sync", "jitter") ?? options.jitter
    options.threshold = int("sync", "threshold") ?? options.threshold
    options.maximumLoss = number("sync", "maximumLoss") ?? options.maximumLoss
    options.extraKeys = extraKeys()
    if let seconds = number("sync", "connectSeconds") { options.transport.connectTimeout = .seconds(seconds) }
    if let seconds = number("sync", "idleSeconds") { options.transport.idleTimeout = .seconds(seconds) }
    options.transport.minimumRate = int("sync", "minimumRate") ?? options.transport.minimumRate
    options.transport.proxies = ProxyRules(environment: environment)
    options.transport.authorization = either(["sync", "authorization"], orFile: ["sync", "authorizationFile"])
    options.transport.names = OptionNames(
      idleTimeout: "sync.idleSeconds", minimumRate: "sync.minimumRate", certificateAuthorityFile: "sync.caFile")
    options.transport.certificateAuthorityFile = authorities(file: ["sync", "caFile"])
    if let published {
      options.publication = publication(published, options)
      for other in ["url", "from", "fromFile"] where isSet(["sync", other]) {
        refuse(["sync", "published"], published, "is set, and sync.\(other) as well; keep one")
      }
      for name in ["organisation", "threshold", "extra", "mapFile", "reconcileSeconds"] where isSet(["sync", name]) {
        refuse(["sync", name], nil, "is without effect with sync.published")
      }
      return options
    }
    var ofPublication = ["rootKey", "mirrors", "reportsUrl", "reportsAuthorizationFile"].map { ["sync", $0] }
    if bool("publish", "mirror") == true { ofPublication.append(["publish", "mirror"]) }
    for path in ofPublication where isSet(path) {
      refuse(path, nil, "is without effect as long as sync.published is not set")
    }
    if from != nil {
      if url != nil { refuse(place, text(place), "is set, and sync.url as well; keep one") }
      for name in Self.serverSettings where isSet(["sync", name]) {
        refuse(["sync", name], nil, "is without effect with \(place.joined(separator: ".")), which is no server")
      }
      return options.source == nil ? nil : options
    }
    for name in ["mapFile", "reconcileSeconds"] where isSet(["sync", name]) {
      refuse(["sync", name], nil, "is without effect as long as sync.from is not set")
    }
    if isSet(place) { return nil }
    guard let url else {
      for setting in DaemonSetting.all
      where setting.path[0] == "sync" && !Self.settingsOfOneSource.contains(setting.path[1])
        && isSet(setting.path)
      {
        refuse(setting.path, nil, "is without effect as long as sync.url, sync.from or sync.published is not set")
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

  /// The publication of `sync.published`, with its key and its mirrors.
  private mutating func publication(_ url: String, _ options: SyncOptions) -> PublicationOptions {
    let (keyPath, mirrorsPath) = (["sync", "rootKey"], ["sync", "mirrors"])
    var publication = PublicationOptions(url: url)
    publication.mirrors = list(mirrorsPath) ?? []
    publication.reportsURL = text("sync", "reportsUrl")
    if let url = publication.reportsURL, !UploadHTTPTransport.isTemplate(url) {
      refuse(
        ["sync", "reportsUrl"], url,
        "is to be an http or https URL with a host, without a user, with {id} and {kind} as the only placeholders")
    }
    let authorizationPath = ["sync", "reportsAuthorizationFile"]
    publication.reportsAuthorization = secret(file: authorizationPath)
    if publication.reportsURL == nil, isSet(authorizationPath) {
      refuse(authorizationPath, nil, "is without effect as long as sync.reportsUrl is not set")
    } else if let value = publication.reportsAuthorization,
      !UploadHTTPTransport.isSendable(name: "Authorization", value: value)
    {
      refuse(authorizationPath, nil, "holds more than one line")
    }
    publication.isMirror = bool("publish", "mirror") ?? false
    if isSet(["sync", "intervalSeconds"]) { publication.interval = options.interval }
    if let file = file(keyPath) {
      switch SmallFile.read(file, limit: 65_536) {
      case .success(let bytes):
        record(keyPath, file + "\u{0}" + String(decoding: bytes, as: UTF8.self))
        do throws(SignifyError) { publication.rootKey = try SignifyPublicKey(bytes) } catch {
          refuse(
            keyPath, file,
            "is no public key, as 'catalogctl publish keys new' writes it: \(error)")
        }
      case .failure(let problem): refuse(keyPath, file, problem)
      }
    }
    for (path, url) in [(["sync", "published"], url)] + publication.mirrors.map({ (mirrorsPath, $0) }) {
      var transport = options.transport
      if path == mirrorsPath {
        transport.authorization = nil
        if Shown.url(url) != url { refuse(path, Shown.url(url), "has credentials or a query, and a mirror needs none") }
      }
      do throws(TransportError) { _ = try FileTransport(url: url, options: transport) } catch {
        switch error {
        case .invalidHeader: refuse(["sync", "authorization"], nil, "is no value of a header")
        case .invalidProxy: refuse(path, url, "cannot be asked: \(error)")
        default: refuse(path, url, "is to be an http or https URL with a host")
        }
      }
    }
    return publication
  }

  /// The keys of `sync.extra`; none after a fault.
  private mutating func extraKeys() -> Set<String> {
    let path = ["sync", "extra"]
    guard let names = list(path) else { return [] }
    var settings = SyncSettings()
    do throws(SettingsError) { try settings.set(.extra, to: .array(names.map { .text($0) })) } catch {
      var reason = "\(error)"
      if case .value(_, let cause) = error { reason = "\(cause)" }
      refuse(path, names.joined(separator: ", "), "cannot be used: \(reason)")
    }
    return settings.extraKeys
  }

  /// The file, folder or database of `sync.from`, with the mapping of `sync.mapFile`; `nil` after a fault.
  ///
  /// - Parameter place: The setting that has it.
  private mutating func source(_ from: String, _ place: [String]) -> CatalogueSource? {
    let reconcile = number("sync", "reconcileSeconds")
    guard let map = mapping() else { return nil }
    let decoding = SourceDecoding(
      format: map.format, rules: map.rules, mapping: map.mapping, encoding: map.encoding)
    var source: CatalogueSource
    if DatabaseQuery.isURL(from) {
      guard let products = map.products else {
        refuse(
          place, text(place),
          "needs a statement: set sync.mapFile to a mapping with \"products\": \"SELECT …\", and \"relations\" where there are sets"
        )
        return nil
      }
      var query = DatabaseQuery(url: from, products: products, relations: map.relations)
      query.since = map.since
      source = CatalogueSource(query, decoding: decoding)
    } else {
      if from.isEmpty || from == "-" {
        refuse(place, text(place), "is to be a file, a folder or a postgresql:// address")
        return nil
      }
      source = CatalogueSource(path: from, decoding: decoding)
    }
    do throws(MappingFile.Invalid) { try source.addCodes(map) } catch {
      refuse(["sync", "mapFile"], text(["sync", "mapFile"]), "cannot be used: \(error.message)")
      return nil
    }
    if let reconcile { source.reconcileInterval = .seconds(reconcile) }
    return source
  }

  /// The mapping of `sync.mapFile`, or one that recognises common names; `nil` after a fault.
  private mutating func mapping() -> MappingFile? {
    if !isSet(["sync", "mapFile"]) { return MappingFile() }
    guard let file = file(["sync", "mapFile"]) else { return nil }
    switch SmallFile.read(file, limit: MappingFile.byteLimit) {
    case .success(let bytes):
      record(["sync", "mapFile"], file + "\u{0}" + String(decoding: bytes, as: UTF8.self))
      do throws(MappingFile.Invalid) {
        var map = try MappingFile(json: bytes)
        map.resolveCodes(nextTo: file)
        return map
      } catch {
        refuse(["sync", "mapFile"], file, "cannot be used: \(error.message)")
      }
    case .failure(let problem):
      refuse(["sync", "mapFile"], file, problem)
    }
    return nil
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
