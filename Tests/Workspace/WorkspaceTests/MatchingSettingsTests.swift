import Barcodes
import Catalog
import DocumentFormat
import Testing

@testable import Workspace

@Suite struct MatchingSettingsTests {
  private let root = TemporaryRoot()

  private func value(_ json: String) throws -> DocumentValue { try DocumentValue(json: json) }

  private func store(_ name: String, _ json: String, of id: String? = nil) throws {
    try root.directory.settings(of: id).change { try $0.set(named: name, to: value(json)) }
  }

  private func refusal(_ name: MatchingSettings.Name, _ value: DocumentValue) -> String? {
    var settings = MatchingSettings()
    do throws(MatchingSettingsError) { try settings.set(name, to: value) } catch {
      #expect(settings == MatchingSettings(), "nothing changed")
      #expect(error.name == name && error.store == nil && error.description.hasPrefix("\(name.rawValue): "))
      return error.reason
    }
    return nil
  }

  private static let cheese = """
    {"name":"cheese","prefix":"21","pattern":"PPIIIIIVVVVVC","measure":"weight","decimals":3,"unit":"kg"}
    """

  // MARK: Values

  @Test func `without a setting everything has its default`() throws {
    #expect(MatchingSettings().options == MatchingOptions())
    #expect(try MatchingOptions(of: "ana", in: root.directory) == MatchingOptions())
    #expect(try MatchingOptions(of: nil, in: root.directory) == MatchingOptions())
    #expect(!root.exists(""), "reading creates nothing")
    let heads = MatchingOptions().heads
    #expect(heads.isEnabled && heads.minimumLength == 4 && heads.minimumDigits == 7 && heads.excludedSymbologies == [])
    #expect(MatchingOptions().scan.separators == [] && MatchingOptions().measures.isEmpty)
  }

  @Test func `each setting is read`() throws {
    try store("matching.separators", #""|<GS>""#)
    try store("matching.measures", "[\"de\", \(Self.cheese)]")
    try store("matching.heads.minimum", "6")
    try store("matching.heads.digits", "9.0")
    try store("matching.heads.enabled", "false")
    try store("matching.heads.excluded", #"["CODE128", "]A0", "label-type-qrcode"]"#)
    let options = try MatchingOptions(of: "ana", in: root.directory)
    #expect(options.scan.separators == ["<GS>", "|"])
    #expect(options.measures.rules.last?.name == "cheese" && options.measures.rules.count > 1)
    #expect(options.heads.minimumLength == 6 && options.heads.minimumDigits == 9 && !options.heads.isEnabled)
    #expect(options.heads.excludedSymbologies == ["C", "A", "Q"])
  }

  @Test func `a user's setting counts more than the default store's, each for itself`() throws {
    try store("matching.separators", #""|""#)
    try store("matching.heads.minimum", "6")
    try store("matching.measures", #""de""#)
    try store("matching.separators", #""""#, of: "ana")
    try store("matching.measures", "[]", of: "ana")
    try store("matching.heads.digits", "1", of: "ana")
    let ana = try MatchingOptions(of: "ana", in: root.directory)
    #expect(ana.scan.separators == [] && ana.measures.isEmpty, "empty is a value")
    #expect(ana.heads.minimumLength == 6 && ana.heads.minimumDigits == 1)
    let bob = try MatchingOptions(of: "bob", in: root.directory)
    #expect(bob.scan.separators == ["|"] && !bob.measures.isEmpty && bob.heads.minimumDigits == 7)
    #expect(try MatchingOptions(of: nil, in: root.directory) == bob)
  }

  @Test func `a single name stands for a list of it`() throws {
    var (one, list) = (MatchingSettings(), MatchingSettings())
    try one.set(.measures, to: .text("de"))
    try list.set(.measures, to: .array([.text("de")]))
    #expect(one == list && one.measures?.isEmpty == false)
    try one.set(.excludedSymbologies, to: .text("EAN13"))
    #expect(one.excludedSymbologies == ["E"])
  }

  // MARK: Invalid values

  @Test(
    arguments: [
      (.separators, "5", "not 5"), (.separators, "null", "not null"), (.separators, #"["|"]"#, "write a text"),
      (.separators, #""|7""#, "'7'"), (.separators, #""abc""#, "'a'"),
      (.minimumHeadLength, "0", "1 to 4096"), (.minimumHeadLength, "4097", "1 to 4096"),
      (.minimumHeadLength, "-4", "1 to 4096"), (.minimumHeadLength, "4.5", "4.5"),
      (.minimumHeadLength, #""4""#, "\"4\""),
      (.minimumHeadLength, "1e300", "whole number"), (.minimumHeadLength, "18446744073709551615", "whole number"),
      (.minimumHeadLength, "null", "not null"), (.minimumHeadDigits, "0", "1 to 4096"),
      (.minimumHeadDigits, "true", "whole number"), (.areHeadsEnabled, "1", "true or false"),
      (.areHeadsEnabled, #""true""#, "true or false"), (.areHeadsEnabled, "null", "true or false"),
      (.excludedSymbologies, "5", "write a list"), (.excludedSymbologies, "[5]", "not 5"),
      (.excludedSymbologies, #"["EAN13", "EAN31"]"#, "EAN31"), (.excludedSymbologies, #"[""]"#, "\"\""),
      (.excludedSymbologies, #"{"EAN13": true}"#, "write a list"),
      (.measures, "5", "write a list"), (.measures, "null", "write a list"), (.measures, "[5]", "entry 1"),
      (.measures, #"["de", null]"#, "entry 2"), (.measures, #""nowhere""#, "there is no preset 'nowhere'"),
      (.measures, #""""#, "there is no preset"), (.measures, #"["cn"]"#, "choose"),
      (.measures, #"["de", "de"]"#, "two rules"),
      (.measures, "{}", "write a list"), (.measures, "[{}]", "rule 1 has no 'name'"), (.measures, "[[]]", "entry 1"),
      (.measures, #"[{"name":"a","prefix":"21","pattern":"PPIIIIIVVVVVC"}]"#, "no 'measure'"),
      (.measures, #"[{"name":"a","prefixes":"21"}]"#, "did you mean 'prefix'?"),
      (.measures, #"[{"name":"a","zzzzzzzz":"21"}]"#, "'zzzzzzzz'; a rule has name, prefix"),
      (.measures, #"[{"name":5}]"#, "'name' is to be a text, not 5"),
      (.measures, #"[{"name":"a","unit":null}]"#, "'unit' is to be a text, not null"),
      (.measures, #"[{"name":"a","decimals":"3"}]"#, "'decimals' is to be a whole number"),
      (.measures, #"[{"name":"a","decimals":2.5}]"#, "'decimals' is to be a whole number"),
      (.measures, "[" + cheese.replacing("\"21\"", with: "\"69\"") + "]", "identify products everywhere"),
      (.measures, "[" + cheese + "," + cheese.replacing("cheese", with: "ham") + "]", "'cheese' and 'ham' overlap"),
    ] as [(MatchingSettings.Name, String, String)])
  func `a value that cannot be used is refused with a reason`(
    name: MatchingSettings.Name, json: String, expected: String
  ) throws {
    let reason = try #require(refusal(name, value(json)))
    #expect(reason.contains(expected), "\(reason)")
  }

  @Test func `other kinds of values are refused, and text from outside controls no terminal`() throws {
    for name in MatchingSettings.Name.allCases {
      for value in [DocumentValue.bytes([1]), .date(.distantPast), .double(.nan), .double(.infinity), .object([])] {
        #expect(refusal(name, value) != nil, "\(name) \(value)")
      }
      for text in ["a\u{1B}[31m\n", "\u{202E}x", String(repeating: "x", count: 100_000)] {
        let values = [
          DocumentValue.text(text), .array([.text(text)]), .object([.init(text, .null)]),
          .array([.object([.init(text, .text(text))])]), .array([.object([.init("name", .text(text))])]),
          .array([.object([.init("decimals", .text(text))])]),
        ]
        for value in values {
          let reason = try #require(refusal(name, value), "\(name)")
          #expect(!reason.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{202E}" })
        }
      }
    }
  }

  @Test func `a key that stands twice in a rule of another program is refused`() {
    let fields: [DocumentValue.Field] = [.init("name", .text("a")), .init("name", .text("b"))]
    #expect(refusal(.measures, .array([.object(fields)]))?.contains("'name' twice") == true)
  }

  // MARK: Stored values

  @Test func `a stored value that cannot be used is an error that says where it is and how to unset it`() throws {
    try store("matching.heads.minimum", "0")
    let common = #expect(throws: MatchingSettingsError.self) { try MatchingOptions(of: "ana", in: root.directory) }
    #expect(common?.name == .minimumHeadLength && common?.store?.user == nil)
    #expect(common?.description.contains("default/settings.log") == true)
    #expect(common?.description.contains("config unset matching.heads.minimum --default'") == true)
    // What the user has set hides it.
    try store("matching.heads.minimum", "5", of: "ana")
    #expect(try MatchingOptions(of: "ana", in: root.directory).heads.minimumLength == 5)
    try store("matching.heads.minimum", "[]", of: "ana")
    let own = #expect(throws: MatchingSettingsError.self) { try MatchingOptions(of: "ana", in: root.directory) }
    #expect(own?.description.contains("config unset matching.heads.minimum --user ana'") == true)
    for id in ["-x", "a b", "a'b", "用户"] {
      try store("matching.heads.minimum", "[]", of: id)
      let odd = #expect(throws: MatchingSettingsError.self) { try MatchingOptions(of: id, in: root.directory) }
      #expect(odd?.description.contains("config unset matching.heads.minimum'") == true, "\(id)")
    }
  }

  @Test func `faults can be collected, and every other setting counts`() throws {
    try store("matching.heads.minimum", "6")
    try store("matching.heads.minimum", "0", of: "ana")
    try store("matching.measures", #""nowhere""#, of: "ana")
    try store("matching.separators", #""|""#, of: "ana")
    var settings = MatchingSettings()
    try settings.set(.areHeadsEnabled, to: .bool(false))
    var faults: [String] = []
    for id in ["ana", nil] {
      try settings.fill(from: root.directory.settings(of: id).snapshot(), of: id) { faults.append($0.name.rawValue) }
    }
    #expect(faults == ["matching.measures", "matching.heads.minimum"])
    let options = settings.options
    #expect(options.scan.separators == ["|"] && !options.heads.isEnabled && options.measures.isEmpty)
    #expect(options.heads.minimumLength == 6, "a value that cannot be used counts as not set")
  }

  @Test func `what is set is not read from a store`() throws {
    try store("matching.heads.minimum", "0")
    var settings = MatchingSettings()
    try settings.set(.minimumHeadLength, to: .integer(9))
    try settings.fill(from: root.directory.settings(of: nil).snapshot(), of: nil) { throw $0 }
    #expect(settings.options.heads.minimumLength == 9)
  }

  // MARK: Texts of a command line

  @Test(
    arguments: [
      (.separators, "|", .text("|")), (.separators, "[]", .text("[]")), (.separators, "5", .text("5")),
      (.separators, #""|""#, .text("|")), (.separators, "\"", .text("\"")), (.measures, "de", .text("de")),
      (.measures, #"["de"]"#, .array([.text("de")])), (.minimumHeadLength, "5", .integer(5)),
      (.minimumHeadLength, "five", .text("five")), (.areHeadsEnabled, "false", .bool(false)),
    ] as [(MatchingSettings.Name, String, DocumentValue)])
  func `a text stands for the JSON in it or for itself`(
    name: MatchingSettings.Name, text: String, value: DocumentValue
  ) {
    #expect(name.value(of: text) == value && name.value(of: text).kind == value.kind)
  }

  // MARK: Commits

  @Test func `snapshots of one object are the same commit until something is set`() throws {
    let settings = try root.directory.settings(of: "ana")
    let none = try settings.snapshot()
    #expect(try settings.snapshot().isSameCommit(as: none))
    try store("a", "1", of: "ana")
    let one = try settings.snapshot()
    #expect(!one.isSameCommit(as: none))
    #expect(try settings.snapshot().isSameCommit(as: one))
    try store("a", "2", of: "ana")
    #expect(try !settings.snapshot().isSameCommit(as: one))
  }
}
