import Foundation
import Testing
import WaitingTestSupport

/// `log --follow`, while other processes commit.
@Suite(.timeLimit(.minutes(10))) struct FollowCommandTests {
  private let root: TestRoot

  init() throws { root = try TestRoot(answers: []) }

  /// A running `log --follow` that has begun.
  private func follow(_ options: String..., interval: Double = 0.02) async throws -> Conversation {
    let words = try root.folder.file("words")
    let arguments = ["log", "--follow", "--interval", "\(interval)"] + options
    let follower = try Conversation(arguments, root: root.path, words: words)
    try await eventually("it follows") { try self.words().contains("following the commits of u") }
    return follower
  }

  /// What the command wrote to standard error.
  private func words() throws -> String {
    String(decoding: try Data(contentsOf: root.folder.url("words")), as: UTF8.self)
  }

  /// Commits a product as another process, and checks that it succeeded.
  private func commit(_ id: String, cursor: String, full: Bool = false) throws {
    var payload = Payload(cursor: cursor)
    payload.product(id, #""barcode":"c-\#(id)""#)
    let file = try root.payload(payload, "\(id).json")
    let run = try root.run(["apply"] + (full ? ["--full", "--accept-loss"] : []) + [file.path])
    #expect(run.code == 0, "\(run.words)")
  }

  private func end(_ follower: Conversation, _ signal: Int32 = SIGTERM) -> Int32 {
    kill(follower.process.processIdentifier, signal)
    return follower.end()
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `each new commit of another process is a line of log, until a signal`(signal: Int32) async throws {
    try commit("a", cursor: "monday")
    let follower = try await follow("--json")
    for (id, cursor) in [("b", "tuesday"), ("c", "wednesday")] {
      try commit(id, cursor: cursor)
      let line = try #require(follower.line())
      #expect(try line == root.run("log", "--json").lines.first)
      #expect(line.contains(cursor))
    }
    // One that moves nothing but the cursor is a commit too.
    _ = try root.apply([root.payload(Payload(cursor: "thursday"), "cursor.json")])
    #expect(try follower.line() == root.run("log", "--json").lines.first)
    #expect(end(follower, signal) == 0)
    #expect(follower.line() == nil)
    let message = try words()
    #expect(!message.contains("cannot be listed") && !message.contains("replaced"), "\(message)")
  }

  @Test func `people get a line for each commit, with dashes for what is not known`() async throws {
    try commit("a", cursor: "monday")
    let follower = try await follow()
    try commit("b", cursor: #"tues\u001b[31mday"#)
    let line = try #require(follower.line())
    #expect(line.hasPrefix("commit 2  ") && line.contains("  incremental  products +1 −0  relations +0 −0  "))
    #expect(!line.contains("\u{1B}"))
    try commit("c", cursor: "wednesday", full: true)
    let full = try #require(follower.line())
    #expect(full.hasPrefix("commit 3  ") && full.contains("  full  products +1 −–  relations +0 −–  "))
    #expect(full.hasSuffix("wednesday"))
    #expect(end(follower) == 0)
  }

  @Test func `commits before a full update, and around a compaction, are each a line`() async throws {
    try commit("a", cursor: "1")
    let follower = try await follow("--json", interval: 0.3)
    func expectCommits(_ numbers: ClosedRange<Int>) throws {
      for number in numbers {
        let line = try #require(follower.line())
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object.number("sequence") == number && object.text("cursor") == "\(number)")
        #expect(object["previous"] as? Bool == false)
        #expect(object.text("mode") == (number == 4 ? "full" : "incremental"))
      }
    }
    for number in 2...4 { try commit("p\(number)", cursor: "\(number)", full: number == 4) }
    try expectCommits(2...4)
    for number in 5...6 { try commit("p\(number)", cursor: "\(number)") }
    #expect(try root.run("compact").code == 0)
    try commit("p7", cursor: "7")
    try expectCommits(5...7)
    #expect(end(follower) == 0)
    #expect(follower.line() == nil)
  }

  @Test func `a catalogue that does not exist yet is waited for, and nothing is made on the way`() async throws {
    let other = try TestRoot()
    let words = try other.folder.file("words")
    let arguments = ["log", "--follow", "--interval", "0.02", "--user", "new", "--json"]
    let follower = try Conversation(arguments, root: other.path, words: words)
    try await eventually("it follows") {
      try String(decoding: Data(contentsOf: words), as: UTF8.self).contains("following the commits of new")
    }
    #expect(!other.exists)
    let file = try other.payload(.products(2))
    #expect(try other.run("apply", "--user", "new", file.path).code == 0)
    #expect(try follower.line() == other.run("log", "--json", "--user", "new").lines.first)
    #expect(end(follower) == 0)
  }

  @Test func `a user who signs in changes nothing for it`() async throws {
    try commit("a", cursor: "monday")
    let follower = try await follow("--json")
    #expect(try root.run("login", "other").code == 0)
    try commit("x", cursor: "of other")
    #expect(try root.run("login", "u").code == 0)
    try commit("b", cursor: "tuesday")
    let line = try #require(follower.line())
    #expect(line.contains("tuesday") && !line.contains("of other"))
    #expect(end(follower) == 0)
  }

  @Test func `a backup that is put back is a warning and its last commit`() async throws {
    let file = root.folder.url("root/users/u/catalogue.log")
    try commit("a", cursor: "monday")
    let backup = try Data(contentsOf: file)
    try commit("b", cursor: "tuesday")
    let follower = try await follow("--json")
    try backup.write(to: file, options: .atomic)
    let line = try #require(follower.line())
    #expect(line.contains("monday"))
    try commit("c", cursor: "wednesday")
    #expect(follower.line()?.contains("wednesday") == true)
    #expect(end(follower) == 0)
    #expect(try words().contains("another file replaced the catalogue"))
  }

  private enum Damage: CaseIterable { case removed, overwritten, truncated }

  @Test(arguments: Damage.allCases) private func `damage ends it with 65 and advice`(damage: Damage) async throws {
    let file = root.folder.url("root/users/u/catalogue.log")
    try commit("a", cursor: "monday")
    try commit("b", cursor: "tuesday", full: true)
    let follower = try await follow()
    switch damage {
    // The generation before it is kept, so the file is missing.
    case .removed: try FileManager.default.removeItem(at: file)
    case .overwritten: try Data(repeating: 7, count: 20_000).write(to: file, options: .atomic)
    case .truncated: try FileHandle(forWritingTo: file).truncate(atOffset: 0)
    }
    #expect(follower.end() == 65 && follower.line() == nil)
    let message = try words()
    #expect(message.contains("catalogue.log") && message.contains("--repair"), "\(message)")
    // It does not begin with a damaged one either.
    let run = try root.run("log", "--follow")
    #expect(run.code == 65 && run.output.isEmpty && run.isOrderly)
  }

  @Test func `a reader that is gone ends it at the next commit`() async throws {
    try commit("a", cursor: "monday")
    let messages = try root.folder.file("words")
    let process = Program.process(
      ["log", "--follow", "--interval", "0.02"], root: root.path, shell: #"{ "$@"; echo "code $?" >&2; } | head -n 1"#)
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try FileHandle(forWritingTo: messages)
    try process.run()
    try await eventually("it follows") { try self.words().contains("following the commits of u") }
    var number = 0
    while process.isRunning {
      number += 1
      try commit("p\(number)", cursor: "\(number)")
    }
    process.waitUntilExit()
    let message = try words()
    #expect(["code 141", "code 13", "code 74"].contains { message.contains($0) }, "\(message)")
  }

  @Test(arguments: [
    ["--interval", "1"], ["--follow", "--interval", "0"], ["--follow", "--interval", "-1"],
    ["--follow", "--interval", "nan"], ["--follow", "--interval", "inf"], ["--follow", "--interval", "86401"],
    ["--follow", "--interval", "soon"], ["--follow", "2"],
  ])
  func `options that make no sense are refused`(options: [String]) throws {
    let run = try root.run(["log"] + options)
    #expect(run.code == 64 && run.output.isEmpty && run.isOrderly, "\(run.words)")
  }

  @Test func `nobody to follow is a usage error`() throws {
    let run = try TestRoot().run("log", "--follow")
    #expect(run.code == 64 && run.words.contains("nobody is signed in"), "\(run.words)")
    #expect(try root.run("log", "--follow", "--user", "").code == 64)
  }
}
