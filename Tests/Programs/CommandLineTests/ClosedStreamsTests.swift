import Foundation
import Testing

/// Standard input, output and error that are closed when the program starts: no file may get their numbers.
@Suite struct ClosedStreamsTests {
  private static let closed = #"exec "$@" <&- >&- 2>&-"#

  /// Commands that write, in an order in which each has something to do.
  private static let commands: [[String]] = [
    ["login", "u"], ["apply", "FILE"], ["sync", "--from", "NEXT"], ["config", "set", "a", "1"],
    ["config", "unset", "a"], ["fields", "set", "price", "--type", "decimal"], ["fields", "unset", "price"],
    ["documents", "put", "members", "--from", "DOCUMENT"],
    ["documents", "delete", "members", "d"], ["queue", "add", "{}"], ["queue", "pause"], ["queue", "resume"],
    ["queue", "retry", "--parked"], ["queue", "clear"],
    ["forget", "--uploads", "--misses", "--sessions", "--documents", "members", "--yes"], ["rollback", "1"],
    ["compact"], ["export", "ROWS"], ["import", "ROWS"], ["cache", "clear"], ["backup", "BACKUP"],
    ["restore", "BACKUP", "--force"], ["verify", "--repair"], ["users", "remove", "v", "--yes"],
    ["seal", "--key-file", "KEY"], ["keys", "add", "--key-file", "KEY", "--new-passphrase-file", "PHRASE"],
    ["keys", "remove", "ID"], ["rekey", "--passphrase-file", "PHRASE", "--new-key-file", "KEY"],
    ["unseal", "--key-file", "KEY"], ["logout"],
  ]

  @Test func `every writing command leaves sound stores`() throws {
    let root = try TestRoot()
    var names = [
      "FILE": try root.payload(.products(3), "1").path,
      "NEXT": try root.payload(.products(4, cursor: "later"), "2").path,
      "DOCUMENT": try root.folder.file("document", Data(#"{"id":"d"}"#.utf8)).path,
      "ROWS": root.folder.path + "/rows.csv", "BACKUP": root.folder.path + "/backup",
      "KEY": try root.folder.secret("key", Data(repeating: 1, count: 32)),
      "PHRASE": try root.folder.secret("phrase", Data("correct horse".utf8)),
    ]
    _ = try root.run("apply", "--user", "v", names["FILE"] ?? "")
    for command in Self.commands {
      let run = try root.run(command.map { names[$0] ?? $0 }, shell: Self.closed)
      // What is asked for cannot be printed; what only reports a change may be dropped.
      #expect(run.code == (command[0] == "verify" ? 74 : 0), "\(command)")
      // The file that was closed is not the test's either.
      #expect(run.output.isEmpty && run.words.isEmpty, "\(command)")
      for user in ["u", "v"] {
        let keys = try root.run("keys", "list", "--user", user, "--json").objects()
        names["ID"] = keys.first?.text("id") ?? names["ID"]
        let isPhrase = keys.count == 1 && keys[0].text("kind") == "passphrase"
        let options = isPhrase ? ["--passphrase-file", names["PHRASE"] ?? ""] : ["--key-file", names["KEY"] ?? ""]
        let check = try root.run(["verify", "--user", user] + options)
        #expect(check.code == 0, "\(command): \(check.words)")
      }
    }
    #expect(try root.run("stat", "--user", "u", "--json").object().number("products") == 3)
    #expect(try root.run("users", "--json").objects().map { $0.text("id") } == ["u"])
    #expect(try root.run("whoami").code == 1)
  }

  @Test(arguments: ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- 2>&-"])
  func `messages do not go into a store, whichever is closed`(redirection: String) throws {
    let root = try TestRoot(answers: [])
    let file = try root.payload(.products(3)).path
    let missing = root.folder.path + "/missing"
    #expect(try root.run("apply", file, shell: "exec \"$@\" \(redirection)").code == 0)
    // An error that is told while the store is open.
    #expect(try root.run("apply", file, missing, shell: "exec \"$@\" \(redirection)").code == 66)
    #expect(try root.digest().hasPrefix("digest "))
  }

  @Test func `what cannot be read or printed is an error with its reason`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    let closed = try root.run("dump", shell: #"exec "$@" >&-"#)
    #expect(closed.code == 74 && closed.words.contains("cannot write the output: standard output is closed"))
    let full = try root.run("dump", shell: #"exec "$@" >/dev/full"#)
    #expect(full.code == 74 && full.words.contains("cannot write the output: the disk is full"), "\(full.words)")
    let pipe = try root.run("dump", shell: #"trap '' PIPE; { "$@"; echo "code $?" >&2; } | true"#)
    #expect(pipe.words.contains("broken pipe") == pipe.words.contains("code 74"), "\(pipe.words)")
    let input = try root.run("scan", shell: #"exec "$@" <&-"#)
    #expect(input.code == 66 && input.words.contains("standard input is closed"), "\(input.words)")
  }

  @Test(arguments: [
    (["sync", "--from", "FILE"], "commit 1 is durable"),
    (["import", "ROWS"], "commit 1 is durable"), (["queue", "add", "{}"], "was added and is durable"),
    (["queue", "clear"], "0 uploads removed"), (["queue", "pause", "--json"], "the queue is paused"),
    (["documents", "put", "members", "--from", "DOCUMENT"], "1 document put"),
    (["config", "set", "a", "1", "--json"], "a is set"), (["login", "v", "--json"], "v is signed in"),
    (["cache", "clear", "--json"], "removed"),
  ])
  func `a report that cannot be written says that the change was made`(words: [String], change: String) throws {
    let root = try TestRoot(answers: [])
    let files = [
      "FILE": try root.payload(.products(3)).path,
      "DOCUMENT": try root.folder.file("document", Data(#"{"id":"d"}"#.utf8)).path,
      "ROWS": try root.folder.file("rows.csv", Data("id,name\na,b\n".utf8)).path,
    ]
    var scripts = [#""$@" >/dev/full; echo "code $?" >&2"#]
    if change.contains("added") { scripts.append(#"{ sleep 1; "$@"; echo "code $?" >&2; } | true"#) }
    for script in scripts {
      let run = try root.run(words.map { files[$0] ?? $0 }, shell: script)
      #expect(run.words.contains("code 74") && run.words.contains("cannot write the output"), "\(run.words)")
      #expect(run.words.contains(change) && run.words.contains("do not repeat the command"), "\(run.words)")
      #expect(!run.words.contains("try again"), "\(run.words)")
    }
  }

  @Test func `the message after the first of several files names those that are left`() throws {
    let root = try TestRoot(answers: [])
    let files = try (1...3).map { try root.payload(.products($0, cursor: "\($0)"), "\($0).json").path }
    for words in [["sync", "--full"] + files.flatMap { ["--from", $0] }, ["apply", "--full"] + files] {
      let run = try root.run(words + ["--json", "--accept-loss"], shell: #"exec "$@" >/dev/full"#)
      #expect(run.code == 74, "\(run.words)")
      if words[0] == "sync" {
        #expect(run.words.contains("commit 1 is durable") && run.words.contains("the 2 files after it"), "\(run.words)")
      } else {
        // Nothing was begun: its announcement could not be written.
        #expect(run.words.contains("free some space and try again"), "\(run.words)")
      }
    }
    #expect(try root.run("log", "--json").objects().map { $0.number("sequence") } == [1])
  }

  @Test func `an answer is kept even if the report cannot be written`() throws {
    let root = try TestRoot(answers: [])
    let server = try HTTPServer([.init(body: Data(wrapping: .products(1)))])
    let kept = root.folder.path + "/kept.json"
    let run = try root.run("sync", "--url", server.url, "--keep-answer", kept, shell: #"exec "$@" >/dev/full"#)
    #expect(run.code == 74 && run.words.contains("commit 1 is durable"), "\(run.words)")
    #expect(FileManager.default.fileExists(atPath: kept))
  }
}
