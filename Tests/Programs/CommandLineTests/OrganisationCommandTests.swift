import Foundation
import Testing

/// `sync --organisation`: users who begin with what others have; and `users remove`.
@Suite struct OrganisationCommandTests {
  private let options = ["--organisation", "o 7", "--source", "files"]

  private func sync(_ root: TestRoot, _ user: String, _ file: URL, _ options: [String]) throws -> ProgramRun {
    try root.run(["sync", "--user", user, "--json", "--from", file.path] + options)
  }

  private func file(_ root: TestRoot, _ count: Int, _ cursor: String) throws -> URL {
    try root.payload(.products(count, cursor: cursor, name: "as of " + cursor), cursor + ".json")
  }

  @Test func `a second user of an organisation begins with what the first one has`() throws {
    let root = try TestRoot()
    let (first, second) = (try file(root, 900, "monday"), try file(root, 2, "tuesday"))
    let ana = try sync(root, "ana", first, options)
    #expect(ana.code == 0 && ana.words.isEmpty, "\(ana.words)")
    #expect(try ana.object()["adopted"] is NSNull)
    let bob = try sync(root, "bob", second, options)
    #expect(
      bob.code == 0 && bob.words.contains("another user of o 7") && bob.words.contains("cursor monday"), "\(bob.words)")
    let report = try bob.object()
    #expect(report.text("mode") == "incremental" && report.object("products").number("upserted") == 2)
    #expect(report.object("adopted").text("cursor") == "monday")
    #expect(report.object("adopted")["shared"] as? Bool == true)
    #expect((report.object("adopted").number("bytes") ?? 0) > 50_000)
    #expect(try root.run("stat", "--user", "bob", "--json").object().number("products") == 900)
    #expect(try root.run("get", "--id", "p1", "--user", "bob", "--json").object().text("name") == "as of tuesday 1")
    #expect(try root.run("get", "--id", "p1", "--user", "ana", "--json").object().text("name") == "as of monday 1")
    let names = try ["ana/catalogue.log", "bob/catalogue.base"].map { name in
      try FileManager.default.attributesOfItem(atPath: root.path + "/users/" + name)[.systemFileNumber] as? Int
    }
    #expect(names[0] == names[1])
    // Who has a catalogue adopts none, and says so.
    #expect(try sync(root, "bob", file(root, 1, "wednesday"), options).object()["adopted"] is NSNull)
    // Another organisation, another source, or a full update begin with nothing: an increment has nothing to add to.
    for (number, others) in [
      ["--organisation", "8", "--source", "files"], ["--organisation", "o 7", "--source", "other"],
      options + ["--full"],
    ].enumerated() {
      let run = try sync(root, "user \(number)", first, others)
      #expect(try run.object().text("mode") == "full" && run.object()["adopted"] is NSNull)
    }
    for user in ["ana", "bob"] { #expect(try root.run("verify", "--user", user).code == 0) }
  }

  @Test(arguments: ["sync", "apply", "import"])
  func `nobody begins with a catalogue that came from elsewhere`(command: String) throws {
    let root = try TestRoot()
    let first = try file(root, 20, "monday")
    _ = try sync(root, "ana", first, options)
    switch command {
    case "sync": _ = try sync(root, "ana", file(root, 1, "tuesday"), [])
    case "apply": _ = try root.run("apply", "--user", "ana", file(root, 1, "tuesday").path)
    default:
      let rows = try root.folder.file("rows.ndjson", root.run("dump", "--user", "ana").output)
      #expect(try root.run("import", "--user", "ana", "--cursor", "c", rows.path).code == 0)
    }
    #expect(try sync(root, "bob", first, options).object().text("mode") == "full")
  }

  @Test func `over HTTP the URL is the source, and the second user's first request has the shared cursor`() throws {
    let root = try TestRoot()
    let steps = Array(SeriesCommandTests.steps.prefix(2))
    let server = try HTTPServer(try steps.map { .init(body: try Data(contentsOf: $0.response)) })
    for (user, step) in zip(["ana", "bob"], steps) {
      let run = try root.run("sync", "--user", user, "--url", server.url, "--organisation", "7")
      #expect(run.code == 0, "\(run.words)")
      #expect(run.words.contains("began with") == (user == "bob"))
      let statistics = try root.run("stat", "--user", user, "--json").object()
      #expect(statistics.text("cursor") == step.cursor && statistics.number("products") == step.products)
    }
    #expect(server.requests.count == 2 && server.requests[0].contains("updateTime= "))
    #expect(!server.requests[1].contains("updateTime= "), "\(server.requests)")
  }

  @Test(
    arguments: [
      ["--organisation", "7"], ["--source", "s"], ["--organisation", "", "--source", "s"],
      ["--organisation", "7", "--source", ""],
    ])
  func `what cannot be told apart is a matter of usage`(options: [String]) throws {
    let root = try TestRoot()
    let run = try root.run(["sync", "--user", "u", "--from", "/dev/null"] + options)
    #expect(run.code == 64 && !root.exists, "\(run.words)")
    #expect(
      try root.run("sync", "--user", "u", "--url", "http://127.0.0.1:1/", "--organisation", "7", "--source", "s").code
        == 64)
  }

  // MARK: users remove

  @Test func `a user is removed with everything, and the others keep what they share`() throws {
    let root = try TestRoot()
    _ = try root.run("login", "ana")
    _ = try sync(root, "ana", file(root, 300, "monday"), options)
    _ = try sync(root, "bob", file(root, 2, "tuesday"), options)
    let digest = try root.run("verify", "--user", "bob").lines
    // Nobody is asked where nobody is.
    let refused = try root.run("users", "remove", "ana")
    #expect(refused.code == 64 && refused.words.contains("--yes"), "\(refused.words)")
    #expect(try root.run("users", "--json").objects().count == 2)
    let run = try root.run("users", "remove", "ana", "--yes")
    #expect(run.code == 0 && run.output.isEmpty && run.words.contains("removed: ana"), "\(run.words)")
    #expect(try root.run("users", "--json").objects().map { $0.text("id") } == ["bob"])
    #expect(try root.run("whoami").code == 1)
    #expect(try root.run("verify", "--user", "bob").lines == digest)
    #expect(!FileManager.default.fileExists(atPath: root.path + "/users/ana"))
    let again = try root.run("users", "remove", "ana", "--yes")
    #expect(again.code == 1 && again.words.contains("no user ana"), "\(again.words)")
  }

  @Test(arguments: UserCommandTests.hostileIDs.prefix(14))
  func `a hostile id removes its own user and nothing else`(id: String) throws {
    let root = try TestRoot()
    let file = try root.payload(.products(1))
    for user in [id, "other", "root"] { _ = try root.run("apply", "--user=" + user, file.path) }
    let kept = try root.folder.file("kept")
    #expect(try root.run("users", "remove", "--yes", "--", id).code == 0)
    #expect(try root.run("users", "--json").objects().compactMap { $0.text("id") } == ["other", "root"])
    #expect(FileManager.default.fileExists(atPath: kept.path))
    #expect(try root.run("users", "remove", "--yes", "--", "").code == 64)
  }

  @Test func `a removal that is killed leaves a user or none`() throws {
    let root = try TestRoot()
    let file = try root.payload(.products(500))
    for round in 0..<10 {
      _ = try root.run("apply", "--user", "ana", file.path)
      _ = try root.run("login", "ana")
      let process = Program.process(["users", "remove", "ana", "--yes"], root: root.path)
      process.standardError = FileHandle.nullDevice
      try process.run()
      Thread.sleep(forTimeInterval: 0.003 * Double(round + 2))
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      let users = try root.run("users", "--json").objects()
      #expect(users.isEmpty || users.map { $0.number("products") } == [500])
      if users.isEmpty { #expect(try root.run("whoami").code == 1) }
      // Whoever removes next finishes what was begun.
      _ = try root.run("users", "remove", "ana", "--yes")
      _ = try root.run("login", "bob")
      _ = try root.run("users", "remove", "bob", "--yes")
      #expect(try FileManager.default.contentsOfDirectory(atPath: root.path + "/users").isEmpty, "round \(round)")
    }
  }
}
