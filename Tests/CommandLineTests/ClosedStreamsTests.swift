import Foundation
import Testing

/// Standard input, output and error that are closed when the program starts: no file may get their numbers.
@Suite struct ClosedStreamsTests {
  private static let closed = #"exec "$@" <&- >&- 2>&-"#

  /// Commands that write, in an order in which each has something to do.
  private static let commands: [[String]] = [
    ["login", "u"], ["apply", "FILE"], ["sync", "--from", "NEXT"], ["config", "set", "a", "1"],
    ["config", "unset", "a"], ["documents", "put", "members", "--from", "DOCUMENT"],
    ["documents", "delete", "members", "d"], ["queue", "add", "{}"], ["queue", "pause"], ["queue", "resume"],
    ["queue", "retry", "--parked"], ["queue", "clear"], ["rollback", "1"], ["compact"], ["export", "ROWS"],
    ["import", "ROWS"], ["cache", "clear"], ["verify", "--repair"], ["users", "remove", "v", "--yes"], ["logout"],
  ]

  @Test func `every writing command leaves sound stores`() throws {
    let root = try TestRoot()
    let names = [
      "FILE": try root.payload(.products(3), "1").path,
      "NEXT": try root.payload(.products(4, cursor: "later"), "2").path,
      "DOCUMENT": try root.folder.file("document", Data(#"{"id":"d"}"#.utf8)).path,
      "ROWS": root.folder.path + "/rows.csv",
    ]
    _ = try root.run("apply", "--user", "v", names["FILE"] ?? "")
    for command in Self.commands {
      let run = try root.run(command.map { names[$0] ?? $0 }, shell: Self.closed)
      // What is asked for cannot be printed; what only reports a change may be dropped.
      #expect(run.code == (command[0] == "verify" ? 74 : 0), "\(command)")
      // The file that was closed is not the test's either.
      #expect(run.output.isEmpty && run.words.isEmpty, "\(command)")
      for user in ["u", "v"] {
        let check = try root.run("verify", "--user", user)
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
}
