import Foundation
import Testing

/// `login`, `logout`, `whoami`, `users`, and whose stores a command uses.
@Suite struct UserCommandTests {
  /// Ids that a careless program would mix up, or that would lead it astray.
  static let hostileIDs = [
    "../../etc/passwd", "a/b", "a", "A", "用户 1", ".", "..", "~", "é", "e\u{301}", "-x", "--root", "%41", "a+", "+",
    "a\nb", "/etc", "default", "catalogue.log", "con", " ", "a ", "👩‍👩‍👧", String(repeating: "x", count: 255),
    String(repeating: "用", count: 85), String(repeating: "/", count: 255), "\u{1}", "\u{7F}\u{200B}",
  ]

  private func bytes(_ ids: [String]) -> [[UInt8]] {
    ids.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  @Test func `hostile ids are users of their own and stay in the root`() throws {
    let root = try TestRoot()
    let file = try root.payload(.products(1))
    let around = try FileManager.default.contentsOfDirectory(atPath: root.folder.path)
    for (index, id) in Self.hostileIDs.enumerated() {
      let run = try root.run("apply", "--user=" + id, file.path)
      #expect(run.lines.first == "begin 1", "\(id): \(run.words)")
      let login = try root.run("login", "--", id)
      #expect(login.code == 0 && login.output.isEmpty, "\(id): \(login.words)")
      if index % 7 > 0 { continue }
      let whoami = try root.run("whoami", "--json").object()
      #expect(whoami.text("user").map { Array($0.utf8) } == Array(id.utf8))
      // Just one user is the current one, the very one.
      let current = try root.run("users", "--json").objects().filter { $0["current"] as? Bool == true }
      #expect(current.compactMap { $0.text("id") }.map { Array($0.utf8) } == [Array(id.utf8)])
    }
    let users = try root.run("users", "--json").objects()
    #expect(bytes(users.compactMap { $0.text("id") }) == bytes(Self.hostileIDs))
    #expect(
      users.allSatisfy {
        $0.sortedKeys == ["bytes", "current", "cursor", "id", "products", "sealed"] && $0.number("products") == 1
      })
    let now = try FileManager.default.contentsOfDirectory(atPath: root.folder.path)
    #expect(Set(now) == Set(around + ["root"]))
    #expect(try root.run("users").lines.count == Self.hostileIDs.count + 1)
  }

  @Test func `ids in two normal forms are two users, and one of them is signed in`() throws {
    let root = try TestRoot()
    _ = try root.run("login", "e\u{301}")
    _ = try root.run("login", "\u{E9}")
    let users = try root.run("users", "--json").objects()
    #expect(users.map { Array(($0.text("id") ?? "").utf8) } == [Array("e\u{301}".utf8), Array("\u{E9}".utf8)])
    #expect(users.map { $0["current"] as? Bool } == [false, true])
  }

  @Test func `what lies beside the users' directories is passed over`() throws {
    let root = try TestRoot()
    let file = try root.payload(.products(1))
    for user in ["a", "b", "c"] { _ = try root.run("apply", "--user", user, file.path) }
    let users = root.path + "/users/"
    try Data().write(to: URL(fileURLWithPath: users + "stray"))
    try Data().write(to: URL(fileURLWithPath: users + "stray+"))
    try FileManager.default.createSymbolicLink(atPath: users + "link", withDestinationPath: users + "a")
    for name in ["Capital", "empty+", "%4", "%61"] {
      try FileManager.default.createDirectory(atPath: users + name, withIntermediateDirectories: false)
    }
    let run = try root.run("users", "--json")
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.objects().map { $0.text("id") } == ["a", "b", "c"])
    // One user's damaged catalogue does not hide the others.
    try Data("hello".utf8).write(to: URL(fileURLWithPath: users + "b/catalogue.log"))
    let damaged = try root.run("users", "--json")
    #expect(damaged.code == 65)
    #expect(damaged.words.contains("users/b/catalogue.log"))
    #expect(try damaged.objects().map { $0.number("products") } == [1, 0, 1])
    #expect(try root.run("users").lines.count == 4)
  }

  @Test(arguments: ["", String(repeating: "x", count: 256), String(repeating: "用", count: 86)])
  func `an id that is empty or too long is a matter of usage`(id: String) throws {
    let root = try TestRoot()
    for arguments in [["login", id], ["dump", "--user", id], ["apply", "--user", id, "/dev/null"]] {
      let run = try root.run(arguments)
      #expect(run.code == 64)
      #expect(run.words.contains("id"))
    }
    #expect(!root.exists)
  }

  @Test func `signing in and out`() throws {
    let root = try TestRoot()
    let nobody = try root.run("whoami")
    #expect(nobody.code == 1 && nobody.output.isEmpty && !nobody.words.isEmpty)
    #expect(try root.run("whoami", "--json").text == "{\"user\":null}\n")
    #expect(try root.run("logout").code == 0)
    #expect(!root.exists)
    #expect(try root.run("login", "u").code == 0)
    #expect(try root.run("whoami").text == "u\n")
    #expect(try root.run("login", "v").code == 0)
    #expect(try root.run("whoami").text == "v\n")
    #expect(try root.run("users", "--json").objects().map { $0["current"] as? Bool } == [false, true])
    #expect(try root.run("logout").code == 0)
    #expect(try root.run("whoami").code == 1)
    #expect(try root.run("users", "--json").objects().map { $0["current"] as? Bool } == [false, false])
  }

  @Test func `with nobody signed in a command says how to sign in`() throws {
    let root = try TestRoot()
    let commands = [
      ["dump"], ["stat"], ["log"], ["verify"], ["scan", "1"], ["get", "--id", "1"], ["find", "a"], ["components", "1"],
      ["products"], ["sets-with", "1"], ["complete", "1"], ["explain", "1"], ["compact"], ["apply", "/dev/null"],
      ["sync", "--from", "/dev/null"],
    ]
    for command in commands {
      let run = try root.run(command)
      #expect(run.code == 64, "\(command)")
      #expect(run.words.contains("login"), "\(command)")
      #expect(run.output.isEmpty, "\(command)")
    }
    #expect(!root.exists)
  }

  @Test func `files are the owner's alone, whatever the mask`() throws {
    let root = try TestRoot()
    let file = try root.payload(.products(3))
    let shell = #"umask 0; exec "$@""#
    for arguments in [
      ["login", "u"], ["apply", file.path], ["apply", "--full", file.path], ["apply", file.path], ["compact"],
      ["sync", "--from", file.path],
    ] {
      let run = try root.run(arguments, shell: shell)
      #expect(run.code == 0, "\(run.words)")
    }
    var modes = try root.folder.modes()
    modes["payload.json"] = nil
    #expect(modes.count > 5)
    for (name, mode) in modes {
      var isDirectory: ObjCBool = false
      // The call fills the local variable.
      _ = unsafe FileManager.default.fileExists(atPath: root.folder.path + "/" + name, isDirectory: &isDirectory)
      #expect(mode == (isDirectory.boolValue ? 0o700 : 0o600), "\(name)")
    }
  }

  @Test func `reading a root that is not there creates nothing`() throws {
    let root = try TestRoot()
    let user = ["--user", "u"]
    let expectations: [([String], Int32, Bool)] = [
      (["dump"], 0, true), (["verify"], 0, false), (["stat"], 0, false), (["stat", "--json"], 0, false),
      (["log"], 0, true), (["log", "--json"], 0, true), (["scan", "1"], 1, false), (["get", "--id", "1"], 1, true),
      (["get", "--barcode", "1", "--json"], 1, true), (["find", "a"], 1, true), (["components", "1"], 1, true),
      (["sets-with", "1"], 1, true), (["complete", "1"], 0, false), (["explain", "1"], 1, false),
      (["compact"], 0, false), (["dump", "--at", "1"], 1, true), (["products"], 1, true),
      (["products", "--count"], 0, false), (["products", "--where", "id == 'a'", "--json"], 1, true),
      (["products", "--group-by", "brand"], 1, true), (["products", "--at", "1"], 1, true),
      (["verify", "--json"], 0, false),
    ]
    for (arguments, code, isSilent) in expectations {
      let run = try root.run(arguments + user)
      #expect(run.code == code, "\(arguments): \(run.words)")
      #expect(run.output.isEmpty == isSilent, "\(arguments): \(run.text)")
      #expect(!root.exists, "\(arguments)")
    }
    #expect(try root.run("users").code == 0)
    #expect(!root.exists)
    // The digest of emptiness is the same for a user without a store and for no user at all.
    let empty = try root.run(["verify"] + user).lines
    _ = try root.run("login", "u")
    #expect(try root.run("verify").lines == empty)
    #expect(
      try root.run(["verify", "--batch"], input: Data((root.path + "\n").utf8)).text
        == (empty.last ?? "").replacing("digest", with: "ok") + "\n")
  }

  @Test func `a reading command changes no byte and no time of a file`() throws {
    let root = try TestRoot(Fixture.url("series/00-first-full.response.json"))
    func state() throws -> [String] {
      try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted().map { name in
        let attributes = try FileManager.default.attributesOfItem(atPath: root.path + "/" + name)
        let (time, size) = (attributes[.modificationDate] as? Date, attributes[.size] as? NSNumber)
        return "\(name) \(time?.timeIntervalSince1970 ?? 0) \(size?.intValue ?? -1)"
      }
    }
    let before = try state()
    for arguments in [
      ["dump"], ["verify"], ["stat"], ["log"], ["scan", "1"], ["find", "a"], ["products"], ["users"], ["whoami"],
      ["explain", "1"],
      ["complete", "1"], ["dump", "--at", "1"], ["get", "--id", "1"],
    ] {
      _ = try root.run(arguments)
    }
    #expect(try state() == before)
  }
}
