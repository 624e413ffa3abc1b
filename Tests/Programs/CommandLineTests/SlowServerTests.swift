import Foundation
import Testing

/// What a server or a pipe that is slow keeps waiting: nobody else who writes, and no person without a word.
@Suite(.timeLimit(.minutes(10))) struct SlowServerTests {
  private static let answer = Data(contentsOfAnswer: 0)

  /// A `sync` that runs until the server has been asked.
  private func begin(_ arguments: [String], _ root: TestRoot, _ server: HTTPServer) throws -> Process {
    let process = Program.process(["sync", "--url", server.url] + arguments, root: root.path)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: root.folder.file("words"))
    try process.run()
    for _ in 0..<1000 where server.requests.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
    return process
  }

  @Test(arguments: [false, true]) func `another command writes while a server hangs in its answer`(isFirst: Bool) throws
  {
    let root = try TestRoot(answers: [])
    if !isFirst { _ = try root.apply([root.payload(.products(3))]) }
    let server = try HTTPServer([.init(body: Self.answer, hangs: true)])
    let process = try begin(["--attempts", "1"], root, server)
    // The first half of the answer is there.
    Thread.sleep(forTimeInterval: 0.3)
    let run = try root.run("apply", "--full", root.payload(.products(5, cursor: "other")).path)
    #expect(run.code == 0 && process.isRunning, "\(run.words)")
    #expect(try root.run("config", "set", "a", "1", "--wait", "0").code == 0)
    process.interrupt()
    process.waitUntilExit()
    #expect(try root.cursor() == "other")
    let names = try root.folder.modes().keys
    #expect(!names.contains { $0.contains("spill") }, "\(names)")
  }

  @Test func `a command that is killed while an answer arrives leaves no file`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer([.init(body: Self.answer, hangs: true)])
    let process = try begin([], root, server)
    Thread.sleep(forTimeInterval: 0.3)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let names = try root.folder.modes().keys
    #expect(!names.contains { $0.contains("spill") || $0.hasSuffix(".new") }, "\(names)")
    #expect(try root.run("verify").code == 0)
  }

  @Test func `another command writes while the daemon's server hangs, and a daemon that is killed leaves no file`()
    throws
  {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer([.init(body: Self.answer, hangs: true)])
    let daemon = try DaemonProcess(
      ["--sync-url", server.url, "--http-enabled", "false"], root: root.path, log: root.folder.url("log"))
    for _ in 0..<1000 where server.requests.isEmpty { Thread.sleep(forTimeInterval: 0.01) }
    Thread.sleep(forTimeInterval: 0.3)
    let run = try root.run("apply", root.payload(.products(5, cursor: "other")).path, "--wait", "0")
    #expect(run.code == 0 && daemon.process.isRunning, "\(run.words)")
    daemon.kill()
    let names = try root.folder.modes().keys
    #expect(!names.contains { $0.contains("spill") || $0.hasSuffix(".new") }, "\(names)")
    #expect(try root.cursor() == "other" && root.run("verify").code == 0)
  }

  @Test(arguments: [["sync", "--from", "-"], ["apply", "-"]])
  func `another command writes while a pipe is silent`(arguments: [String]) throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    let pipe = try Conversation(arguments, root: root.path)
    let payload = Payload.products(7, cursor: "pipe").json
    try pipe.say(String(decoding: payload.prefix(50), as: UTF8.self))
    Thread.sleep(forTimeInterval: 0.3)
    #expect(try root.run("apply", root.payload(.products(5, cursor: "other")).path, "--wait", "0").code == 0)
    try pipe.say(String(decoding: payload.dropFirst(50), as: UTF8.self))
    try pipe.hangUp()
    #expect(pipe.end() == 0)
    #expect(try root.run("stat", "--json").object().number("products") == 7)
    #expect(try root.cursor() == "pipe")
  }

  @Test func `an increment is asked for again where the cursor moved while the server answered`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3, cursor: "1"))])
    let server = try HTTPServer([
      .init(body: Data(wrapping: .products(1, cursor: "2", name: "late")), delay: 1),
      .init(body: Data(wrapping: .products(2, cursor: "3", name: "new"))),
    ])
    let process = try begin(["--json"], root, server)
    #expect(try root.run("apply", root.payload(.products(4, cursor: "1b")).path).code == 0)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(server.requests.map { $0.contains("updateTime=1b") } == [false, true])
    #expect(try root.cursor() == "3")
    #expect(try root.run("get", "--id", "p0", "--json").object().text("name") == "new 0")
  }

  @Test func `a wait for the first byte is shown, with the host and for how long`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer([.init(body: Self.answer, delay: 2.4)])
    let run = try root.run("sync", "--url", server.url, "--progress", "--json")
    #expect(run.code == 0 && run.words.contains("waiting for 127.0.0.1, 2 s"), "\(run.words)")
    let quiet = try HTTPServer([.init(body: Data(wrapping: .products(1, cursor: "z")), delay: 1.4)])
    #expect(try root.run("sync", "--url", quiet.url, "--json").words.isEmpty)
  }

  @Test func `time-outs are options, and are told with them`() throws {
    let root = try TestRoot(answers: [])
    let hanging = try HTTPServer([.init(body: Self.answer, hangs: true)])
    let run = try root.run("sync", "--url", hanging.url, "--attempts", "1", "--idle-timeout", "0.5")
    #expect(
      run.code == 69 && run.words.contains("silent for 0.5 s") && run.words.contains("(--idle-timeout)"),
      "\(run.words)")
    for option in [["--idle-timeout", "0"], ["--connect-timeout", "-1"], ["--minimum-rate", "-1"]] {
      #expect(try root.run(["sync", "--url", "http://localhost:1/"] + option).code == 64)
    }
    #expect(try root.run("verify").code == 0 && root.dump().isEmpty)
  }

  @Test func `the daemon names its settings in messages about the server`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.run("login", "u")
    let hanging = try HTTPServer(Array(repeating: .init(body: Self.answer, hangs: true), count: 4))
    let log = root.folder.url("log")
    let daemon = try DaemonProcess(
      ["--sync-url", hanging.url, "--sync-idle-seconds", "0.2", "--http-enabled", "false"], root: root.path, log: log)
    defer { daemon.kill() }
    var words = ""
    for _ in 0..<3000 where !words.contains("silent for") {
      Thread.sleep(forTimeInterval: 0.01)
      words = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
    }
    #expect(words.contains("(sync.idleSeconds)") && !words.contains("--idle-timeout"), "\(words)")
  }

  @Test func `a missing file of authorities is an input that cannot be read`() throws {
    let root = try TestRoot(answers: [])
    let run = try root.run("sync", "--url", "https://localhost:1/", "--ca-file", "/nonexistent/ca.pem")
    #expect(run.code == 66 && run.words.contains("/nonexistent/ca.pem: no such file"), "\(run.words)")
  }

  @Test func `a proxy of the environment is asked, unless no_proxy names the server`() throws {
    let root = try TestRoot(answers: [])
    let proxy = try HTTPServer([.init(body: Self.answer)])
    let variables = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
    let run = try root.run(["sync", "--url", "http://catalogue.invalid/c"], variables: variables)
    #expect(run.code == 0, "\(run.words)")
    #expect(proxy.requests == ["GET http://catalogue.invalid/c?updateTime= HTTP/1.1"])
    let server = try HTTPServer([.init(body: Data(wrapping: .products(1, cursor: "z")))])
    let direct = try root.run(
      ["sync", "--url", server.url], variables: ["HTTP_PROXY": "http://127.0.0.1:1", "NO_PROXY": "localhost,127.0.0.1"])
    #expect(direct.code == 0, "\(direct.words)")
    let other = try root.run(["sync", "--url", server.url], variables: ["http_proxy": "ftp://127.0.0.1:1080"])
    #expect(other.code == 64 && other.words.contains("not ftp"), "\(other.words)")
    let socks = try root.run(
      ["sync", "--url", server.url, "--attempts", "1"], variables: ["all_proxy": "socks5h://127.0.0.1:1"])
    #expect(socks.code == 69 && socks.words.contains("through the proxy 127.0.0.1:1"), "\(socks.words)")
  }
}

extension Data {
  /// The answer of a step of the series.
  init(contentsOfAnswer step: Int) {
    self = (try? Data(contentsOf: SeriesCommandTests.steps[step].response)) ?? Data()
  }

  /// The answer that has a payload, as a server wraps it.
  init(wrapping payload: Payload) throws {
    let folder = try Folder()
    let packed = try Fixture.tool("gzip -c \"$1\" | base64 -w 0", folder.file("payload", payload.json).path)
    self = Data("{\"message\":\"ok\",\"code\":1000,\"data\":\"".utf8) + packed + Data("\"}".utf8)
  }
}
