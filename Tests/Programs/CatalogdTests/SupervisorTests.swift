import Catalog
import DatagramTestSupport
import Foundation
import Testing
import Workspace

/// The daemon as a process: signals, reloads, and how it ends.
@Suite(.serialized) struct SupervisorTests {
  private static let base = #""http": {"address": "127.0.0.1:0"}, "log": {"format": "json"}"#

  @Test func `codes come in and answers go out, and with the last one the daemon ends`() throws {
    let daemon = try RunningDaemon(["--exit-at-end"], configuration: "{\(Self.base)}")
    try daemon.say("4006381333931\nnothing\n")
    try daemon.hangUp()
    #expect(daemon.end() == 0)
    _ = try daemon.output.wait(for: "\"code\":\"4006381333931\"")
    _ = try daemon.output.wait(for: "\"code\":\"nothing\"")
    let lines = daemon.log.all
    #expect(lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) is [String: Any] })
  }

  @Test func `a file is watched, and SIGTERM ends an import that leaves nothing`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("own-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.path + "/rows.csv"
    func write(_ text: String, age: Double) throws {
      try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
      try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
    }
    try write("id,barcode\n1,4006381333931\n", age: 100)
    let arguments = ["--user", "u", "--sync-from", path, "--sync-interval-seconds", "1", "--sync-jitter", "0"]
    let daemon = try RunningDaemon(arguments, configuration: "{\(Self.base)}")
    _ = try daemon.log.wait(for: "\"synchronised\"")
    try daemon.say("4006381333931\n")
    _ = try daemon.output.wait(for: "\"match\":\"exact\"")
    try write("id,barcode,weight\n1,4006381333931,heavy\n", age: 90)
    let problem = try daemon.log.wait(for: "source_failing")
    #expect(problem.contains("rows.csv: Line 2") && problem.contains("heavy"), "\(problem)")
    // A large file, whose import takes seconds.
    let rows = (0..<400_000).map { "\($0),4006381333931,\($0)" }.joined(separator: "\n")
    try write("id,barcode,weight\n\(rows)\n", age: 80)
    Thread.sleep(forTimeInterval: 2)
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
    // The catalogue is that of the first file, or of the last one.
    let location = try #require(try WorkspaceDirectory(root: daemon.folder + "/root").catalogue(of: "u"))
    let snapshot = try #require(try CatalogReader.open(location)).snapshot()
    #expect([1, 400_000].contains(snapshot.productCount))
    #expect(try snapshot.product(id: "1") != nil)
  }

  @Test func `the log says where the studio is, if it is served`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", hasInput: false)
    let line = try daemon.log.wait(for: "\"listening\"")
    #expect(line.contains("/studio/\""), "\(line)")
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
    let silent = try RunningDaemon(["--studio-enabled", "false"], configuration: "{\(Self.base)}", hasInput: false)
    #expect(try !silent.log.wait(for: "\"listening\"").contains("studio"))
    silent.signal(SIGTERM)
    #expect(silent.end() == 0)
  }

  @Test func `answers that cannot be written are told, and the exit code says so`() throws {
    let shell = Process()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalogd-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    let script = "printf 'x\\ny\\n' | \"$0\" --root \"$1\" --user u --http-enabled false --exit-at-end >/dev/full"
    shell.arguments = ["-c", script, RunningDaemon.program, folder]
    let log = Pipe()
    shell.standardError = log
    try shell.run()
    let words = String(decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 74, "\(words)")
    #expect(words.contains("answers were not written") && words.contains("No space left on device"), "\(words)")
  }

  @Test(arguments: ["/dev/null/x", "/dev/null", "/dev/full/a/b"])
  func `a root that cannot be created is a fault, next to those of each input`(_ root: String) throws {
    let inputs = #""inputs": {"names": ["a", "b"], "a": {"kind": "serial"}, "b": {"kind": "tcp", "port": 70000}}"#
    let daemon = try RunningDaemon(
      ["--check-config"], configuration: "{\"root\": \"\(root)\", \(inputs)}", hasInput: false)
    #expect(daemon.end() == 65)
    for text in ["root \"\(root)\": ", "inputs.a.device: is missing", "inputs.b.port \"70000\""] {
      _ = try daemon.log.wait(for: text)
    }
  }

  @Test func `a bad configuration is told whole, and nothing is created`() throws {
    let daemon = try RunningDaemon(["--user", ""], configuration: #"{"http": {"port": 1}, "usr": "a"}"#)
    #expect(daemon.end() == 64)
    for text in ["http.port", "usr: there is no such key; did you mean user?", "--user"] {
      _ = try daemon.log.wait(for: text)
    }
    #expect(!FileManager.default.fileExists(atPath: daemon.folder + "/root"))
  }

  @Test func `a second daemon on the same root ends with 75 and names the first, also after a kill`() throws {
    let first = try RunningDaemon(configuration: "{\(Self.base)}", hasInput: false)
    _ = try first.log.wait(for: "\"listening\"")
    let root = ["CATALOG_ROOT": first.folder + "/root"]
    let second = try RunningDaemon(configuration: "{\(Self.base)}", environment: root, hasInput: false)
    #expect(second.end() == 75)
    _ = try second.log.wait(for: "is in use by process \(first.process.processIdentifier) (catalogd)")
    // The first one tells of it.
    _ = try first.log.wait(for: "\"problem\":\"second_daemon\"")
    first.signal(SIGKILL)
    _ = first.end()
    let third = try RunningDaemon(configuration: "{\(Self.base)}", environment: root, hasInput: false)
    _ = try third.log.wait(for: "\"listening\"")
    third.signal(SIGTERM)
    #expect(third.end() == 0)
  }

  @Test func `a server without a user is a fault where the configuration is checked`() throws {
    let arguments = ["--check-config", "--sync-url", "http://127.0.0.1:1/"]
    let daemon = try RunningDaemon(arguments, hasInput: false)
    #expect(daemon.end() == 64)
    _ = try daemon.log.wait(for: "--sync-url: is set, but nobody is signed in")
    #expect(!FileManager.default.fileExists(atPath: daemon.folder + "/root"))
    #expect(try RunningDaemon(arguments + ["--user", "ana"], hasInput: false).end() == 0)
  }

  @Test func `stored settings that the daemon could not use are warnings where the configuration is checked`() throws {
    let root = FileManager.default.temporaryDirectory.appendingPathComponent("catalogd-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: root) }
    let directory = WorkspaceDirectory(root: root)
    try directory.settings(of: "ana").change { try $0.set(Setting("matching.measures", default: ""), to: "nowhere") }
    try directory.settings(of: nil).change { try $0.set(Setting("matching.heads.minimum", default: 4), to: 0) }
    let environment = ["CATALOG_ROOT": root]
    let daemon = try RunningDaemon(["--check-config", "--user", "ana"], environment: environment, hasInput: false)
    _ = try daemon.log.wait(for: "warning: matching.measures in \(root)/users/ana/settings.log cannot be used")
    _ = try daemon.log.wait(for: "warning: matching.heads.minimum in \(root)/default/settings.log cannot be used")
    #expect(daemon.end() == 0)
    // What the configuration says itself has to be right.
    let wrong = ["--check-config", "--matching-measures", "nowhere"]
    let other = try RunningDaemon(wrong, environment: environment, hasInput: false)
    _ = try other.log.wait(for: "--matching-measures: there is no preset 'nowhere'")
    #expect(other.end() == 64)
  }

  @Test(arguments: [SIGTERM, SIGINT])
  func `a signal ends it in order, once or twice at once`(_ number: Int32) throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", hasInput: false)
    _ = try daemon.log.wait(for: "\"listening\"")
    daemon.signal(number)
    daemon.signal(number)
    #expect(daemon.end() == 0)
  }

  @Test func `a reload keeps the standard input, and what cannot be changes nothing`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}")
    _ = try daemon.log.wait(for: "\"listening\"")
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"code\":\"one\"")

    try daemon.configure(#"{"http": {"adress": "127.0.0.1:0"}, "user": 7}"#)
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "did you mean address?")
    _ = try daemon.log.wait(for: "\"problem\":\"reload_refused\"")
    try daemon.say("two\n")
    _ = try daemon.output.wait(for: "\"code\":\"two\"")
    #expect(daemon.log.all.count { $0.contains("\"listening\"") } == 1)

    // Half of a line that is read with the one before it.
    try daemon.say("before\nth")
    _ = try daemon.output.wait(for: "\"code\":\"before\"")
    try daemon.configure("{\(Self.base), \"doubleScanMilliseconds\": 0}")
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "\"listening\"", skipping: 1)
    try daemon.say("ree\n")
    _ = try daemon.output.wait(for: "\"code\":\"three\"")
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `a refused configuration is a problem until it is as the one that runs, without another signal`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", hasInput: false)
    _ = try daemon.log.wait(for: "\"listening\"")
    try daemon.configure(#"{"http": {"adress": "127.0.0.1:0"}}"#)
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "\"problem\":\"reload_refused\"")
    try daemon.configure("{\(Self.base)}")
    func isEnded() -> Bool {
      daemon.log.all.contains { $0.contains("problem ended") && $0.contains("reload_refused") }
    }
    let end = ContinuousClock.now + .seconds(60)
    while !isEnded(), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.05) }
    #expect(isEnded())
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `a store that somebody truncates is told, and the daemon goes on`() throws {
    let daemon = try RunningDaemon(["--user", "u"], configuration: "{\(Self.base)}")
    _ = try daemon.log.wait(for: "\"listening\"")
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"code\":\"one\"")
    // The path is lent as a C string for the call.
    try #require(unsafe truncate(daemon.folder + "/root/default/settings.log", 0) == 0)
    try daemon.say("two\n")
    let answer = try daemon.output.wait(for: "\"code\":\"two\"")
    #expect(answer.contains("the catalogue cannot be read"))
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `a label that is read again behind a reload is no second scan`() throws {
    func text(_ drainSeconds: Int) -> String {
      "{\(Self.base), \"doubleScanMilliseconds\": 60000, \"drainSeconds\": \(drainSeconds)}"
    }
    let daemon = try RunningDaemon(configuration: text(1))
    _ = try daemon.log.wait(for: "\"listening\"")
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"code\":\"one\"")
    try daemon.configure(text(2))
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "\"listening\"", skipping: 1)
    try daemon.say("one\ntwo\n")
    _ = try daemon.output.wait(for: "\"code\":\"two\"")
    #expect(daemon.output.all.count { $0.contains("\"code\":\"one\"") } == 1)
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `a configuration that cannot be read to its end holds nobody up`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}")
    _ = try daemon.log.wait(for: "\"listening\"")
    // A pipe that nobody writes to: whoever opens it waits.
    let path = daemon.folder + "/catalogd.json"
    try FileManager.default.removeItem(atPath: path)
    // The path is lent as a C string for the call.
    try #require(unsafe mkfifo(path, 0o600) == 0)
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "reading the configuration again")
    daemon.signal(SIGHUP)
    try daemon.say("one\n")
    _ = try daemon.output.wait(for: "\"code\":\"one\"")
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }

  @Test func `what concerns the log alone is changed while the daemon runs`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", hasInput: false)
    _ = try daemon.log.wait(for: "\"listening\"")
    try daemon.configure(#"{"http": {"address": "127.0.0.1:0"}, "log": {"format": "text"}}"#)
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "Z notice catalogd: the configuration is as it was, or only the log's has changed")
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
    #expect(daemon.log.all.count { $0.contains("\"listening\"") } == 1)
  }

  @Test func `a configuration that does not start gives way to the one before`() throws {
    let other = try RunningDaemon(configuration: "{\(Self.base)}", hasInput: false)
    let line = try other.log.wait(for: "\"listening\"")
    let port = try #require(line.split(separator: ":").last.flatMap { Int($0.prefix { $0.isNumber }) })
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}")
    _ = try daemon.log.wait(for: "\"listening\"")
    try daemon.configure("{\"http\": {\"address\": \"127.0.0.1:\(port)\"}, \"log\": {\"format\": \"json\"}}")
    daemon.signal(SIGHUP)
    _ = try daemon.log.wait(for: "going back to the one before")
    _ = try daemon.log.wait(for: "\"listening\"", skipping: 1)
    try daemon.say("still here\n")
    _ = try daemon.output.wait(for: "\"code\":\"still here\"")
    let third = try RunningDaemon(
      ["--http-address", "127.0.0.1:\(port)"], configuration: "{\(Self.base)}", hasInput: false)
    #expect(third.end() == 69)
    for daemon in [daemon, other] {
      daemon.signal(SIGTERM)
      #expect(daemon.end() == 0)
    }
  }

  #if os(Linux)
  @Test func `reloads leave no descriptors behind`() throws {
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}")
    var first = 0
    for round in 0..<12 {
      _ = try daemon.log.wait(for: "\"listening\"", skipping: round)
      try daemon.say("round \(round)\n")
      _ = try daemon.output.wait(for: "\"code\":\"round \(round)\"")
      if round == 0 { first = daemon.descriptorCount }
      try daemon.configure("{\(Self.base), \"events\": {\"capacity\": \(round + 1)}}")
      daemon.signal(SIGHUP)
    }
    _ = try daemon.log.wait(for: "\"listening\"", skipping: 12)
    // A daemon that has ended gives its stores back a moment later. A leak of one descriptor a reload would not go
    // away.
    let deadline = ContinuousClock.now + .seconds(300)
    while daemon.descriptorCount > first + 6, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.01) }
    #expect(daemon.descriptorCount <= first + 6)
    daemon.signal(SIGTERM)
    #expect(daemon.end() == 0)
  }
  #endif

  @Test func `the service manager is told of all that happens, and that the daemon lives`() async throws {
    let manager = try DatagramSocket(.path)
    let environment = ["NOTIFY_SOCKET": manager.address, "WATCHDOG_USEC": "200000"]
    let daemon = try RunningDaemon(configuration: "{\(Self.base)}", environment: environment, hasInput: false)
    func next(_ beginning: String) async throws -> String {
      while true {
        let note = try await manager.receive()
        if note.hasPrefix(beginning) { return note }
        // Signs of life come at any time; nothing else may come in between.
        guard note == "WATCHDOG=1" else { return note }
      }
    }
    #expect(try await next("READY").hasPrefix("READY=1\nSTATUS=listening on http://127.0.0.1:"))
    for _ in 0..<3 { #expect(try await next("WATCHDOG") == "WATCHDOG=1") }
    try daemon.configure("{")
    daemon.signal(SIGHUP)
    #expect(try await next("RELOADING").hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    #expect(try await next("READY").hasPrefix("READY=1\nSTATUS=running; the new configuration is not valid"))
    try daemon.configure("{\(Self.base), \"user\": \"a\"}")
    daemon.signal(SIGHUP)
    #expect(try await next("RELOADING").hasPrefix("RELOADING=1\n"))
    #expect(try await next("READY").hasPrefix("READY=1\nSTATUS=listening on"))
    #expect(try await next("WATCHDOG") == "WATCHDOG=1")
    daemon.signal(SIGTERM)
    #expect(try await next("STOPPING").hasPrefix("STOPPING=1\n"))
    #expect(daemon.end() == 0)
  }

  @Test func `descriptors that are closed at the start are never those of a store`() throws {
    let shell = Process()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("catalogd-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    shell.executableURL = URL(fileURLWithPath: "/bin/sh")
    let script = "printf 'x\\n' | \"$0\" --root \"$1\" --user u --http-enabled false --exit-at-end >&- 2>&-"
    shell.arguments = ["-c", script, RunningDaemon.program, folder]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    for case let file as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
      let contents = FileManager.default.contents(atPath: folder + "/" + file) ?? Data()
      #expect(contents.range(of: Data("standard input".utf8)) == nil, "\(file)")
    }
  }
}
