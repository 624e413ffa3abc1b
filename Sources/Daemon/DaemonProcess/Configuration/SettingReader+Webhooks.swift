import ScanDaemon
import UploadHTTP
import UploadQueue
import TextFormat

extension SettingReader {
  mutating func webhooks() -> [WebhookOptions] {
    let names = names("webhooks") { scalar in
      ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
        || "-_".unicodeScalars.contains(scalar)
    }
    if names.contains(DaemonOptions.reportsName), isSet(["sync", "reportsUrl"]) {
      refuse(["webhooks", "names"], DaemonOptions.reportsName, "is the name of the reports of sync.reportsUrl")
    }
    let webhooks = names.map { webhook($0) }
    refuseUnused("webhooks", names: names)
    return webhooks
  }

  private mutating func webhook(_ name: String) -> WebhookOptions {
    func path(_ last: String) -> [String] { ["webhooks", name, last] }
    let url = either(path("url"), orFile: path("urlFile"))
    var options = WebhookOptions(name: name, url: url ?? "")
    if let url {
      if !UploadHTTPTransport.isTemplate(url) {
        // What a file holds is not shown.
        let place = isSet(path("urlFile")) ? path("urlFile") : path("url")
        refuse(
          place, text(place),
          "is to be an http or https URL with a host, without a user, with {id} and {kind} as the only placeholders")
      }
    } else if !isSet(path("url")), !isSet(path("urlFile")) {
      refuse(path("url"), nil, "is missing: where to send scans")
    }
    let filed = secret(file: path("headersFile"))?.split(whereSeparator: \.isNewline).map(String.init) ?? []
    for (setting, headers) in [("headers", list(path("headers")) ?? []), ("headersFile", filed)] {
      for header in headers {
        let parts = header.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let value = parts.count == 2 ? String(parts[1].trimmed(while: Self.isBlank)) : ""
        if parts.count == 2, UploadHTTPTransport.isSendable(name: parts[0], value: value) {
          options.headers.append((parts[0], value))
        } else {
          refuse(path(setting), nil, "are to be texts like \"Name: value\", and none that a transport sets itself")
        }
      }
    }
    if let authorization = secret(file: path("authorizationFile")) {
      if !UploadHTTPTransport.isSendable(name: "Authorization", value: authorization) {
        refuse(path("authorizationFile"), nil, "holds more than one line")
      } else if options.headers.contains(where: { $0.name.lowercased() == "authorization" }) {
        refuse(
          path("authorizationFile"), nil, "is set, and headers or headersFile has an Authorization as well; keep one")
      }
      options.headers.append(("Authorization", authorization))
    }
    let (secret, previous) = (path("secretFile"), path("previousSecretFile"))
    if isSet(previous), !isSet(secret) {
      refuse(previous, nil, "is set without secretFile, which holds the present secret; this one holds the former one")
    }
    options.secrets = [signingSecret(file: secret), signingSecret(file: previous)].compactMap { $0 }
    options.certificateAuthorityFile = authorities(file: path("caFile"))
    options.isCompressed = bool(path("gzip")) ?? options.isCompressed
    if let seconds = number(path("timeoutSeconds")) { options.timeout = .seconds(seconds) }
    options.sendsMatches = bool(path("matches")) ?? options.sendsMatches
    options.sendsMisses = bool(path("misses")) ?? options.sendsMisses
    if !options.sendsMatches, !options.sendsMisses {
      refuse(path("matches"), nil, "and misses are both false: nothing would be sent")
    }
    if let attempts = int(path("maximumAttempts")) { options.retry.maximumRetries = attempts - 1 }
    if let seconds = number(path("firstPauseSeconds")) { options.retry.firstPause = .seconds(seconds) }
    if let seconds = number(path("longestPauseSeconds")) { options.retry.longestPause = .seconds(seconds) }
    options.retry.statuses = statuses(path("pauseOn"), path("parkOn"))
    if let text = text(path("success")) {
      do { options.success = try UploadSuccessRule(text) } catch {
        refuse(path("success"), text, "is to be a condition such as status.code == 200: \(error)")
      }
    }
    options.acceptsHTML = bool(path("acceptHTML")) ?? options.acceptsHTML
    if let name = text(path("onParked")), let choice = ParkedUploadPolicy(rawValue: name) { options.onParked = choice }
    batch(&options)
    return options
  }

  private mutating func batch(_ options: inout WebhookOptions) {
    let path = ["webhooks", options.name, "batch"]
    let linger = int(path + ["lingerMilliseconds"])
    if let name = text(path + ["format"]), let format = UploadHTTPOptions.BatchFormat(rawValue: name) {
      options.batchFormat = format
    }
    if let count = int(path + ["maximum"]) {
      options.batch = UploadBatchOptions(maximumCount: count, linger: .milliseconds(linger ?? 0))
    } else if !isSet(path + ["maximum"]) {
      let problem = "is without effect as long as batch.maximum is not set"
      if linger ?? 0 > 0 { refuse(path + ["lingerMilliseconds"], nil, problem) }
      if options.batchFormat != WebhookOptions(name: "", url: "").batchFormat {
        refuse(path + ["format"], nil, problem)
      }
    }
  }

  private mutating func statuses(_ pausing: [String], _ parking: [String]) -> UploadStatusPolicy {
    let (pauseOn, parkOn) = (statuses(pausing), statuses(parking))
    do { return try UploadStatusPolicy(pauseOn: pauseOn, parkOn: parkOn) } catch {
      refuse(parking, nil, "and pauseOn both have \(error.status); keep it in one of them")
      return UploadStatusPolicy()
    }
  }

  private mutating func statuses(_ path: [String]) -> [UploadStatus]? {
    list(path)?.compactMap { text in
      guard let status = UploadStatus(String(text.trimmed(while: Self.isBlank))) else {
        refuse(path, text, "is to list statuses such as 404, or classes such as 4xx; 2xx is always success")
        return nil
      }
      return status
    }
  }

  private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
