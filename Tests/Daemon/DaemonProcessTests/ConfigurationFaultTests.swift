import Foundation
import RandomTestSupport
import Testing

@testable import DaemonProcess

@Suite struct ConfigurationFaultTests {
  @Test func `all faults of all sources are reported at once, with where they stand`() throws {
    let found = try faults(
      ["--log-level", "loud", "--htp-address", "x", "--events-capacity", "many", "stray"],
      environment: ["CATALOGD_MISSES_MAXIMUM": "0", "CATALOGD_HTTP_ENABLED": "perhaps"],
      json: """
        {
          "doubleScanMilliseconds": "500",
          "http": {"adress": "127.0.0.1:1", "maximumBodyBytes": 5},
          "sync": {"url": "ftp://u:secret@host/?k=secret", "jitter": 1.5}
        }
        """)
    #expect(
      found == [
        "--htp-address: there is no such option; did you mean --http-address?",
        "FILE:2: doubleScanMilliseconds: is to be a whole number",
        "FILE:3: http.adress: there is no such key; did you mean address?",
        "$CATALOGD_MISSES_MAXIMUM: misses.maximum \"0\": is to be 1 to 1000000",
        "--events-capacity \"many stray\": is to be a whole number from 1 to 1000000",
        "--log-level \"loud\": is to be one of trace, debug, info, notice, warning, error, critical",
        "$CATALOGD_HTTP_ENABLED: http.enabled \"perhaps\": is to be true or false",
        "FILE:3: http.maximumBodyBytes \"5\": is to be 1024 to 1073741824",
        "FILE:4: sync.jitter \"1.5\": is to be 0 to 1",
        "FILE:4: sync.url \"ftp://…@host/?…\": is to be an http or https URL with a host",
      ])
  }

  @Test func `a proxy of the environment that cannot be used is a fault, unless the server is asked without it`() throws
  {
    let proxy = ["http_proxy": "ftp://u:secret@host:1080"]
    let found = try faults(["--sync-url", "http://a/"], environment: proxy)
    #expect(found.count == 1 && found[0].contains("http_proxy") && !found[0].contains("secret"), "\(found)")
    #expect(try faults(["--sync-url", "https://a/"], environment: proxy).isEmpty)
    #expect(try faults(["--sync-url", "http://a/"], environment: proxy.merging(["no_proxy": "a"]) { $1 }).isEmpty)
  }

  @Test func `what is no origin of a page is a fault`() throws {
    for origin in ["*", "null", "till.example.org", "https://till.example.org/path"] {
      let found = try faults(["--http-allowed-origins", "http://a,\(origin)"])
      #expect(
        found.count == 1 && found[0].hasPrefix("--http-allowed-origins \"\(origin)\": is to be origins"), "\(found)")
    }
  }

  @Test func `secrets are never reported`() throws {
    let secret = "S3cretS3cret"
    let token = try TestFile("\(secret) two\nlines")
    for arguments in [
      ["--http-token", "\(secret) with blank"], ["--http-token", secret, "--http-token-file", token.path],
      ["--http-token-file", token.path], ["--sync-url", "http://a", "--sync-authorization", "\(secret)\u{1}"],
      ["--sync-url", "\(secret):\(secret)@"], ["--sync-url", "http://\(secret):\(secret)@/x?\(secret)"],
      ["--webhooks-names", "w", "--webhooks-w-url", "http://\(secret)@h/{x}?\(secret)"],
      ["--webhooks-names", "w", "--webhooks-w-url", "http://h", "--webhooks-w-headers", secret, "Host: \(secret)"],
      ["--webhooks-names", "w", "--webhooks-w-url", "http://h", "--webhooks-w-authorization-file", token.path],
      ["--webhooks-names", "w", "--webhooks-w-url", "http://\(secret):\(secret)@h"],
      ["--http-token", secret, secret], ["--sync-url", "http://\(secret)@h", "http://\(secret)@i"],
    ] {
      let found = try faults(arguments)
      #expect(!found.isEmpty && !found.joined().contains(secret), "\(arguments): \(found)")
    }
    let read = try configuration([
      "--http-token", secret, "--sync-url", "http://\(secret):\(secret)@h/?\(secret)", "--sync-authorization", secret,
      "--webhooks-names", "w", "--webhooks-w-url", "http://h/?\(secret)", "--webhooks-w-headers", "X: \(secret)",
    ])
    #expect(!"\(read.settings) \(read.warnings)".contains(secret))
    #expect(read.settings.count == 6)
  }

  @Test(arguments: [
    (#"{"http.address": "x"}"#, #"write {"http": {"address": …}}"#), (#"{"Http": {}}"#, "did you mean http?"),
    (#"{"port": 1}"#, "here may stand"),
    (#"{"address": "127.0.0.1:1"}"#, "did you mean http.address?"), (#"{"http": 5}"#, "is to be an object"),
    (#"{"http": {"address": null}}"#, "is to be a text"), (#"{"http": {"enabled": 1}}"#, "is to be true or false"),
    (#"{"http": {"maximumBodyBytes": 4096.5}}"#, "is to be a whole number"),
    (#"{"events": {"capacity": 1e400}}"#, "whole number"),
    (#"{"sync": {"jitter": 1e400}}"#, "is to be a number"),
    (#"{"inputs": {"names": "a"}}"#, "is to be an array of texts"),
    (#"{"inputs": {"names": ["a", 1]}}"#, "is to be an array of texts"),
    (#"{"user": "a", "user": "b"}"#, "stands twice"),
    (#"{"inputs": {"a": {"kind": "tcp"}}}"#, "inputs.names does not list \"a\""),
    (#"{"inputs": {"a": {"kind": {"x": [1, {}]}}}}"#, "is to be one of the texts"),
    (#"{"http": {"address": {"x": {"y": 1}}}}"#, "is to be a text"), (#"[]"#, "is to be an object"),
    (#""x""#, "is to be an object"),
    (#"{"user": ""}"#, "1 to 255 bytes"), (#"{"root": ""}"#, "names no directory"),
    (#"{"root": "a\u0000b"}"#, "zero byte"),
    (#"{"user": "a"} x"#, "is no JSON"), (#"{"user": "a",}"#, "is no JSON"), ("", "is no JSON"), ("{", "is no JSON"),
    (#"{"sync": {"jitter": 0.1}}"#, "is without effect as long as sync.url, sync.from or sync.published is not set"),
    (#"{"sync": {"published": "http://a/", "url": "http://a/"}}"#, "is set, and sync.url as well; keep one"),
    (#"{"sync": {"published": "http://a/", "from": "a.csv"}}"#, "is set, and sync.from as well; keep one"),
    (#"{"sync": {"published": "http://a/", "threshold": 5}}"#, "is without effect with sync.published"),
    (#"{"sync": {"published": "/srv/public"}}"#, "is to be an http or https URL with a host"),
    (#"{"sync": {"published": "http://a/", "rootKey": "/nowhere/a.pub"}}"#, "the file cannot be read"),
    (#"{"sync": {"published": "http://a/", "rootKey": "/etc/hostname"}}"#, "is no public key"),
    (#"{"sync": {"published": "http://a/", "mirrors": ["http://u:p@b/"]}}"#, "has credentials"),
    (#"{"sync": {"published": "http://a/", "reportsUrl": "b"}}"#, "is to be an http or https URL with a host"),
    (
      #"{"sync": {"published": "http://a/", "reportsAuthorizationFile": "/etc/hostname"}}"#,
      "is without effect as long as sync.reportsUrl is not set"
    ),
    (#"{"sync": {"mirrors": ["http://b/"]}}"#, "is without effect as long as sync.published is not set"),
    (#"{"publish": {"mirror": true}}"#, "is without effect as long as sync.published is not set"),
    (#"{"sync": {"reconcileSeconds": 9}}"#, "is without effect as long as sync.from is not set"),
    (#"{"sync": {"from": "a.csv", "url": "http://a/"}}"#, "is set, and sync.url as well; keep one"),
    (#"{"sync": {"from": "a.csv", "threshold": 5}}"#, "is without effect with sync.from, which is no server"),
    (#"{"sync": {"from": "a.csv", "extra": ["price"]}}"#, "is without effect with sync.from, which is no server"),
    (#"{"sync": {"url": "http://a/", "extra": ["price", "name"]}}"#, "\"name\" is a field of every product"),
    (#"{"sync": {"url": "http://a/", "extra": [""]}}"#, "cannot be used: a key is empty"),
    (#"{"sync": {"from": "postgresql://u:p@h/d"}}"#, "needs a statement: set sync.mapFile to a mapping with"),
    (#"{"sync": {"from": "-"}}"#, "is to be a file, a folder or a postgresql:// address"),
    (#"{"sync": {"url": "http://a", "caFile": "/nonexistent/ca"}}"#, "cannot be read"),
    (#"{"http": {"tokenFile": "/"}}"#, "cannot be read"), (#"{"http": {"tokenFile": "/dev/null"}}"#, "holds nothing"),
    (#"{"http": {"tokenFile": "/dev/zero"}}"#, "more than 65536 bytes"),
  ])
  func `one fault of a file`(_ json: String, _ problem: String) throws {
    let found = try faults(json: json)
    #expect(found.count == 1 && found[0].hasPrefix("FILE:1: ") && found[0].contains(problem), "\(found)")
  }

  @Test func `what an input of a file lacks is reported with the file`() throws {
    let found = try faults(json: "{\"inputs\": {\"names\": [\"a\"],\n\"a\": {\"kind\": \"tcp\"}}}")
    #expect(found.count == 1 && found[0].hasPrefix("FILE:2: inputs.a.port: is missing"), "\(found)")
  }

  @Test(arguments: [
    (["kind": "serial", "device": "/d", "baud": "9601"], "is no rate"), (["kind": "serial"], "is missing: a path"),
    (["kind": "keyboard", "device": "event0"], "whole path"), (["kind": "tcp"], "is missing: the port"),
    (["kind": "tcp", "port": "65536"], "0 to 65535"), (["kind": "tcp", "port": "1", "host": ""], "names no address"),
    (["kind": "tcp", "port": "1", "baud": "9600"], "has no baud"), (["kind": "socket"], "is missing: a path"),
    (["kind": "socket", "path": "/" + String(repeating: "a", count: 93)], "at most 93 bytes"),
    (["kind": "usb"], "is to be one of"), (["device": "/d"], "is missing: stdin, serial"),
    (["kind": "keyboard", "device": "/d", "layout": "fr-CA"], "is to be one of"),
    (["kind": "stdin", "maximum-line-bytes": "15"], "16 to 1048576"),
    (["kind": "keyboard", "device": "/d", "keys": "F8"], "an object of keys"),
    (["kind": "keyboard", "device": "/d", "keys": #"{"F99": "GS"}"#], "those are F1 to F24, ESC"),
    (["kind": "keyboard", "device": "/d", "keys": #"{"F8": "GSX"}"#], "allowed are GS, RS, US, EOT or one character"),
    (["kind": "keyboard", "device": "/d", "encoding": "ascii"], "is to be one of utf-8, latin-1"),
    (["kind": "keyboard", "device": "/d", "encoding": "latin-1", "end": "é"], "one byte in utf-8"),
    (["kind": "serial", "device": "/d", "keys": #"{"F8": "GS"}"#], "has no keys"),
  ])
  func `one fault of an input`(_ values: [String: String], _ problem: String) throws {
    let found = try faults(
      ["--inputs-names", "a"] + values.sorted { $0.key < $1.key }.map { "--inputs-a-\($0.key)=\($0.value)" })
    #expect(found.count == 1 && found[0].contains(problem), "\(found)")
  }

  @Test(arguments: ["", "a/b", "é", "a b", "names", String(repeating: "a", count: 65), "../x", "a\u{0}"])
  func `what is no name`(_ name: String) throws {
    let file = try TestFile(
      String(decoding: try JSONSerialization.data(withJSONObject: ["inputs": ["names": [name]]]), as: UTF8.self))
    #expect(throws: ConfigurationFaults.self) { try configuration(file: file.path) }
  }

  @Test func `names that a source cannot tell apart`() throws {
    for names in ["a,a", "a-b,a_b", "A,a", "aB,a-b"] {
      let found = try faults(["--webhooks-names", names])
      #expect(
        found.contains { $0.contains("twice in the list") || $0.contains("are the same to variables") }, "\(found)")
    }
  }

  @Test func `two inputs cannot read from one place`() throws {
    let pairs = [["--inputs-x-kind", "stdin"], ["--inputs-x-kind", "tcp", "--inputs-x-port", "7"]]
    for pair in pairs {
      let found = try faults(
        ["--inputs-names", "a,b"] + pair.map { $0.replacing("-x-", with: "-a-") }
          + pair.map { $0.replacing("-x-", with: "-b-") })
      #expect(found.count == 1 && found[0].contains("read from the same place"), "\(found)")
    }
  }

  @Test func `options without effect are faults`() throws {
    #expect(try faults(["--inputs-a-kind", "tcp"]) == ["--inputs-a-kind: inputs.names does not list this name"])
    #expect(try faults(["--user", "a", "--user", "b"]).contains("--user: is given twice; once is enough"))
    #expect(try faults(["--user"]) == ["--user: is to be one text"])
  }

  @Test func `variables that are no settings are warnings`() throws {
    let read = try configuration(environment: [
      "CATALOGD_HTTP_ADRESS": "x", "CATALOGD_PORT": "tcp://10.0.0.1", "CATALOGD_USER": "",
    ])
    #expect(
      read.warnings == [
        "$CATALOGD_HTTP_ADRESS is no setting and was ignored; did you mean $CATALOGD_HTTP_ADDRESS?",
        "$CATALOGD_PORT is no setting and was ignored",
      ])
  }

  @Test func `exit codes`() throws {
    func code(_ arguments: [String], file: String? = nil) throws -> Int32? {
      do {
        _ = try configuration(arguments, file: file)
        return nil
      } catch let error as ConfigurationFaults {
        return error.exitCode
      }
    }
    let bad = try TestFile(#"{"user": 1}"#)
    #expect(try code(["--nothing"]) == 64)
    #expect(try code([], file: bad.path) == 65)
    #expect(try code(["--nothing"], file: bad.path) == 64)
    #expect(try code([], file: "/nonexistent") == 66)
    #expect(try code([], file: "/") == 66)
    #expect(try code([], file: "/dev/zero") == 65)
    #expect(try code(["--http-token-file", "/nonexistent"]) == 66)
  }

  @Test func `hostile files are faults and nothing else`() throws {
    let deep = String(repeating: #"{"http":"#, count: 5000)
    for text in [
      deep, String(repeating: "[", count: 100_000), #"{"inputs":"# + deep, "{\"\u{1B}[31m\": 1}", "\u{FEFF}{}",
    ] {
      #expect(try faults(json: text).count >= 1)
    }
    let file = try TestFile([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
    #expect(throws: ConfigurationFaults.self) { try configuration(file: file.path) }
    let long = try TestFile(#"{"user": ""# + String(repeating: "x", count: FileSettings.maximumByteCount) + #""}"#)
    #expect(throws: ConfigurationFaults.self) { try configuration(file: long.path) }
  }

  @Test func `what was written does not leave its line`() throws {
    let found = try faults(["--log-level", "a\nb\u{1B}[31m\"" + String(repeating: "x", count: 500)])
    #expect(found.count == 1 && found[0].unicodeScalars.allSatisfy { $0.value >= 0x20 } && found[0].count < 300)
  }

  @Test func `a changed example never traps`() throws {
    let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Examples/catalogd.json")
    let bytes = Array(try Data(contentsOf: example))
    var random = SeededGenerator(for: "configuration")
    for _ in 0..<300 * depth {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<changed.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: changed[place] = UInt8.random(in: 0...255, using: &random)
        case 1: changed.remove(at: place)
        default:
          changed.insert(UInt8(ascii: Array(["{", "\"", "}", "1"])[Int.random(in: 0..<4, using: &random)]), at: place)
        }
      }
      var faults: [ConfigurationFault] = []
      _ = FileSettings(changed, name: "x", faults: &faults)
    }
  }
}
