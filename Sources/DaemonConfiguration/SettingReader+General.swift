import CatalogHTTP
import ScanDaemon

extension SettingReader {
  /// Where the stores live: as `catalogctl` finds them, unless a setting says otherwise.
  mutating func root(_ environment: [String: String]) -> String {
    let path = ["root"]
    if let root = text(path) {
      if root.isEmpty { refuse(path, root, "names no directory") }
      return root
    }
    for name in ["CATALOG_ROOT", "XDG_DATA_HOME", "HOME"]
    where environment[name]?.unicodeScalars.contains("\u{FFFD}") == true {
      fault(ConfigurationFault(nil, source: .variable(name), "is not valid UTF-8"))
    }
    if let root = environment["CATALOG_ROOT"], !root.isEmpty { return root }
    if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/catalog" }
    if let home = environment["HOME"], !home.isEmpty { return home + "/.local/share/catalog" }
    if !isSet(path) { refuse(path, nil, "nobody says where the stores live; set root, or $CATALOG_ROOT") }
    return ""
  }

  mutating func fillGeneral(_ options: inout DaemonOptions) {
    if let user = text("user") {
      if !(1...255).contains(user.utf8.count) { refuse(["user"], user, "is to have 1 to 255 bytes") }
      options.user = user
    }
    if let seconds = real("drainSeconds") { options.drainTimeout = .seconds(seconds) }
    if let milliseconds = whole("doubleScanMilliseconds") { options.doubleScanWindow = .milliseconds(milliseconds) }
    if let seconds = real("compaction", "intervalSeconds") {
      options.compaction.interval = seconds > 0 ? .seconds(seconds) : nil
    }
    options.compaction.maximumScansPerSecond =
      real("compaction", "maximumScansPerSecond") ?? options.compaction.maximumScansPerSecond
    options.maximumMisses = whole("misses", "maximum") ?? options.maximumMisses
    options.maximumSessions = whole("sessions", "maximum") ?? options.maximumSessions
    options.maximumScansPerSession = whole("sessions", "maximumScans") ?? options.maximumScansPerSession
    options.eventCapacity = whole("events", "capacity") ?? options.eventCapacity
  }

  // MARK: Synchronisation

  /// `nil` where no server is named.
  mutating func sync() -> SyncOptions? {
    let url = text("sync", "url")
    var options = SyncOptions(url: url ?? "")
    options.organisation = text("sync", "organisation")
    if let seconds = real("sync", "intervalSeconds") { options.interval = .seconds(seconds) }
    if let seconds = real("sync", "firstRetrySeconds") { options.firstRetry = .seconds(seconds) }
    options.jitter = real("sync", "jitter") ?? options.jitter
    options.threshold = whole("sync", "threshold") ?? options.threshold
    options.maximumLoss = real("sync", "maximumLoss") ?? options.maximumLoss
    options.transport.authorization = either(["sync", "authorization"], orFile: ["sync", "authorizationFile"])
    if let file = text("sync", "caFile") {
      // What stands in it is judged by the transport.
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
      default: refuse(["sync", "url"], url, "is to be an http or https URL with a host")
      }
    }
    return options
  }

  /// A secret that is set, or that stands in a file; not both.
  mutating func either(_ path: [String], orFile filePath: [String]) -> String? {
    let secret = text(path)
    let filed = self.secret(file: filePath)
    if isSet(path), isSet(filePath) {
      refuse(path, nil, "is set, and \(filePath.joined(separator: ".")) as well; keep one")
    }
    return secret ?? filed
  }

  // MARK: Webhooks

  mutating func webhooks() -> [WebhookOptions] {
    let names = names("webhooks") { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        || "-_".unicodeScalars.contains(scalar)
    }
    let webhooks = names.map { webhook($0) }
    refuseUnused("webhooks", names: names)
    return webhooks
  }

  private mutating func webhook(_ name: String) -> WebhookOptions {
    func path(_ last: String) -> [String] { ["webhooks", name, last] }
    let url = text(path("url"))
    var options = WebhookOptions(name: name, url: url ?? "")
    if let url {
      if !Self.isUploadURL(url) {
        refuse(
          path("url"), url, "is to be an http or https URL with a host, with {id} and {kind} as the only placeholders")
      }
    } else if !isSet(path("url")) {
      refuse(path("url"), nil, "is missing: where to send scans")
    }
    for header in list(path("headers")) ?? [] {
      let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let value = parts.count == 2 ? Self.trimmed(parts[1]) : ""
      if parts.count == 2, Self.isHeader(parts[0], value) {
        options.headers.append((parts[0], value))
      } else {
        refuse(path("headers"), nil, "are to be texts like \"Name: value\", and none that a transport sets itself")
      }
    }
    if let authorization = secret(file: path("authorizationFile")) {
      if !Self.isHeader("Authorization", authorization) {
        refuse(path("authorizationFile"), nil, "holds more than one line")
      } else if options.headers.contains(where: { $0.name.lowercased() == "authorization" }) {
        refuse(path("authorizationFile"), nil, "is set, and headers has an Authorization as well; keep one")
      }
      options.headers.append(("Authorization", authorization))
    }
    options.isPacked = truth(path("gzip")) ?? options.isPacked
    if let seconds = real(path("timeoutSeconds")) { options.timeout = .seconds(seconds) }
    options.sendsMatches = truth(path("matches")) ?? options.sendsMatches
    options.sendsMisses = truth(path("misses")) ?? options.sendsMisses
    if !options.sendsMatches, !options.sendsMisses {
      refuse(path("matches"), nil, "and misses are both false: nothing would be sent")
    }
    if let attempts = whole(path("maximumAttempts")) { options.retry.maximumRetries = attempts - 1 }
    return options
  }

  /// As the transport of uploads takes it.
  private static func isUploadURL(_ text: String) -> Bool {
    let rest = text.replacing("{id}", with: "").replacing("{kind}", with: "")
    guard !rest.contains("{"), !rest.contains("}"), rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      return false
    }
    return (try? HTTPTransport(url: rest)) != nil
  }

  /// As the transport of uploads takes it.
  private static func isHeader(_ name: String, _ value: String) -> Bool {
    let own = ["idempotency-key", "content-type", "content-encoding", "content-length", "transfer-encoding", "host"]
    let isToken = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
    let isValue = value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    return !name.isEmpty && isToken && isValue && !own.contains(name.lowercased())
  }

  private static func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }

  // MARK: Names

  /// The names of a group: those that can be, each once, and no two that variables and arguments cannot tell apart.
  mutating func names(_ group: String, _ isAllowed: (Unicode.Scalar) -> Bool) -> [String] {
    let path = [group, "names"]
    var variables: [String: String] = [:]
    var names: [String] = []
    for name in list(path) ?? [] {
      guard (1...64).contains(name.utf8.count), name.unicodeScalars.allSatisfy(isAllowed) else {
        refuse(path, name, "is to have 1 to 64 letters, digits and -, _ (or . for an input)")
        continue
      }
      // The list itself stands under this key.
      guard name != "names" else {
        refuse(path, name, "is no name: its settings would stand where the list of names does")
        continue
      }
      if let other = variables.updateValue(name, forKey: Setting.variable([name])) {
        let problem =
          other == name ? "stands twice in the list" : "and \(other) are the same to variables and arguments"
        refuse(path, name, problem)
        continue
      }
      names.append(name)
    }
    return names
  }
}
