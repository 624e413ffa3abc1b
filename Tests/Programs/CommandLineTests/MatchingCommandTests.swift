import DocumentFormat
import Foundation
import Testing
import Workspace

/// The settings `matching.…`: how they are set, and how codes are read by them.
@Suite(.timeLimit(.minutes(10))) struct MatchingCommandTests {
  private static let cheese =
    #"{"name":"cheese","prefix":"21","pattern":"PPIIIIIVVVVVC","measure":"weight","decimals":3,"unit":"kg"}"#
  /// 1.250 kg of the item 12345.
  private static let weighed = "2112345012506"
  private static let element = "010690123456789210A1|17261231"

  private func root() throws -> TestRoot {
    var payload = Payload()
    payload.product("cheese", #""barcode":"2112345000008""#)
    payload.product("tea", #""barcode":"6901234567892""#)
    payload.product("fan", #""barcode":"KFR-35""#)
    payload.product("junk", #""barcode":"6901""#)
    let root = try TestRoot(answers: [])
    #expect(try root.apply([root.payload(payload)]).code == 0)
    return root
  }

  private func set(_ root: TestRoot, _ arguments: String...) throws {
    let run = try root.run(["config", "set"] + arguments)
    #expect(run.code == 0 && run.words.isEmpty, "\(arguments): \(run.words)")
  }

  private func scan(_ root: TestRoot, _ code: String, _ options: String...) throws -> [String: Any] {
    let run = try root.run(["scan", "--json"] + options + ["--", code])
    #expect(run.words.isEmpty, "\(run.words)")
    return try run.object()
  }

  // MARK: Setting

  @Test func `a good value is stored, shown and unset`() throws {
    let root = try root()
    for (name, value, json) in [
      ("matching.separators", "|<GS>", #""|<GS>""#), ("matching.separators", "[]", #""[]""#),
      ("matching.measures", "de", #""de""#),
      ("matching.measures", "[\"de\", \(Self.cheese)]", "[\"de\",\(Self.cheese)]"),
      ("matching.heads.minimum", "6", "6"), ("matching.heads.digits", "9", "9"),
      ("matching.heads.enabled", "false", "false"), ("matching.suggestions", "20", "20"),
      ("matching.heads.excluded", #"["CODE128", "]A0"]"#, #"["CODE128","]A0"]"#),
    ] {
      for options in [[], ["--default"]] {
        let run = try root.run(["config", "set", name, value, "--json"] + options)
        let line = "{\"name\":\"\(name)\",\"value\":\(json)}\n"
        #expect(run.code == 0 && run.text == line && run.words.isEmpty, "\(run.text) \(run.words)")
        #expect(try root.run(["config", "get", name, "--json"] + options).text == line)
        #expect(try root.run(["config", "list", "--json"] + options).text == line)
        #expect(try root.run(["config", "unset", name] + options).code == 0)
        #expect(try root.run(["config", "get", name] + options).code == 1)
      }
    }
    #expect(try root.run("config", "set", "--string", "matching.separators", "\"|\"").code == 0)
    #expect(try root.run("config", "get", "matching.separators").text == "\"|\"\n")
  }

  @Test func `a bad value is refused with its reason, and nothing changes`() throws {
    let root = try root()
    try set(root, "matching.separators", "|")
    let before = try root.run("config", "list", "--json").text
    for (name, value, reason) in [
      ("matching.separators", "7", "'7'"), ("matching.separators", "a|", "'a'"),
      ("matching.separators", "\u{1B}[31m", "'3'"), ("matching.measures", "nowhere", "no preset 'nowhere'"),
      ("matching.suggestions", "21", "a whole number from 0 to 20"), ("matching.suggestions", "1.5", "from 0 to 20"),
      ("matching.measures", "5", "write a list"), ("matching.measures", #"[{"nam":"x"}]"#, "did you mean 'name'?"),
      ("matching.measures", "[\(Self.cheese),\(Self.cheese.replacing("cheese", with: "ham"))]", "overlap"),
      ("matching.measures", #"[{"name":"\#u{1B}[31m"}]"#, "no valid JSON"),
      ("matching.heads.minimum", "0", "1 to 4096"), ("matching.heads.minimum", "four", "\"four\""),
      ("matching.heads.digits", "7.5", "1 to 4096"), ("matching.heads.digits", "null", "not null"),
      ("matching.heads.enabled", "yes", "true or false"), ("matching.heads.excluded", #"["EAN31"]"#, "EAN31"),
      ("matching.heads.excluded", "{}", "write a list"),
    ] {
      let run = try root.run("config", "set", name, value)
      #expect(run.code == 64 && run.isOrderly && run.output.isEmpty, "\(name) \(value): \(run.code) \(run.words)")
      #expect(run.words.contains("\(name): ") && run.words.contains(reason), "\(run.words)")
      #expect(!run.words.contains("\u{1B}"))
    }
    for name in ["matching.heads.minimum", "matching.heads.enabled"] {
      #expect(try root.run("config", "set", "--string", name, "4").code == 64, "a text is no number")
    }
    #expect(try root.run("config", "list", "--json").text == before)
  }

  @Test func `a name that matching does not know is stored with a warning`() throws {
    let root = try root()
    let near = try root.run("config", "set", "matching.seperators", "x")
    #expect(
      near.code == 0 && near.words.contains("warning") && near.words.contains("did you mean matching.separators?"))
    let far = try root.run("config", "set", "matching.kaleidoscope", "x")
    #expect(far.code == 0 && far.words.contains("matching.heads.excluded"), "\(far.words)")
  }

  @Test func `the help lists every setting`() throws {
    let help = try TestRoot().run("config", "set", "--help").text.split(whereSeparator: \.isWhitespace).joined(
      separator: " ")
    for name in ["separators", "measures", "heads.minimum", "heads.digits", "heads.enabled", "heads.excluded"] {
      #expect(help.contains("matching.\(name)"), "\(name)")
    }
  }

  // MARK: Scanning

  @Test func `a weight inside a number is read by the rules`() throws {
    let root = try root()
    #expect(try scan(root, Self.weighed).text("match") == "none")
    try set(root, "matching.measures", "[\(Self.cheese)]", "--default")
    let answer = try scan(root, Self.weighed)
    #expect(answer.text("match") == "measure" && answer.text("key") == "2112345000008")
    #expect(answer.object("measure").text("rule") == "cheese")
    #expect(answer.object("measure").object("weight").text("unit") == "kg")
    let explained = try root.run("explain", Self.weighed)
    #expect(explained.code == 0 && explained.text.contains("cheese"), "\(explained.text)")
    #expect(try root.run("complete", "--json", Self.weighed).object().object("products")["cheese"] as? Int == 1)
    // A user without rules.
    try set(root, "matching.measures", "[]")
    #expect(try scan(root, Self.weighed).text("match") == "none")
    #expect(try root.run("complete", "--json", Self.weighed).object()["unknown"] as? [String] == [Self.weighed])
  }

  @Test func `separators split element strings`() throws {
    let root = try root()
    #expect(try scan(root, Self.element).object("elements").text("17") == nil)
    try set(root, "matching.separators", "|")
    for arguments in [["scan", "--json"], ["explain", "--json"]] {
      let elements = try root.run(arguments + [Self.element]).object().object("elements")
      #expect(elements.text("10") == "A1" && elements.text("17") == "261231", "\(arguments)")
    }
    let run = try root.run("scan", "--json", input: Data((Self.element + "\n").utf8))
    #expect(try run.object().object("data").text("lot") == "A1")
  }

  @Test func `heads are matched as the settings say`() throws {
    let root = try root()
    let code = "KFR-35/123"
    #expect(try scan(root, code).text("match") == "head")
    try set(root, "matching.heads.minimum", "7")
    #expect(try scan(root, code).text("match") == "none")
    try set(root, "matching.heads.minimum", "6")
    #expect(try scan(root, code).text("match") == "head")
    try set(root, "matching.heads.enabled", "false")
    #expect(try scan(root, code).text("match") == "none")
    try set(root, "matching.heads.enabled", "true")
    try set(root, "matching.heads.excluded", "CODE128")
    #expect(try scan(root, "]C0" + code).text("match") == "none")
    #expect(try scan(root, "]A0" + code).text("match") == "head")
    // A sound GTIN that begins with a short number of the catalogue.
    try set(root, "matching.heads.minimum", "4")
    #expect(try scan(root, "6901000012342").text("match") == "none")
    #expect(try root.run("explain", "6901000012342").text.contains("matching.heads.digits"))
    try set(root, "matching.heads.digits", "4")
    #expect(try scan(root, "6901000012342").text("match") == "head")
  }

  // MARK: What other programs stored

  @Test func `a stored value that cannot be used is an error with the way out`() throws {
    let root = try root()
    let settings = try WorkspaceDirectory(root: root.path).settings(of: "u")
    try settings.change { try $0.set(named: "matching.measures", to: .text("nowhere")) }
    for command in [["scan"], ["scan", "--json"], ["explain"], ["complete"], ["complete", "--json"]] {
      let run = try root.run(command + [Self.weighed])
      #expect(run.code == 65 && run.isOrderly && run.output.isEmpty, "\(command): \(run.code) \(run.words)")
      #expect(run.words.contains("users/u/settings.log") && run.words.contains("no preset 'nowhere'"), "\(run.words)")
      #expect(run.words.contains("'catalogctl config unset matching.measures --user u'"), "\(run.words)")
    }
    #expect(try root.run("config", "list").text.contains("nowhere"))
    #expect(try root.run("get", "--barcode", "6901").code == 0, "other commands go on")
    #expect(try root.run("config", "unset", "matching.measures", "--user", "u").code == 0)
    #expect(try root.run("scan", "6901").code == 0)
  }

  @Test func `a damaged default store stops nobody who is named, and is told`() throws {
    let root = try root()
    try set(root, "matching.heads.enabled", "false")
    try Data("no settings".utf8).write(to: URL(fileURLWithPath: root.path + "/default/settings.log"))
    let run = try root.run("scan", "--user", "u", "KFR-35/1")
    #expect(run.code == 1 && run.words.contains("default store do not count"), "\(run.words)")
    #expect(try root.run("scan", "--user", "u", "KFR-35").code == 0)
    // The user's own settings are needed.
    try Data("no settings".utf8).write(to: URL(fileURLWithPath: root.path + "/users/u/settings.log"))
    let own = try root.run("scan", "--user", "u", "KFR-35")
    #expect(own.code == 65 && own.isOrderly && own.words.contains("users/u/settings.log"), "\(own.words)")
  }
}
