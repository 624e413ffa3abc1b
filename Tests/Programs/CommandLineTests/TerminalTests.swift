import Foundation
import RandomTestSupport
import Testing

/// What people see: tables that fit, deleted products that are marked, directories that are refused.
@Suite struct TerminalTests {
  private func root() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    var payload = Payload.products(2, name: String(repeating: "long name ", count: 20))
    payload.product("gone", #""barcode":"c9","name":"away","delFlag":1"#)
    payload.relation("p0", "gone")
    payload.relation("p0", "never")
    _ = try root.apply([root.payload(payload)])
    return root
  }

  /// Widths that a terminal may tell: impossible ones, the narrowest, and around the 20 columns that a table has at
  /// least.
  static let widths = depth == 1 ? [-1, 0, 1, 2, 3, 7, 12, 19, 20, 21, 28, 40] : [-1, 0] + Array(1...40)

  @Test(arguments: [40, 60, 80]) func `tables shrink to the terminal`(columns: Int) throws {
    let root = try root()
    for command in [
      ["find", "long"], ["get", "--id", "p0"], ["components", "p0"], ["explain", "c0"], ["users"], ["products"],
      ["products", "--columns", "id,name,weight"], ["products", "--group-by", "name", "--sum", "weight"],
    ] {
      let run = try root.run(command, shell: "COLUMNS=\(columns) exec \"$@\"")
      #expect(run.code == 0)
      for line in run.lines { #expect(line.count <= columns, "\(command): \(line)") }
    }
    // Where nobody says how wide it is, nothing is cut further.
    #expect(try root.run("find", "long", shell: #"unset COLUMNS; exec "$@""#).lines.contains { $0.count > 60 })
  }

  @Test func `products that were sent as deleted are marked, and missing everywhere`() throws {
    let root = try root()
    #expect(try root.run("get", "--id", "gone").text.contains("deleted: no scan finds this product"))
    #expect(try root.run("find", "away").text.contains("[deleted] away"))
    #expect(try root.run("scan", "c9").code == 1)
    let stat = try root.run("stat", "--json").object()
    #expect(stat.number("deletedProducts") == 1 && stat.number("danglingComponents") == 2)
    let components = try root.run("components", "p0", "--json").object().objects("components")
    #expect(components.count == 2 && components.allSatisfy { $0["product"] is NSNull })
    let words = try root.run("components", "p0").text
    #expect(words.contains("missing: marked as deleted") && words.contains("missing from the catalogue"))
    // The set is open, and lacks the same two.
    let lacks = try root.run("complete", "--json", "c0").object()
    #expect(lacks.object("faults")["p0"] as? [String] != nil)
    #expect((lacks.object("faults")["p0"] as? [String])?.count == 2)
  }

  @Test func `a payload of the queue may come from standard input by name`() throws {
    let root = try root()
    let id = try root.run("queue", "add", "-", "--json", input: Data(#"{"a":1}"#.utf8)).object().text("id")
    #expect(try root.run("queue", "show", id ?? "").object().object("payload").number("a") == 1)
  }

  @Test func `a user's directory that is a link is reported as refused`() throws {
    let root = try root()
    let outside = root.folder.path + "/outside"
    try FileManager.default.createDirectory(atPath: outside, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(atPath: root.path + "/users/v", withDestinationPath: outside)
    let users = try root.run("users", "--json")
    #expect(try users.code == 0 && users.objects().map { $0.text("id") } == ["u"])
    #expect(users.words.contains("refused") && users.words.contains("users/v"), "\(users.words)")
    for command in [["dump"], ["stat"], ["login", "v"], ["apply", root.folder.path + "/payload.json"]] {
      let run = try root.run(command + (command[0] == "login" ? [] : ["--user", "v"]))
      #expect(run.code == 77 && run.words.contains("symbolic link"), "\(command): \(run.code) \(run.words)")
    }
  }

  @Test func `tables and progress are drawn on a terminal of any width`() throws {
    let root = try root()
    let answer = try root.payload(.products(2, cursor: "later", name: "long")).path
    for columns in Self.widths {
      for command in [
        ["find", "long"], ["products", "--columns", "weight,name"], ["stat"], ["log"], ["users"],
        ["documents", "list"], ["queue", "list"],
      ] {
        let run = try root.run(command, shell: "COLUMNS=\(columns) exec \"$@\"")
        #expect(run.isOrderly && run.code == 0, "\(columns) \(command): \(run.words)")
      }
      let sync = try root.run(
        "sync", "--from", answer, "--full", "--progress", shell: "COLUMNS=\(columns) exec \"$@\"")
      #expect(sync.isOrderly && sync.code == 0, "\(columns): \(sync.words)")
      if columns < 1 { continue }
      for line in sync.words.split(separator: "\u{1B}[K") where !line.contains("catalogctl:") {
        #expect(line.trimmingCharacters(in: .whitespacesAndNewlines).count < columns, "\(columns): \(line)")
      }
    }
  }
}
