import Foundation
import LogStore
import Testing

/// One test for each exit code of the contract, by the ways that lead there.
@Suite struct ExitCodeTests {
  private func filled() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(3))])
    return root
  }

  @Test func `1: the answer is no`() throws {
    let root = try filled()
    let questions = [
      ["scan", "x"], ["scan", "c0", "x"], ["get", "--id", "x"], ["get", "--barcode", "x"], ["find", "x"],
      ["search", "x"], ["search", "product", "--brand", "x"], ["components", "x"],
      ["sets-with", "p0"], ["explain", "x"], ["dump", "--at", "9"], ["get", "--id", "P0"],
      ["products", "--where", "weight > 1"], ["products", "--at", "9"],
      ["products", "--group-by", "brand", "--where", "false"],
    ]
    for question in questions { #expect(try root.run(question).code == 1, "\(question)") }
  }

  @Test func `64: usage`() throws {
    let root = try filled()
    let mistakes = [
      ["--nope"], ["nope"], ["dump", "--nope"], ["dump", "--at", "x"], ["dump", "--at", "-1"], ["get"],
      ["get", "--id", "1", "--barcode", "1"], ["sync"], ["sync", "--url", "http://127.0.0.1/", "--from", "x"],
      ["sync", "--from", "x", "--threshold", "0"], ["sync", "--from", "x", "--threshold", "x"], ["apply"],
      ["products", "--where", "wieght > 1"], ["products", "x"], ["find", "a", "--limit", "0"],
      ["search", "a", "--limit", "0"], ["search", "a", "--where", "wieght > 1"],
      ["find", "a", "--field", "weight"], ["components"], ["sets-with"], ["login"],
      ["login", "a", "b"], ["explain"], ["compact", "--wait", "-1"], ["compact", "--wait", "nan"],
      ["sync", "--url", "nonsense"], ["sync", "--url", "ftp://127.0.0.1/"], ["apply", "x", "--max-loss", "2"],
      ["serve"], ["serve", "--products", "x", "--port", "70000"], ["serve", "--products", "x", "--watch", "0"],
      ["stat", "--json", "x"], ["users", "--user"],
      ["import", "x", "--cursor", String(repeating: "7", count: 1025)],
    ]
    for mistake in mistakes {
      let run = try root.run(mistake)
      #expect(run.code == 64, "\(mistake): \(run.words)")
      #expect(!run.words.isEmpty && run.output.isEmpty, "\(mistake)")
    }
  }

  @Test func `66: an input file cannot be read`() throws {
    let root = try filled()
    let missing = root.folder.path + "/missing"
    for command in [
      ["apply", missing], ["sync", "--from", missing], ["apply", root.folder.path],
      ["sync", "--from", root.folder.path], ["serve", "--port", "0", "--products", missing],
      ["serve", "--port", "0", "--products", root.folder.path],
      ["sync", "--url", "https://127.0.0.1:1/", "--ca-file", missing, "--attempts", "1"],
    ] {
      let run = try root.run(command)
      #expect(run.code == 66, "\(command): \(run.words)")
      #expect(run.isOrderly && run.words.contains(root.folder.path), "\(run.words)")
    }
    // A file that is missing is told before a store is made.
    let empty = try TestRoot()
    #expect(try empty.run("sync", "--user", "u", "--from", missing).code == 66)
    #expect(try empty.run("apply", "--user", "u", missing).code == 66)
    #expect(!empty.exists)
  }

  @Test(arguments: [["scan"], ["complete"], ["verify", "--batch"], ["apply", "-"], ["sync", "--from", "-"]])
  func `66: standard input cannot be read`(command: [String]) throws {
    let root = try filled()
    for shell in [#"exec "$@" </"#, #"exec "$@" <&-"#] {
      let run = try root.run(command, shell: shell)
      #expect(run.code == 66, "\(run.words)")
      #expect(run.isOrderly && run.words.contains("standard input"), "\(run.words)")
    }
  }

  @Test func `69: the server cannot be reached, or answers with an error`() throws {
    let root = try filled()
    let before = try root.digest()
    let server = try HTTPServer([.init(status: "404 Not Found"), .init(status: "500 Oops"), .init(status: "401 No")])
    for url in [server.url, server.url, server.url, "http://127.0.0.1:1/", "http://nowhere.invalid/"] {
      let run = try root.run("sync", "--url", url, "--attempts", "1")
      #expect(run.code == 69, "\(run.words)")
      #expect(run.words.contains(url) && run.isOrderly, "\(run.words)")
      #expect(run.output.isEmpty)
    }
    // A page instead of an answer is bad data.
    let page = try HTTPServer([.init(body: Data("<html>".utf8))])
    #expect(try root.run("sync", "--url", page.url, "--attempts", "1").code == 65)
    #expect(try root.digest() == before)
  }

  @Test func `73: a directory cannot be created`() throws {
    let root = try TestRoot()
    _ = try root.folder.file("root")
    let inner = root.path + "/inner"
    for arguments in [["login", "u", "--root", inner], ["apply", "--user", "u", "--root", inner, "/dev/null"]] {
      let run = try root.run(arguments)
      #expect(run.code == 73, "\(run.words)")
      #expect(run.words.contains(root.path) && run.isOrderly, "\(run.words)")
    }
    #expect(try root.run("login", "u", "--root", "/proc/nothing").code == 73)
    // Nor is there anything to read where a file stands in the way.
    for command in [
      ["users"], ["whoami"], ["stat", "--user", "u"], ["dump", "--user", "u"], ["verify", "--user", "u"],
    ] {
      let run = try root.run(command + ["--root", root.path])
      #expect(run.code == 73 && run.words.contains(root.path) && run.isOrderly, "\(command): \(run.words)")
    }
  }

  @Test func `74: the disk is full`() throws {
    let root = try filled()
    let before = try (root.digest(), root.dump())
    // A file may not grow past 8 KiB. The signal that the shell leaves at its default does not end the program.
    let large = try root.payload(.products(2000, cursor: "2026-09-09"))
    for arguments in [["apply", large.path], ["apply", "--full", large.path], ["compact"]] {
      let run = try root.run(arguments, shell: #"ulimit -f 16; exec "$@""#)
      #expect(run.code == 74 || (arguments == ["compact"] && run.code == 0), "\(arguments): \(run.code) \(run.words)")
      #expect(run.isOrderly, "\(run.words)")
      #expect(!run.text.contains("committed"))
      #expect(try root.digest() == before.0)
      #expect(try root.dump() == before.1)
    }
    // Afterwards all is well.
    #expect(try root.run("apply", large.path).lines == ["begin 2", "committed 2 incremental 2026-09-09"])
  }

  @Test func `74: standard output cannot be written`() throws {
    let root = try filled()
    for arguments in [
      ["dump"], ["scan", "c0"], ["stat", "--json"], ["verify"], ["users"], ["find", "product"], ["search", "product"],
      ["products"], ["products", "--count"], ["products", "--group-by", "brand", "--csv"],
      ["--help"], ["--version"], ["help", "apply"], ["stat", "--help"],
    ] {
      let run = try root.run(arguments, shell: #"exec "$@" >/dev/full"#)
      #expect(run.code == 74, "\(arguments): \(run.words)")
      #expect(run.words.contains("output"), "\(run.words)")
    }
    #expect(try root.run("dump", shell: #"exec "$@" >&-"#).code == 74)
  }

  @Test func `75: another process is writing`() throws {
    let root = try filled()
    let location = try #require(try StoreLocation.existing(root.path + "/users/u", name: "catalogue"))
    let first = try StoreWriter(location, schema: Schema([]))
    let second = try root.run("compact", "--wait", "0")
    #expect(second.code == 75)
    #expect(second.words.contains("try again"))
    #expect(try root.run("sync", "--from", "/dev/null", "--wait", "0.2").code == 75)
    // Readers do not wait.
    #expect(try root.run("scan", "c0").code == 0)
    #expect(try root.digest().hasPrefix("digest "))
    // Another user's store is another lock.
    #expect(try root.run("apply", "--user", "v", "--wait", "0", root.folder.path + "/payload.json").code == 0)
    let patient = try Conversation(
      ["apply", "--wait", "20", root.payload(.products(9, cursor: "later")).path], root: root.path)
    #expect(try root.run("apply", "-", "--wait", "0", input: Payload.products(4).json).code == 75)
    first.close()
    #expect(patient.line() == "begin 2")
    #expect(patient.line() == "committed 2 incremental later")
    #expect(patient.end() == 0)
  }

  @Test(.disabled(if: isRoot, "the superuser may read everything")) func `77: permission`() throws {
    let root = try filled()
    let manager = FileManager.default
    for (path, mode) in [("users", 0o700), ("users/u", 0o700), ("users/u/catalogue.log", 0o600)] {
      let full = root.path + "/" + path
      try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: full)
      for command in [["dump"], ["verify"], ["apply", root.folder.path + "/payload.json"]] {
        let run = try root.run(command)
        #expect(run.code == 77, "\(path) \(command): \(run.words)")
        #expect(run.words.contains(path), "\(run.words)")
      }
      try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: full)
    }
    #expect(try root.run("dump").code == 0)
  }

  private static let isRoot = NSUserName() == "root"

  @Test func `links inside the root are not followed`() throws {
    let root = try filled()
    let outside = root.folder.path + "/outside"
    try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: root.path + "/users/v", withDestinationPath: outside)
    for arguments in [["dump"], ["apply", root.folder.path + "/payload.json"], ["verify"]] {
      let run = try root.run(arguments + ["--user", "v"])
      #expect(run.code != 0 && run.isOrderly, "\(arguments)")
      #expect(run.words.contains("users/v"), "\(run.words)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: outside).isEmpty)
  }
}
