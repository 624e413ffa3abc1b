import Foundation
import Testing

/// Sealed stores, as a person uses them.
@Suite struct SealingCommandTests {
  private let root: TestRoot
  private let key: String
  private let other: String

  init() throws {
    root = try TestRoot(answers: [])
    key = try root.folder.secret("key", Data(repeating: 1, count: 32))
    other = try root.folder.secret("other", Data(repeating: 2, count: 32))
    _ = try root.apply([root.payload(.products(3))])
    _ = try root.run("config", "set", "note", "a setting")
    _ = try root.run("queue", "add", "{\"secret\":1}")
  }

  private func seal() throws {
    let run = try root.run("seal", "--key-file", key)
    try #require(run.code == 0, "\(run.words)")
  }

  @Test func `every command reads sealed stores with the key, and none without it or with another`() throws {
    let commands = [
      ["stat"], ["dump"], ["get", "--id", "p0"], ["scan", "c0"], ["find", "product"], ["products"], ["log"], ["verify"],
      ["config", "get", "note"], ["config", "list"], ["queue", "list"], ["queue", "stat"], ["documents", "list"],
      ["complete", "c0"], ["explain", "c0"], ["components", "p0"], ["sets-with", "p0"], ["codes", "p0"],
    ]
    let before = try commands.map { try root.run($0) }
    try seal()
    for (command, clear) in zip(commands, before) {
      let run = try root.run(command + ["--key-file", key])
      #expect(run.code == clear.code && clear.code <= 1, "\(command): \(run.words)")
      // Files and commits are not the same ones.
      if !["stat", "log"].contains(command[0]) { #expect(run.output == clear.output, "\(command)") }
      for (options, word) in [([], "key"), (["--key-file", other], "another key")] {
        let run = try root.run(command + options)
        #expect(run.code == 77 && run.output.isEmpty && run.words.contains(word), "\(command): \(run.words)")
      }
    }
    for command in [["compact"], ["config", "set", "a", "1"], ["queue", "add", "{}"], ["import", key], ["unseal"]] {
      let run = try root.run(command)
      #expect([65, 77].contains(run.code) && run.output.isEmpty, "\(command): \(run.words)")
    }
    let names = try FileManager.default.subpathsOfDirectory(atPath: root.path)
    for name in names where name.hasPrefix("users/") {
      let data = FileManager.default.contents(atPath: root.path + "/" + name) ?? Data()
      for text in ["product", "a setting", "secret"] { #expect(data.range(of: Data(text.utf8)) == nil, "\(name)") }
    }
  }

  @Test func `what is no store is named by seal, and init writes no mapping among sealed stores`() throws {
    let id = try root.run("whoami").text.trimmingCharacters(in: .newlines)
    let note = root.path + "/users/\(id)/mapping.json"
    try Data("{}".utf8).write(to: URL(filePath: note))
    let run = try root.run("seal", "--key-file", key)
    #expect(run.code == 0 && run.words.contains("\(note) is no store and stays in clear"), "\(run.words)")
    try FileManager.default.removeItem(atPath: note)
    let again = try root.run("seal", "--key-file", key)
    #expect(again.code == 0 && !again.words.contains("clear;"), "\(again.words)")

    let file = try root.folder.file("erp.csv", Data("Number;Name;Stock\n1;Bolt;A\n".utf8)).path
    let map = root.folder.path + "/map.json"
    let command = [
      "init", "--from", file, "--column", "id=Number", "--unknown", "ignore", "--accept-loss", "--yes", "--key-file",
      key,
    ]
    let refused = try root.run(command)
    #expect(refused.code == 64 && refused.words.contains("--save-map"), "\(refused.words)")
    #expect(try root.run("get", "--id", "p0", "--key-file", key).code == 0)
    let taken = try root.run(command + ["--save-map", map])
    #expect(FileManager.default.fileExists(atPath: map), "\(taken.words)")
    #expect(try root.run("get", "--id", "1", "--key-file", key).code == 0, "\(taken.words)")
    #expect(!FileManager.default.fileExists(atPath: note))
  }

  @Test func `a key comes from a file, a command, a passphrase file or a credential`() throws {
    let phrase = try root.folder.secret("phrase", Data("correct horse\n".utf8))
    try seal()
    #expect(try root.run("keys", "add", "--key-file", key, "--new-passphrase-file", phrase).code == 0)
    for options in [["--key-file", key], ["--key-command", "cat \(key)"], ["--passphrase-file", phrase]] {
      #expect(try root.run(["stat"] + options).code == 0, "\(options)")
      #expect(try root.run(options + ["stat"]).code == 0, "\(options)")
    }
    #expect(try root.run("stat", "--key-file", key, "--passphrase-file", phrase).code == 64)
    let credentials = root.folder.path + "/credentials"
    try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
    #expect(try root.run(["stat"], variables: ["CREDENTIALS_DIRECTORY": credentials]).code == 77)
    _ = try root.folder.secret("credentials/shelfmark.key", Data(repeating: 1, count: 32))
    #expect(try root.run(["stat"], variables: ["CREDENTIALS_DIRECTORY": credentials]).code == 0)
    #expect(try root.run("stat", "--key-command", "exit 4").code == 69)
    let open = try root.folder.file("open", Data(repeating: 1, count: 32)).path
    #expect(try root.run("stat", "--key-file", open).code == 77)
    #expect(try root.run("stat", "--key-file", root.folder.path + "/missing").code == 66)
  }

  @Test func `a clear store takes and ignores a key`() throws {
    #expect(try root.run("stat", "--key-file", key).code == 0)
    #expect(try root.run("stat", "--key-command", "exit 4").code == 0)
    #expect(try root.run("keys", "list").output.isEmpty && root.run("keys", "list", "--json").output.isEmpty)
    for command in [
      ["unseal", "--key-file", key], ["keys", "remove", "00"],
      ["rekey", "--key-file", key, "--new-key-file", other],
      ["keys", "add", "--key-file", key, "--new-key-file", other],
    ] {
      let run = try root.run(command)
      #expect(run.code == 1 && run.words.contains("not sealed"), "\(command): \(run.words)")
    }
  }

  @Test func `keys are added, listed, replaced and removed, all but the last`() throws {
    try seal()
    let added = try root.run("keys", "add", "--key-file", key, "--new-key-file", other, "--json").object()
    let list = try root.run("keys", "list", "--json").objects()
    #expect(list.count == 2 && list[1].text("id") == added.text("id") && list[1].text("kind") == "key")
    #expect(try root.run("keys", "add", "--key-file", key, "--new-key-file", other).code == 1)
    #expect(try root.run("keys", "remove", "0123456789abcdef").code == 1)
    #expect(try root.run("keys", "remove", list[0].text("id") ?? "").code == 0)
    #expect(try root.run("stat", "--key-file", key).code == 77 && root.run("stat", "--key-file", other).code == 0)
    let last = try root.run("keys", "remove", list[1].text("id") ?? "")
    #expect(last.code == 1 && last.words.contains("last key"))
    #expect(try root.run("rekey", "--key-file", key, "--new-key-file", key).code == 77)
    #expect(try root.run("rekey", "--key-file", other, "--new-key-file", key).code == 0)
    #expect(try root.run("stat", "--key-file", other).code == 77 && root.run("stat", "--key-file", key).code == 0)
    let digest = try root.run("verify", "--key-file", key).lines.last
    #expect(try root.run("rekey", "--data-key", "--key-file", key, "--new-key-file", other).code == 0)
    #expect(try root.run("verify", "--key-file", other).lines.last == digest)
    #expect(try root.run("stat", "--key-file", key).code == 77)
  }

  @Test func `who lists users sees which are sealed, and nothing of them without the key`() throws {
    _ = try root.run(["apply", "--user", "bob", root.payload(.products(2)).path])
    try seal()
    let users = try root.run("users", "--json").objects()
    #expect(users.map { $0["sealed"] as? Bool } == [false, true])
    #expect(users[0].number("products") == 2 && users[1]["products"] is NSNull && users[1]["cursor"] is NSNull)
    #expect(try root.run("users", "--json", "--key-file", other).objects()[1]["products"] is NSNull)
    #expect(try root.run("users", "--json", "--key-file", key).objects()[1].number("products") == 3)
    #expect(try root.run("users").text.contains("sealed"))
    #expect(try root.run("users", "remove", "u", "--yes").code == 0)
    #expect(try root.run("users", "--json").objects().count == 1)
  }

  @Test func `verify takes many roots with the key`() throws {
    try seal()
    let input = Data((root.path + "\n").utf8)
    let good = try root.run(["verify", "--batch", "--key-file", key], input: input)
    #expect(good.lines.first?.hasPrefix("ok ") == true, "\(good.text)")
    let bad = try root.run(["verify", "--batch"], input: input)
    #expect(bad.lines.first?.hasPrefix("err ") == true && bad.text.contains("key"), "\(bad.text)")
  }

  @Test func `unsealing leaves what was there, and no keys`() throws {
    let digest = try root.digest()
    try seal()
    #expect(try root.run("verify", "--key-file", key).lines.last == digest)
    #expect(try root.run("unseal", "--key-file", key).code == 0)
    #expect(try root.digest() == digest)
    #expect(try !FileManager.default.subpathsOfDirectory(atPath: root.path).contains { $0.hasSuffix(".keys") })
  }

  @Test func `a store that went back is told by stat until it is accepted`() throws {
    try seal()
    let log = root.path + "/users/u/settings.log"
    _ = try root.run("config", "set", "note", "first", "--key-file", key)
    let old = try #require(FileManager.default.contents(atPath: log))
    _ = try root.run("config", "set", "note", "second", "--key-file", key)
    #expect(try root.run("stat", "--json", "--key-file", key).object()["wentBack"] == nil)
    try old.write(to: URL(fileURLWithPath: log))
    let stat = try root.run("stat", "--json", "--key-file", key)
    let back = try #require(try stat.object()["wentBack"] as? [[String: Any]])
    #expect(back.count == 1 && back[0]["store"] as? String == "settings" && stat.words.contains("keys accept"))
    let (found, seen) = (try #require(back[0].number("sequence")), try #require(back[0].number("seen")))
    #expect(found + 1 == seen)
    #expect(try root.run("config", "get", "note", "--key-file", key).text.contains("first"))
    #expect(try root.run("keys", "accept").code == 77)
    let accepted = try root.run("keys", "accept", "--json", "--key-file", key)
    let list = try accepted.object()["accepted"] as? [Any]
    #expect(accepted.code == 0 && list?.count == 1, "\(accepted.text)")
    #expect(try root.run("stat", "--json", "--key-file", key).object()["wentBack"] == nil)
    #expect(try root.run("keys", "accept", "--key-file", key).text.contains("no store went back"))
  }

  @Test func `the setting of the default store seals new users`() throws {
    #expect(try root.run("config", "set", "sealing.newUsers", "true").code == 64)
    #expect(try root.run(["config", "set", "--default", "sealing.newUsers", "yes"]).code == 64)
    #expect(try root.run(["config", "set", "--default", "sealing.newUsers", "true"]).code == 0)
    let file = try root.payload(.products(2)).path
    let refused = try root.run(["apply", "--user", "new", file])
    #expect(refused.code == 77 && refused.words.contains("key") && refused.output.isEmpty, "\(refused.words)")
    #expect(!FileManager.default.fileExists(atPath: root.path + "/users/new"))
    let made = try root.run(["apply", "--user", "new", "--key-file", key, file])
    #expect(made.code == 0, "\(made.words)")
    #expect(FileManager.default.fileExists(atPath: root.path + "/users/new/user.keys"))
    #expect(try root.run(["stat", "--user", "new"]).code == 77)
    #expect(try root.run(["stat"]).code == 0)
  }
}
