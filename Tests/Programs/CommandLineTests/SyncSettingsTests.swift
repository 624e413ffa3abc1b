import Foundation
import Testing

/// Plain `sync`, which finds in the settings what options say else; and what it tells of other users.
@Suite(.timeLimit(.minutes(10))) struct SyncSettingsTests {
  private func answers(_ count: Int) throws -> [HTTPServer.Answer] {
    try (1...count).map { .init(body: try Data(wrapping: .products(2, cursor: "\($0)"))) }
  }

  private func secret(_ root: TestRoot, _ text: String, mode: Int = 0o600) throws -> String {
    let file = try root.folder.file("secret \(mode)", Data(text.utf8))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file.path
  }

  private func set(_ root: TestRoot, _ name: String, _ value: String, _ options: String...) throws {
    let run = try root.run(["config", "set", name, value] + options)
    #expect(run.code == 0 && run.words.isEmpty, "\(run.words)")
  }

  @Test func `plain sync asks the server of the settings, with its credentials and organisation`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer(answers(3))
    #expect(try root.run("sync").code == 64)
    try set(root, "sync.url", server.url)
    try set(root, "sync.organisation", "7")
    try set(root, "sync.authorizationFile", secret(root, " Bearer abc\n"))
    for _ in 1...2 {
      let run = try root.run("sync")
      #expect(run.code == 0, "\(run.words)")
    }
    #expect(server.heads.allSatisfy { $0.contains("Authorization: Bearer abc\r\n") })
    // The organisation is one, so another user of it begins with this catalogue.
    #expect(try root.run("config", "set", "--user", "bob", "sync.url", server.url).code == 0)
    let bob = try root.run("sync", "--user", "bob", "--organisation", "7", "--json")
    #expect(try bob.object().object("adopted").text("cursor") == "2", "\(bob.words)")
    // Files come from nowhere that the settings know.
    #expect(try root.run("sync", "--from", root.payload(.products(1)).path).code == 0)
  }

  @Test func `an option beats a setting, and a user's setting one of the default store`() throws {
    let root = try TestRoot(answers: [])
    let (common, own, option) = (try HTTPServer(answers(1)), try HTTPServer(answers(1)), try HTTPServer(answers(1)))
    try set(root, "sync.url", common.url, "--default")
    try set(root, "sync.authorizationFile", secret(root, "Bearer common"), "--default")
    #expect(try root.run("sync").code == 0)
    try set(root, "sync.url", own.url)
    #expect(try root.run("sync").code == 0)
    let other = try root.folder.file("own", Data("Bearer own".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other.path)
    #expect(try root.run("sync", "--url", option.url, "--authorization-file", other.path).code == 0)
    #expect(common.heads.count == 1 && own.heads.count == 1 && option.heads.count == 1)
    #expect(common.heads[0].contains("Bearer common") && own.heads[0].contains("Bearer common"))
    #expect(option.heads[0].contains("Bearer own"))
  }

  @Test func `credentials of a setting stay with the host of sync.url`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer(answers(1))
    try set(root, "sync.url", "https://catalogue.example/c")
    try set(root, "sync.authorizationFile", secret(root, "Bearer abc"))
    let run = try root.run("sync", "--url", server.url)
    #expect(run.code == 0 && run.words.contains("--authorization-file"), "\(run.words)")
    #expect(!server.heads[0].contains("Authorization"))
  }

  @Test(arguments: [0o640, 0o604, 0o622]) func `credentials that others may read are refused`(mode: Int) throws {
    let root = try TestRoot(answers: [])
    let path = try secret(root, "Bearer abc", mode: mode)
    let run = try root.run("sync", "--url", "http://127.0.0.1:1/", "--authorization-file", path)
    #expect(run.code == 77 && run.words.contains("chmod 600"), "\(run.words)")
  }

  @Test func `credentials that are not there, or are none, are told`() throws {
    let root = try TestRoot(answers: [])
    try set(root, "sync.url", "http://127.0.0.1:1/")
    try set(root, "sync.authorizationFile", "/nonexistent/secret")
    #expect(try root.run("sync").code == 66)
    try set(root, "sync.authorizationFile", secret(root, " \n"))
    #expect(try root.run("sync").code == 65)
  }

  @Test func `a setting that cannot be used, or holds a secret, is refused when it is set`() throws {
    let root = try TestRoot(answers: [])
    for (name, value) in [
      ("sync.url", "ftp://host/"), ("sync.url", "https://ann:secret@host/"), ("sync.url", ""),
      ("sync.organisation", ""),
    ] {
      let run = try root.run("config", "set", name, value)
      #expect(run.code == 64 && !run.words.contains("secret@"), "\(run.words)")
    }
    #expect(try root.run("config", "list", "--json").output.isEmpty)
    // What looks like a number is a text, and a path is one from everywhere.
    try set(root, "sync.organisation", "007")
    #expect(try root.run("config", "get", "sync.organisation", "--json").object().text("value") == "007")
    try set(root, "sync.caFile", "ca.pem")
    #expect(try #require(root.run("config", "get", "sync.caFile", "--json").object().text("value")).hasPrefix("/"))
    #expect(try root.run("config", "set", "sync.uri", "x").words.contains("sync.url"))
  }

  @Test func `settings that are damaged stop nobody who says everything with options`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer(answers(1))
    try set(root, "sync.url", "http://127.0.0.1:1/")
    try Data("no settings".utf8).write(to: URL(fileURLWithPath: root.path + "/users/u/settings.log"))
    #expect(try root.run("sync").code == 65)
    let file = try root.run("sync", "--from", root.payload(.products(1)).path)
    #expect(file.code == 0 && file.words.contains("sync.extra"), "\(file.words)")
    let run = try root.run("sync", "--url", server.url)
    #expect(run.code == 0 && run.words.contains("only options count"), "\(run.words)")
  }

  // MARK: Keys that are kept

  @Test func `keys of products that sync.extra names are kept, by sync, apply and files`() throws {
    let root = try TestRoot(answers: [])
    var payload = Payload()
    payload.product("a", #""price":1.50,"color":"red","extra":{"shelf":"A7"}"#)
    let server = try HTTPServer((1...2).map { _ in .init(body: try Data(wrapping: payload)) })
    let file = try root.payload(payload).path
    func extra() throws -> String? {
      let text = try root.run("get", "--id", "a", "--json").text
      return text.split(separator: #""extra":"#).dropFirst().first.map { String($0.prefix { $0 != "}" }) + "}" }
    }
    #expect(try root.run("sync", "--url", server.url, "--full").code == 0)
    #expect(try extra() == #"{"shelf":"A7"}"#)
    try set(root, "sync.extra", #"["price", "missing"]"#)
    #expect(try root.run("config", "get", "sync.extra", "--json").text.contains(#"["missing","price"]"#))
    let kept = #"{"price":1.50,"shelf":"A7"}"#
    for run in [
      ["sync", "--url", server.url, "--full"], ["sync", "--from", file], ["sync", "--from", file, "--full"],
      ["apply", file], ["apply", "--full", file],
    ] {
      #expect(try root.run("config", "set", "sync.extra", "[]").code == 0)
      #expect(try root.run("apply", file).code == 0)
      #expect(try extra() == #"{"shelf":"A7"}"#)
      try set(root, "sync.extra", "price, missing")
      let done = try root.run(run)
      #expect(done.code == 0 && done.words.isEmpty, "\(run): \(done.words)")
      #expect(try extra() == kept, "\(run)")
    }
    // The setting of the default store counts for a user who has none.
    #expect(try root.run("config", "unset", "sync.extra").code == 0)
    try set(root, "sync.extra", "color", "--default")
    #expect(try root.run("apply", file).code == 0)
    #expect(try extra() == #"{"color":"red","shelf":"A7"}"#)
    #expect(try root.run("verify").code == 0)
  }

  @Test(arguments: [
    ("[1]", "each key as a text"), (#"["name"]"#, "field of every product"), ("extra", "field of every product"),
    (#"[""]"#, "a key is empty"), ("a,,b", "a key is empty"), (#"{"price":1}"#, "keys, such as"),
  ])
  func `a list of keys that cannot be used is refused when it is set`(value: String, reason: String) throws {
    let root = try TestRoot(answers: [])
    let run = try root.run("config", "set", "sync.extra", value)
    #expect(run.code == 64 && run.words.contains(reason) && run.words.contains("sync.extra"), "\(run.words)")
    #expect(try root.run("config", "list", "--json").output.isEmpty)
  }

  // MARK: Other users

  @Test func `a first sync without an organisation tells who has the catalogue already`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer(answers(8))
    let ana = try root.run("sync", "--user", "ana", "--url", server.url + "?token=secret")
    #expect(ana.code == 0 && ana.words.isEmpty, "\(ana.words)")
    let bob = try root.run("sync", "--user", "bob", "--url", server.url)
    #expect(bob.code == 0 && bob.words.contains("ana has this server's catalogue already"), "\(bob.words)")
    #expect(bob.words.contains("--organisation") && !bob.words.contains("secret"))
    // It is no first one any more.
    #expect(try root.run("sync", "--user", "bob", "--url", server.url).words.isEmpty)
    _ = try root.run("sync", "--user", "ana", "--url", server.url, "--organisation", "7")
    let carol = try root.run("sync", "--user", "carol", "--url", server.url)
    #expect(
      carol.words.contains("ana and another user have") && carol.words.contains("--organisation 7"), "\(carol.words)")
    let dave = try root.run("sync", "--user", "dave", "--url", server.url, "--organisation", "7")
    #expect(dave.words.contains("began with") && !dave.words.contains("already"))
    // Another server is another catalogue.
    let other = try HTTPServer(answers(1))
    #expect(try root.run("sync", "--user", "erin", "--url", other.url).words.isEmpty)
  }
}
