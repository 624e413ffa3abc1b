import Cryptography
import DaemonHTTP
import Foundation
import RandomTestSupport
import ScanDaemon
import ScanInputs
import Testing
import UploadQueue

@testable import DaemonProcess

/// With a slash before it the longest path of the server's socket.
private let longest = String(repeating: "a", count: 92)

@Suite struct DaemonConfigurationTests {
  @Test func `nothing said is a daemon on loopback that serves the stores as they are`() throws {
    let read = try configuration()
    #expect(read.daemon.root == "/home/test/.local/share/catalog")
    #expect(read.daemon.user == nil && read.daemon.sync == nil && read.daemon.webhooks.isEmpty)
    #expect(read.inputs.isEmpty && read.settings.isEmpty && read.warnings.isEmpty)
    #expect(read.server?.address == .host("127.0.0.1", port: 8765) && read.server?.token == nil)
    #expect(read.logLevel == .info && read.logFormat == .auto && !read.exitsAtEnd)
  }

  @Test func `the example is accepted and says what it means`() throws {
    let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/catalogd.json").path
    let read = try configuration(file: example)
    #expect(read.warnings.isEmpty)
    #expect(read.daemon.root == "/var/lib/catalogd" && read.daemon.user == "till-1")
    #expect(read.daemon.sync?.url == "https://catalogue.example.com/api/products")
    #expect(read.daemon.webhooks.map(\.name) == ["stock"])
    #expect(read.inputs.map(\.source.kind) == ["keyboard", "serial", "tcp", "tcp", "socket"])
    #expect(read.daemon.doubleScanWindows == ["gate": .milliseconds(1500)])
  }

  @Test func `connections of one address and origins of pages are told to the server`() throws {
    let standard = try #require(try configuration().server)
    #expect(standard.maximumConnectionsPerAddress == nil && standard.allowedOrigins.isEmpty)
    let read = try configuration([
      "--http-maximum-connections-per-address", "9", "--http-allowed-origins", "http://a:3000,https://b",
    ])
    #expect(read.server?.maximumConnectionsPerAddress == 9)
    #expect(read.server?.allowedOrigins == ["http://a:3000", "https://b"])
  }

  @Test func `defaults are those that the table tells`() throws {
    // Each default that is a value, given as an argument, changes nothing.
    var arguments = ["--sync-url", "http://a/", "--webhooks-names", "w", "--webhooks-w-url", "http://b/"]
    arguments += ["--inputs-names", "k,s,t", "--inputs-k-kind", "keyboard", "--inputs-k-device", "/k"]
    arguments += [
      "--inputs-s-kind", "serial", "--inputs-s-device", "/s", "--inputs-t-kind", "tcp", "--inputs-t-port", "0",
    ]
    let names = ["webhooks": ["w"], "inputs": ["k", "s", "t"]]
    var given = arguments
    for setting in DaemonSetting.all
    where !setting.standard.isEmpty && setting.kind != .list && setting.path != ["root"] {
      // It needs sync.from, which excludes sync.url.
      if setting.key == "sync.reconcileSeconds" { continue }
      for name in setting.path.contains(DaemonSetting.anyName) ? names[setting.path[0]] ?? [] : [""] {
        let kinds = setting.meaning.split(separator: ":").first.map { $0.split(separator: ", ").map(String.init) } ?? []
        let kind = ["k": "keyboard", "s": "serial", "t": "tcp"][name] ?? ""
        let all = ["keyboard", "serial", "tcp", "socket"]
        if !kind.isEmpty, kinds.contains(where: all.contains), !kinds.contains(kind) { continue }
        given += [
          DaemonSetting.argument(setting.path.map { $0 == DaemonSetting.anyName ? name : $0 }), setting.standard,
        ]
      }
    }
    let plain = try configuration(arguments)
    let full = try configuration(given)
    #expect(plain.inputs == full.inputs)
    #expect("\(plain.daemon)" == "\(full.daemon)")
    #expect("\(String(describing: plain.server))" == "\(String(describing: full.server))")
    #expect(plain.logLevel == full.logLevel && plain.logFormat == full.logFormat && plain.exitsAtEnd == full.exitsAtEnd)
    #expect(full.settings.count > plain.settings.count + 25)
  }

  @Test func `arguments count more than variables, and those more than the file`() throws {
    let file = try TestFile(#"{"log": {"level": "error"}, "user": "file", "events": {"capacity": 7}}"#)
    let read = try configuration(
      ["--log-level", "debug"], environment: ["CATALOGD_LOG_LEVEL": "trace", "CATALOGD_USER": "variable"],
      file: file.path)
    #expect(read.logLevel == .debug && read.daemon.user == "variable" && read.daemon.eventCapacity == 7)
    #expect(
      read.settings.map { "\($0.key)=\($0.value) \($0.source)" } == [
        "user=variable $CATALOGD_USER", "events.capacity=7 \(file.path):1", "log.level=debug --log-level",
      ])
  }

  @Test func `every setting can be given by its argument, by its variable, and in the file`() throws {
    for setting in DaemonSetting.all where !setting.path.contains(DaemonSetting.anyName) && setting.path.last != "names"
    {
      if setting.path.last?.hasSuffix("File") == true || setting.key == "sync.rootKey" { continue }
      let text: String
      let json: String
      switch setting.kind {
      case .choice(let names): (text, json) = (names[0], "\"\(names[0])\"")
      case .int(let range): (text, json) = ("\(range.upperBound)", "\(range.upperBound)")
      case .number(let range): (text, json) = ("\(range.upperBound)", "\(range.upperBound)")
      case .bool: (text, json) = ("true", "true")
      default:
        let special = [
          "sync.url": "http://a/", "sync.published": "http://a/", "sync.mirrors": "http://b/",
          "sync.reportsUrl": "http://c/", "http.address": "[::1]:1", "http.allowedOrigins": "http://a",
          "inputs.NAME.keys": "{}", "matching.separators": "|", "matching.measures": "de",
          "matching.heads.excluded": "EAN13",
        ]
        text = special[setting.key] ?? "/x"
        json = setting.kind == .list ? "[\"\(text)\"]" : "\"\(text)\""
      }
      // What has no effect without a server needs one.
      let needs = [
        "sync.reconcileSeconds": ["--sync-from", "a.csv"], "sync.mirrors": ["--sync-published", "http://a/"],
        "sync.reportsUrl": ["--sync-published", "http://a/"], "publish.mirror": ["--sync-published", "http://a/"],
        "sync.url": [], "sync.from": [], "sync.published": [],
      ]
      let sync = needs[setting.key] ?? (setting.path[0] == "sync" ? ["--sync-url", "http://a/"] : [])
      let nested = setting.path.reversed().reduce(json) { "{\"\($1)\": \($0)}" }
      let file = try TestFile(nested)
      let variable = "CATALOGD_" + DaemonSetting.variable(setting.path)
      for read in [
        try configuration(sync + [DaemonSetting.argument(setting.path), text]),
        try configuration(sync, environment: [variable: text]), try configuration(sync, file: file.path),
      ] {
        #expect(read.settings.contains { $0.key == setting.key }, "\(setting.key)")
      }
    }
  }

  @Test func `the root is where catalogctl finds it`() throws {
    let home = ["HOME": "/h"]
    let data = ["HOME": "/h", "XDG_DATA_HOME": "/d"]
    #expect(try configuration(environment: home).daemon.root == "/h/.local/share/catalog")
    #expect(try configuration(environment: data).daemon.root == "/d/catalog")
    #expect(try configuration(environment: data.merging(["CATALOG_ROOT": "/r"]) { $1 }).daemon.root == "/r")
    #expect(try configuration(["--root", "/a"], environment: ["CATALOG_ROOT": "/r"]).daemon.root == "/a")
    #expect(throws: ConfigurationFaults.self) { try DaemonConfiguration(ConfigurationSources()) }
  }

  @Test func `what is read where no inputs are named is the standard input, if it is one`() throws {
    #expect(try configuration(standardInput: true).inputs == [InputOptions(name: "stdin", source: .standardInput)])
    #expect(try configuration(["--inputs-names="], standardInput: true).inputs == [])
  }

  @Test func `the studio is served where only this machine reaches it, or where that is set`() throws {
    #expect(try configuration().server?.hasStudio == true)
    #expect(try configuration(["--studio-enabled", "false"]).server?.hasStudio == false)
    #expect(try configuration(["--http-address", "unix:/run/d"]).server?.hasStudio == true)
    let open = ["--http-address", "0.0.0.0:1", "--http-token", "s3cret"]
    #expect(try configuration(open).server?.hasStudio == false)
    let enabled = try configuration(open + ["--studio-enabled", "true", "--studio-edit", "true"])
    #expect(enabled.server?.hasStudio == true && enabled.server?.studioEdits == true)
    #expect(enabled.settings.contains { $0.description.hasPrefix("studio.enabled = \"true\"") }, "\(enabled.settings)")
    #expect(enabled.warnings.count == 1)
    let without = try configuration(open + ["--studio-edit", "true"])
    #expect(without.warnings.contains("studio.edit is without effect: the studio is not served"))
    let silent = try configuration(["--http-enabled", "false", "--studio-enabled", "true"])
    #expect(silent.warnings.contains("studio.enabled is without effect: there is no HTTP interface"))
  }

  @Test func `a daemon that nobody can ask is told so`() throws {
    let read = try configuration(["--http-enabled", "false"])
    #expect(read.server == nil && read.warnings.count == 1)
  }

  // MARK: Values

  @Test func `synchronisation`() throws {
    let secret = try TestFile("  Bearer s3cret \n")
    let read = try configuration([
      "--sync-url", "https://u:p@host/x?a=1,2", "--sync-organisation", "org", "--sync-authorization-file", secret.path,
      "--sync-interval-seconds", "60.5", "--sync-jitter", "0", "--sync-threshold", "5", "--sync-maximum-loss", "1",
      "--sync-first-retry-seconds", "2", "--sync-connect-seconds", "3", "--sync-idle-seconds", "4.5",
      "--sync-minimum-rate", "0", "--sync-extra", "price,color",
    ])
    let sync = try #require(read.daemon.sync)
    #expect(
      sync.url == "https://u:p@host/x?a=1,2" && sync.organisation == "org" && sync.interval == .milliseconds(60_500))
    #expect(sync.transport.authorization == "Bearer s3cret" && sync.jitter == 0 && sync.threshold == 5)
    #expect(sync.maximumLoss == 1 && sync.firstRetry == .seconds(2) && sync.extraKeys == ["price", "color"])
    let transport = sync.transport
    #expect(
      transport.connectTimeout == .seconds(3) && transport.idleTimeout == .seconds(4.5) && transport.minimumRate == 0)
    for name in [transport.names.idleTimeout, transport.names.minimumRate, transport.names.certificateAuthorityFile] {
      #expect(DaemonSetting.all.contains { $0.key == name }, "\(name ?? "none")")
    }
    #expect(read.settings.first { $0.key == "sync.url" }?.value == "https://…@host/x?…")
  }

  @Test func `a publication, its key, its mirrors and what is served to neighbours`() throws {
    let key = try SignifySecretKey.new("test").publicKey
    let file = try TestFile(key.text)
    let read = try configuration([
      "--sync-published", "http://a/catalogue", "--sync-root-key", file.path,
      "--sync-mirrors", "http://b/,http://c:1/p", "--sync-reports-url", "http://d/", "--publish-mirror", "true",
    ])
    let publication = try #require(read.daemon.sync?.publication)
    #expect(publication.url == "http://a/catalogue" && publication.mirrors == ["http://b/", "http://c:1/p"])
    #expect(publication.rootKey == key && publication.reportsURL == "http://d/" && publication.isMirror)
    // The head says how often to ask.
    #expect(publication.interval == nil && read.warnings.isEmpty)
    let plain = try configuration(["--sync-published", "http://a/catalogue", "--sync-interval-seconds", "7"])
    #expect(plain.daemon.sync?.publication?.interval == .seconds(7))
    #expect(plain.daemon.sync?.publication?.isMirror == false && plain.differs(from: read))
    #expect(
      plain.faults(signedIn: nil).map(\.key) == ["sync.published"] && plain.faults(signedIn: "ana").isEmpty)
  }

  @Test func `a source of one's own`() throws {
    let map = try TestFile(
      #"""
      {"decimal": ",", "unknown": "ignore", "fields": {"id": "Nr"},
       "products": "SELECT 1 AS id", "since": "updated_at"}
      """#)
    let file = try #require(
      try configuration(["--sync-from", "/srv/export", "--sync-map-file", map.path]).daemon.sync)
    #expect(file.source?.name == "/srv/export" && file.interval == .seconds(10) && file.url.isEmpty)
    #expect(file.source?.decoding.rules.unknownKeys == .ignore)
    #expect(file.source?.decoding.mapping.decimal == UInt8(ascii: ","))
    #expect(file.source?.reconcileInterval == .seconds(3600))
    let read = try configuration([
      "--sync-from", "postgresql://u:p@h/d", "--sync-map-file", map.path, "--sync-reconcile-seconds", "60",
      "--sync-interval-seconds", "5", "--sync-maximum-loss", "0.1",
    ])
    let database = try #require(read.daemon.sync)
    #expect(database.source?.database?.products == "SELECT 1 AS id" && database.source?.database?.since == "updated_at")
    #expect(database.source?.name == "postgresql://h/d" && database.interval == .seconds(5))
    #expect(database.source?.reconcileInterval == .seconds(60) && database.maximumLoss == 0.1)
    #expect(read.settings.first { $0.key == "sync.from" }?.value.contains("p@") == false)
    // Another mapping is another configuration.
    let other = try TestFile(#"{"products": "SELECT 2 AS id"}"#)
    let changed = try configuration(["--sync-from", "postgresql://u:p@h/d", "--sync-map-file", other.path])
    #expect(changed.differs(from: read))
    let faulty = try TestFile(#"{"fields": {"nmae": "x"}}"#)
    let faults = #expect(throws: ConfigurationFaults.self) {
      try configuration(["--sync-from", "a.csv", "--sync-map-file", faulty.path])
    }
    #expect(faults?.faults.contains { "\($0)".contains("a product has no field \"nmae\"; is name meant?") } == true)
  }

  @Test func `the network is watched unless that is refused`() throws {
    #expect(try configuration().daemon.watchesNetwork)
    #expect(try !configuration(["--watch-network", "false"]).daemon.watchesNetwork)
  }

  @Test func `the names of the daemon, and the mode of its socket`() throws {
    #expect(try configuration().server?.names == [])
    #expect(try configuration().server?.socketMode == 0o600)
    let file = try TestFile(
      #"{"http": {"address": "unix:/run/a", "names": ["shop.example.org", "fe80::1"], "socketMode": "0660"}}"#)
    let server = try configuration(file: file.path).server
    #expect(server?.names == ["shop.example.org", "fe80::1"] && server?.socketMode == 0o660)
    let arguments = ["--http-names", "a.example,b.example"]
    #expect(try configuration(arguments).server?.names == ["a.example", "b.example"])
    for name in ["https://shop.example.org", "shop.example.org:8443", "*", "shop.example.org/", "müller.example"] {
      let found = try faults(["--http-names", name])
      #expect(found.count == 1 && found[0].contains("without a scheme and a port"), "\(found)")
    }
    for mode in ["660", "0777", "x"] {
      #expect(try faults(["--http-address", "unix:/run/a", "--http-socket-mode", mode]).count == 1)
    }
    #expect(try configuration(["--http-socket-mode", "0660"]).warnings.contains { $0.contains("http.socketMode") })
  }

  @Test(arguments: ["sync", "webhooks.w"])
  func `a file of authorities is read, and another content is another configuration`(group: String) throws {
    let file = try TestFile("-----BEGIN CERTIFICATE-----\n1")
    func arguments(_ path: String) -> [String] {
      group == "sync"
        ? ["--user", "a", "--sync-url", "https://a/", "--sync-ca-file", path]
        : ["--webhooks-names", "w", "--webhooks-w-url", "https://a/", "--webhooks-w-ca-file", path]
    }
    func named(_ configuration: DaemonConfiguration) -> String? {
      group == "sync"
        ? configuration.daemon.sync?.transport.certificateAuthorityFile
        : configuration.daemon.webhooks.first?.certificateAuthorityFile
    }
    let read = try configuration(arguments(file.path))
    #expect(named(read) == file.path)
    #expect(try !configuration(arguments(file.path)).differs(from: read))
    try Data("-----BEGIN CERTIFICATE-----\n2".utf8).write(to: URL(fileURLWithPath: file.path))
    #expect(try configuration(arguments(file.path)).differs(from: read))
    let other = try TestFile("a key")
    for (path, words) in [(other.path, "holds no certificates in PEM form"), ("/none", "cannot be read")] {
      let found = try faults(arguments(path))
      #expect(found.count == 1 && found[0].contains(words) && found[0].contains("ca-file"), "\(found)")
    }
  }

  /// All settings that name a file with a secret, and what such a file may hold.
  private static let secretFiles: [(setting: String, content: String)] = [
    ("http.tokenFile", "s3cret"), ("sync.authorizationFile", "Bearer s3cret"),
    ("sync.fromFile", "/srv/s3cret"), ("webhooks.w.urlFile", "https://a/s3cret"),
    ("webhooks.w.headersFile", "X-Key: s3cret"), ("webhooks.w.authorizationFile", "Bearer s3cret"),
    ("webhooks.w.secretFile", "s3cret-s3cret-s3cret-s3cret-s3cret"),
    ("webhooks.w.previousSecretFile", "s3cret-s3cret-s3cret-s3cret-old"),
    ("webhooks.w.caFile", "-----BEGIN CERTIFICATE-----"), ("sync.caFile", "-----BEGIN CERTIFICATE-----"),
    ("sync.mapFile", "{}"),
  ]

  /// What else a configuration needs that has one of these settings.
  private static func rest(_ setting: String) -> [String] {
    var arguments: [String] = []
    if setting.hasPrefix("sync.") {
      arguments += ["--user", "a"]
      if setting == "sync.mapFile" { arguments += ["--sync-from", "/srv"] }
      if setting.contains("auth") || setting.contains("ca") { arguments += ["--sync-url", "https://a/"] }
    }
    if setting.hasPrefix("webhooks.") {
      arguments += ["--webhooks-names", "w"]
      if !setting.contains("urlFile") { arguments += ["--webhooks-w-url", "https://a/"] }
      if setting.contains("previous") {
        arguments += ["--webhooks-w-secret-file", "$CREDENTIALS_DIRECTORY/present"]
      }
    }
    return arguments
  }

  private static func json(_ setting: String, _ value: String) -> String {
    setting.split(separator: ".").reversed().reduce("\"\(value)\"") { "{\"\($1)\": \($0)}" }
  }

  @Test(arguments: secretFiles.map(\.setting))
  func `each file with a secret can be a credential of systemd`(setting: String) throws {
    let directory = try TemporaryFolder()
    let content = try #require(Self.secretFiles.first { $0.setting == setting }?.content)
    try directory.write(content, to: "cred")
    try directory.write("present-present-present-present", to: "present")
    let environment = ["CREDENTIALS_DIRECTORY": directory.path]
    var seen: [DaemonConfiguration] = []
    for place in ["$CREDENTIALS_DIRECTORY/cred", "${CREDENTIALS_DIRECTORY}/cred", directory.path + "/cred"] {
      let file = try TestFile(Self.json(setting, place))
      let read = try configuration(Self.rest(setting), environment: environment, file: file.path)
      #expect(!read.settings.contains { $0.description.contains("s3cret") }, "\(read.settings)")
      if let first = seen.first { #expect(!read.differs(from: first)) }
      seen.append(read)
    }
    // The credential changes only when the unit starts again, and a reload then sees another configuration.
    try directory.write(content.replacing("s3cret", with: "another"), to: "cred")
    if content.contains("s3cret") {
      let file = try TestFile(Self.json(setting, "$CREDENTIALS_DIRECTORY/cred"))
      let changed = try configuration(Self.rest(setting), environment: environment, file: file.path)
      #expect(changed.differs(from: seen[0]))
    }
  }

  @Test(arguments: secretFiles.map(\.setting))
  func `a credential that is not there says what the unit lacks`(setting: String) throws {
    let directory = try TemporaryFolder()
    try directory.write("present-present-present-present", to: "present")
    func found(_ value: String, _ environment: [String: String]) throws -> String {
      let faults = try faults(Self.rest(setting), environment: environment, json: Self.json(setting, value))
      return try #require(faults.first { $0.contains(setting) && !$0.contains("without effect") }, "\(faults)")
    }
    let unset = try found("$CREDENTIALS_DIRECTORY/cred", [:])
    #expect(unset.contains("LoadCredential=cred:FILE") && unset.contains("systemd-run"), "\(unset)")
    let missing = try found("$CREDENTIALS_DIRECTORY/cred", ["CREDENTIALS_DIRECTORY": directory.path])
    #expect(missing.contains("the unit needs LoadCredential=cred:FILE, and then a restart"), "\(missing)")
    let specifier = try found("%d/cred", ["CREDENTIALS_DIRECTORY": directory.path])
    #expect(specifier.contains("write $CREDENTIALS_DIRECTORY/cred"), "\(specifier)")
  }

  @Test func `addresses and headers with secrets are in files, and no message shows them`() throws {
    let directory = try TemporaryFolder()
    let (url, headers) = (directory.path + "/url", directory.path + "/headers")
    try directory.write("https://hooks.example/T0/s3cret\n", to: "url")
    try directory.write("X-Api-Key: s3cret\nX-Site: 7\n", to: "headers")
    let arguments = [
      "--webhooks-names", "w", "--webhooks-w-url-file", url, "--webhooks-w-headers-file", headers,
      "--webhooks-w-headers", "X-A: 1",
    ]
    let webhook = try configuration(arguments).daemon.webhooks[0]
    #expect(webhook.url == "https://hooks.example/T0/s3cret")
    #expect(webhook.headers.map { "\($0.name)=\($0.value)" } == ["X-A=1", "X-Api-Key=s3cret", "X-Site=7"])
    let both = try faults(arguments + ["--webhooks-w-url", "https://a/"])
    #expect(both.count == 1 && both[0].contains("keep one"), "\(both)")
    try directory.write("ftp://hooks.example/s3cret", to: "url")
    try directory.write("s3cret", to: "headers")
    let wrong = try faults(arguments)
    #expect(wrong.count == 2 && !wrong.joined().contains("s3cret"), "\(wrong)")
    try directory.write("postgresql://shop:s3cret@db/shop", to: "url")
    let database = try faults(["--user", "a", "--sync-from-file", url])
    #expect(database.count == 1 && database[0].contains("needs a statement"), "\(database)")
    #expect(!database[0].contains("s3cret"))
    let withServer = try faults(["--user", "a", "--sync-from-file", url, "--sync-url", "https://a/"])
    #expect(withServer.contains { $0.contains("keep one") } && !withServer.joined().contains("s3cret"), "\(withServer)")
  }

  @Test func `webhooks`() throws {
    let secret = try TestFile("Bearer w\n")
    let file = try TestFile(
      #"""
      {"webhooks": {"names": ["a", "b-1"], "a": {"url": "http://a/{kind}/{id}", "headers": ["X-A:  1, 2 ", "Y:"],
        "authorizationFile": "\#(secret.path)", "gzip": true, "timeoutSeconds": 1.5, "matches": false, "maximumAttempts": 1},
        "b-1": {"url": "https://b", "misses": false}}}
      """#)
    let hooks = try configuration(file: file.path).daemon.webhooks
    #expect(hooks.map(\.url) == ["http://a/{kind}/{id}", "https://b"])
    #expect(hooks[0].headers.map(\.name) == ["X-A", "Y", "Authorization"])
    #expect(hooks[0].headers.map(\.value) == ["1, 2", "", "Bearer w"])
    #expect(hooks[0].isCompressed && hooks[0].timeout == .milliseconds(1500) && hooks[0].retry.maximumRetries == 0)
    #expect(!hooks[0].sendsMatches && hooks[0].sendsMisses && hooks[1].sendsMatches && !hooks[1].sendsMisses)
  }

  @Test func `secrets of signatures stand in files, which are read anew, and are never shown`() throws {
    let (new, old) = (
      try TestFile("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"), try TestFile("0123456789abcdefghijklmnopqrstuv")
    )
    for file in [new, old] {
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }
    let hook = ["--webhooks-names", "w", "--webhooks-w-url", "http://a/"]
    let arguments = hook + ["--webhooks-w-secret-file", new.path, "--webhooks-w-previous-secret-file", old.path]
    let read = try configuration(arguments)
    #expect(read.daemon.webhooks[0].secrets.count == 2)
    #expect(!"\(read)".contains("MfKQ") && !"\(read.settings)".contains("MfKQ"))
    #expect(try !configuration(arguments).differs(from: read))
    try Data("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".utf8).write(to: URL(fileURLWithPath: new.path))
    let changed = try configuration(arguments)
    #expect(changed.differs(from: read) && changed.daemon.webhooks[0].secrets[0] != read.daemon.webhooks[0].secrets[0])
    #expect(try configuration(hook).daemon.webhooks[0].secrets.isEmpty)
  }

  @Test func `a secret that cannot be used is a fault, without a word of it`() throws {
    let hook = ["--webhooks-names", "w", "--webhooks-w-url", "http://a/"]
    for (text, mode, word) in [
      ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 0o640, "mode 640"), ("whsec_MfKQ", 0o600, "at least 24"),
      ("whsec_MfKQ!", 0o600, "base64"), ("", 0o600, "at least 24"),
    ] {
      let file = try TestFile(text)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      let found = try faults(hook + ["--webhooks-w-secret-file", file.path])
      #expect(found.count == 1 && found[0].contains(word) && !found[0].contains("MfKQ"), "\(found)")
    }
    #expect(try faults(hook + ["--webhooks-w-secret-file", "/none"]).count == 1)
    let file = try TestFile("0123456789abcdefghijklmnopqrstuv")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    let found = try faults(hook + ["--webhooks-w-previous-secret-file", file.path])
    #expect(found.count == 1 && found[0].contains("secretFile"), "\(found)")
  }

  @Test(arguments: [
    "ftp://h", "http://", "h", "http://u:p@h", "http://{kind}.h/", "http://h/{user}", "http://h/{id", "http://h:0/",
    "http://h/ä", "http://h/a b",
  ])
  func `a URL of a webhook that the transport would not take is a fault of the configuration`(url: String) throws {
    #expect(throws: (any Error).self) {
      try configuration(["--webhooks-names", "w", "--webhooks-w-url", url])
    }
  }

  @Test func `inputs`() throws {
    let file = try TestFile(
      #"""
      {"inputs": {"names": ["s", "k.1", "t", "u", "in"],
        "s": {"kind": "serial", "device": "/dev/ttyS0", "baud": 115200, "answers": true, "reopenSeconds": 0.5, "prefix": "\u0002"},
        "k.1": {"kind": "keyboard", "device": "/dev/input/x", "layout": "de", "grab": false,
          "encoding": "gb18030", "keys": {"F8": "GS", "DOWN": "é"}, "end": ["a", "cr"]},
        "t": {"kind": "tcp", "host": "::", "port": 9}, "u": {"kind": "socket", "path": "/run/u", "maximumLineBytes": 16},
        "in": {"kind": "stdin", "suffix": "!", "doubleScanMilliseconds": 0}}}
      """#)
    let read = try configuration(file: file.path)
    var serial = SerialOptions(path: "/dev/ttyS0")
    serial.baud = 115_200
    serial.answers = true
    serial.reopenInterval = .milliseconds(500)
    var keyboard = KeyboardOptions(path: "/dev/input/x")
    keyboard.layout = .de
    keyboard.grabs = false
    keyboard.keys = try KeyAssignments(["F8": "GS", "DOWN": "é"])
    #expect(read.inputs[1].line.encoding == .gb18030 && read.inputs[1].line.ends.count == 2)
    #expect(
      read.inputs.map(\.source)
        == [.serial(serial), .keyboard(keyboard), .tcp(host: "::", port: 9), .socket(path: "/run/u"), .standardInput])
    #expect(read.inputs.map(\.name) == ["s", "k.1", "t", "u", "in"])
    #expect(read.inputs[0].line.prefix == "\u{2}" && read.inputs[3].line.maximumByteCount == 16)
    #expect(read.inputs[4].line.suffix == "!" && read.daemon.doubleScanWindows == ["in": .zero])
  }

  @Test func `the ends, the encoding and the peers of inputs`() throws {
    let file = try TestFile(
      #"""
      {"inputs": {"names": ["a", "b", "c", "d", "e", "f"],
        "a": {"kind": "serial", "device": "/dev/ttyS0", "end": ["etx", "tab", ";", "\u0000"], "silenceMilliseconds": 50},
        "b": {"kind": "tcp", "port": 9, "allow": ["10.0.0.0/24", "::1"], "end": ["crlf"], "encoding": "gb18030"},
        "c": {"kind": "tcp", "connect": "10.0.0.5:9004", "encoding": "latin-1", "end": ["é"]},
        "d": {"kind": "tcp", "connect": "[fd00::5]:9004", "answers": true, "reopenSeconds": 2, "encoding": "shift-jis"},
        "e": {"kind": "keyboard", "device": "/dev/input/x", "end": [], "silenceMilliseconds": 20},
        "f": {"kind": "tcp", "connect": "scanner-3.local:9004"}}}
      """#)
    let inputs = try configuration(file: file.path).inputs
    #expect(inputs[0].line.ends == [.endOfText, .tab, LineEnd(byte: 0x3B), LineEnd(byte: 0)])
    #expect(inputs[0].line.idleTimeout == .milliseconds(50) && inputs[0].line.encoding == .utf8)
    let allow = [try PeerNetwork("10.0.0.0/24"), try PeerNetwork("::1")]
    #expect(inputs[1].source == .tcp(host: "127.0.0.1", port: 9, allow: allow))
    #expect(inputs[1].line.ends == [.carriageReturnLineFeed] && inputs[1].line.encoding == .gb18030)
    #expect(inputs[2].source == .tcpClient(TCPClientOptions(host: "10.0.0.5", port: 9004)))
    #expect(inputs[2].line.ends == [LineEnd(byte: 0xE9)] && inputs[2].line.encoding == .latin1)
    var called = TCPClientOptions(host: "fd00::5", port: 9004)
    called.answers = true
    called.reopenInterval = .seconds(2)
    #expect(inputs[3].source == .tcpClient(called) && inputs[3].line.encoding == .shiftJIS)
    #expect(inputs[4].line.ends.isEmpty && inputs[4].line.idleTimeout == .milliseconds(20))
    #expect(inputs[5].source == .tcpClient(TCPClientOptions(host: "scanner-3.local", port: 9004)))
    #expect(inputs[5].line == LineFormat())
  }

  @Test(arguments: [
    (#""kind": "stdin", "end": []"#, "inputs.a.end"), (#""kind": "stdin", "end": ["CR"]"#, "inputs.a.end"),
    (#""kind": "stdin", "end": [";;"]"#, "inputs.a.end"), (#""kind": "stdin", "end": ["é"]"#, "inputs.a.end"),
    (#""kind": "stdin", "end": ["|"], "encoding": "shift-jis""#, "inputs.a.end"),
    (#""kind": "stdin", "end": ["0"], "encoding": "gb18030""#, "inputs.a.end"),
    (#""kind": "stdin", "encoding": "utf-16""#, "inputs.a.encoding"),
    (#""kind": "stdin", "silenceMilliseconds": 0"#, "inputs.a.silenceMilliseconds"),
    (#""kind": "socket", "path": "/run/a", "end": ["cr"]"#, "inputs.a.end"),
    (#""kind": "socket", "path": "/run/a", "encoding": "utf-8""#, "inputs.a.encoding"),
    (#""kind": "keyboard", "device": "/dev/a", "encoding": "utf-16""#, "inputs.a.encoding"),
    (#""kind": "keyboard", "device": "/dev/a", "keys": ["F8"]"#, "inputs.a.keys"),
    (#""kind": "keyboard", "device": "/dev/a", "keys": {"F8": 5}"#, "inputs.a.keys"),
    (#""kind": "serial", "device": "/dev/a", "keys": {"F8": "GS"}"#, "inputs.a.keys"),
    (#""kind": "tcp", "connect": "10.0.0.5:9004", "host": "::""#, "inputs.a.host"),
    (#""kind": "tcp", "connect": "10.0.0.5:9004", "port": 1"#, "inputs.a.port"),
    (#""kind": "tcp", "connect": "10.0.0.5:9004", "allow": ["::1"]"#, "inputs.a.allow"),
    (#""kind": "tcp", "connect": "10.0.0.5""#, "inputs.a.connect"),
    (#""kind": "tcp", "connect": "10.0.0.5:0""#, "inputs.a.connect"),
    (#""kind": "tcp", "connect": "fd00::5:9004""#, "inputs.a.connect"),
    (#""kind": "tcp", "connect": "unix:/run/a""#, "inputs.a.connect"),
    (#""kind": "tcp", "connect": "[fd00::5]:65536""#, "inputs.a.connect"), (#""kind": "tcp""#, "inputs.a.port"),
    (#""kind": "tcp", "port": 1, "allow": []"#, "inputs.a.allow"),
    (#""kind": "tcp", "port": 1, "allow": ["10.0.0.1/24"]"#, "inputs.a.allow"),
    (#""kind": "tcp", "port": 1, "allow": ["till.local"]"#, "inputs.a.allow"),
    (#""kind": "tcp", "port": 1, "answers": true"#, "inputs.a.answers"),
    (#""kind": "serial", "device": "/dev/a", "connect": "10.0.0.5:9004""#, "inputs.a.connect"),
  ])
  func `what an input cannot be is a fault`(members: String, key: String) throws {
    let found = try faults(json: #"{"inputs": {"names": ["a"], "a": {\#(members)}}}"#)
    #expect(found.count == 1 && found[0].contains("\(key)"), "\(found)")
  }

  @Test func `two inputs that call the same scanner are a fault`() throws {
    let found = try faults(
      json: #"""
        {"inputs": {"names": ["a", "b", "c"], "a": {"kind": "tcp", "connect": "10.0.0.5:9004"},
          "b": {"kind": "tcp", "connect": "10.0.0.5:9005"}, "c": {"kind": "tcp", "connect": "10.0.0.5:9004", "answers": true}}}
        """#)
    #expect(found.count == 1 && found[0].contains("a and c"), "\(found)")
  }

  @Test(arguments: [
    ("127.0.0.1", 9000, "127.0.0.1", 9000, true), ("0.0.0.0", 9000, "127.0.0.1", 9000, true),
    ("10.0.0.1", 9000, "::", 9000, true), ("10.0.0.1", 9000, "10.0.0.2", 9000, false),
    ("0.0.0.0", 9000, "::1", 9000, false), ("127.0.0.1", 9000, "127.0.0.1", 9001, false),
    ("127.0.0.1", 0, "127.0.0.1", 0, false),
  ])
  func `two listeners on one port are a fault`(
    _ host: String, _ port: Int, _ other: String, _ otherPort: Int, _ isFault: Bool
  ) throws {
    func input(_ host: String, _ port: Int) -> String { #"{"kind": "tcp", "host": "\#(host)", "port": \#(port)}"# }
    let inputs = #""a": \#(input(host, port)), "b": \#(input(other, otherPort))"#
    let two = try faults(json: #"{"inputs": {"names": ["a", "b"], \#(inputs)}}"#)
    #expect(two.count == (isFault ? 1 : 0), "\(two)")
    let shown = other.contains(":") ? "[\(other)]" : other
    let http = try faults(
      json: #"""
        {"http": {"address": "\#(shown):\#(otherPort)", "token": "t"},
          "inputs": {"names": ["a"], "a": \#(input(host, port))}}
        """#)
    #expect(http.count == (isFault ? 1 : 0), "\(http)")
    #expect(http.allSatisfy { $0.contains("inputs.a.port") && $0.contains("http.address") }, "\(http)")
  }

  @Test func `names in the environment and in arguments`() throws {
    let environment = [
      "CATALOGD_INPUTS_NAMES": "frontTill, back-1", "CATALOGD_INPUTS_FRONT_TILL_KIND": "tcp",
      "CATALOGD_INPUTS_BACK_1_KIND": "tcp",
      "CATALOGD_INPUTS_BACK_1_PORT": "2",
    ]
    let read = try configuration(["--inputs-front-till-port=1"], environment: environment)
    #expect(read.inputs.map(\.source) == [.tcp(host: "127.0.0.1", port: 1), .tcp(host: "127.0.0.1", port: 2)])
  }

  @Test(arguments: [
    ("127.0.0.1:0", DaemonServer.Address.host("127.0.0.1", port: 0)),
    ("localhost:65535", .host("localhost", port: 65_535)),
    ("[::1]:8765", .host("::1", port: 8765)), ("unix:/run/a b.sock", .socket(path: "/run/a b.sock")),
    ("unix:/" + longest, .socket(path: "/" + longest)),
  ])
  func `addresses`(_ text: String, _ address: DaemonServer.Address) throws {
    #expect(try configuration(["--http-address", text]).server?.address == address)
  }

  @Test(arguments: [
    "", ":", "8765", "localhost", "localhost:", ":8765", "::1:8765", "[::1]", "[::1]8765", "[a]:1", "a b:1", "h:65536",
    "h:-1",
    "h:+1", "h:99999999999999999999", "http://h:1", "unix:", "unix:run", "unix:/" + String(repeating: "a", count: 93),
  ])
  func `what is no address`(_ text: String) throws {
    let found = try faults(["--http-address=" + text])
    #expect(found.count == 1 && found[0].hasPrefix("--http-address "), "\(found)")
  }

  @Test func `an address that others reach needs a token`() throws {
    for host in [
      "0.0.0.0", "[::]", "192.168.0.1", "127.0.0.1.example.com", "scanner", "127.1", "127.0.0.256", "127.0.0.+1",
      "1127.0.0.1",
    ] {
      #expect(try faults(["--http-address", host + ":1"]).count == 1, "\(host)")
      #expect(
        try configuration(["--http-address", host + ":1"], environment: ["CATALOGD_HTTP_TOKEN": "t"]).server?.token
          == "t")
      #expect(try faults(["--http-address", host + ":1", "--http-enabled", "false"]).isEmpty)
    }
  }

  @Test func `ending with an input that is not read is a warning`() throws {
    #expect(try configuration(["--exit-at-end"]).warnings.count == 1)
    #expect(try configuration(["--exit-at-end"], standardInput: true).warnings.isEmpty)
  }

  @Test func `a token in an argument is a warning`() throws {
    #expect(try configuration(["--http-token", "t"]).warnings.count == 1)
  }

  @Test func `a webhook's rule, lists, holding and batches are read`() throws {
    let file = try TestFile(
      #"""
      {"webhooks": {"names": ["a", "b"],
        "a": {"url": "http://a/", "success": "status.code == 200", "onParked": "hold", "pauseOn": ["404", "5xx"],
              "parkOn": ["422"], "batch": {"maximum": 100, "lingerMilliseconds": 50, "format": "array"}},
        "b": {"url": "http://b/"}}}
      """#)
    let webhooks = try configuration(file: file.path).daemon.webhooks
    let (a, b) = (webhooks[0], webhooks[1])
    #expect(a.success?.description == "status.code == 200" && a.onParked == .hold)
    #expect(a.retry.statuses.meaning(of: 500) == .pause && a.retry.statuses.meaning(of: 400) == .retry)
    #expect(a.batch == UploadBatchOptions(maximumCount: 100, linger: .milliseconds(50)) && a.batchFormat == .array)
    #expect(b.success == nil && b.onParked == .continue && b.batch == nil)
    #expect(b.retry == WebhookOptions.patient && b.retry.statuses == UploadStatusPolicy())
    // As arguments too.
    let read = try configuration([
      "--webhooks-names", "w", "--webhooks-w-url", "http://w/", "--webhooks-w-batch-maximum", "7",
      "--webhooks-w-pause-on", "404,503",
    ])
    #expect(read.daemon.webhooks[0].batch?.maximumCount == 7)
    #expect(read.daemon.webhooks[0].retry.statuses.meaning(of: 503) == .pause)
  }

  @Test(arguments: [
    (#""success": "status.code =""#, "is to be a condition"), (#""parkOn": ["200"]"#, "2xx is always success"),
    (#""pauseOn": ["many"]"#, "is to list statuses"), (#""onParked": "stop""#, "is to be one of continue, hold"),
    (#""pauseOn": ["404"], "parkOn": ["404"]"#, "both have 404"), (#""batch": {"maximum": 0}"#, "1 to 10000"),
    (#""batch": {"size": 1}"#, "batch"),
    (#""batch": {"lingerMilliseconds": 5}"#, "without effect as long as batch.maximum is not set"),
    (#""batch": {"format": "array"}"#, "without effect as long as batch.maximum is not set"),
  ])
  func `a webhook's mistakes are reported`(setting: String, problem: String) throws {
    let file = try TestFile(#"{"webhooks": {"names": ["a"], "a": {"url": "http://a/", \#(setting)}}}"#)
    do {
      _ = try configuration(file: file.path)
      Issue.record("\(setting) is taken")
    } catch let faults as ConfigurationFaults {
      #expect("\(faults)".contains(problem), "\(faults)")
    }
  }
}
