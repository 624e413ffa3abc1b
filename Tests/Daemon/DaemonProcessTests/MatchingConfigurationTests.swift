import ScanDaemon
import Testing
import Workspace

@testable import DaemonProcess

@Suite struct MatchingConfigurationTests {
  private static let cheese =
    #"{"name":"cheese","prefix":"21","pattern":"PPIIIIIVVVVVC","measure":"weight","decimals":3,"unit":"kg"}"#

  @Test func `nothing said leaves everything to the stores`() throws {
    let daemon = try configuration().daemon
    #expect(daemon.matching == MatchingSettings() && daemon.inputSeparators.isEmpty)
  }

  @Test func `the file, variables and arguments say the same`() throws {
    let file = try TestFile(
      """
      {"matching": {"separators": "|{GS}", "measures": ["de", \(Self.cheese)],
        "suggestions": 3, "heads": {"minimum": 6, "digits": 9, "enabled": false, "excluded": ["CODE128", "]A0"]}}}
      """)
    let measures = "[\"de\", \(Self.cheese)]"
    let read = [
      try configuration(file: file.path),
      try configuration(environment: [
        "CATALOGD_MATCHING_SEPARATORS": "|{GS}", "CATALOGD_MATCHING_MEASURES": measures,
        "CATALOGD_MATCHING_HEADS_MINIMUM": "6", "CATALOGD_MATCHING_HEADS_DIGITS": "9",
        "CATALOGD_MATCHING_HEADS_ENABLED": "false", "CATALOGD_MATCHING_HEADS_EXCLUDED": "CODE128,]A0",
        "CATALOGD_MATCHING_SUGGESTIONS": "3",
      ]),
      try configuration([
        "--matching-separators", "|{GS}", "--matching-measures", measures, "--matching-heads-minimum", "6",
        "--matching-heads-digits", "9", "--matching-heads-enabled", "false", "--matching-heads-excluded", "CODE128,]A0",
        "--matching-suggestions", "3",
      ]),
    ]
    for read in read {
      let options = read.daemon.matching.options
      #expect(options.scan.separators == ["{GS}", "|"] && options.measures.rules.last?.name == "cheese")
      #expect(options.heads.minimumLength == 6 && options.heads.minimumDigits == 9 && !options.heads.isEnabled)
      #expect(options.heads.excludedSymbologies == ["C", "A"])
      #expect(options.suggestionLimit == 3 && read.settings.count == 7)
    }
    #expect(read[0].daemon.matching == read[1].daemon.matching && read[1].daemon.matching == read[2].daemon.matching)
    let shown = try #require(read[0].settings.first { $0.key == "matching.measures" })
    #expect(shown.value == measures && shown.description.contains("\(file.path):1)"))
  }

  @Test func `a preset is named alone as well, in each source`() throws {
    let file = try TestFile(#"{"matching": {"measures": "de"}}"#)
    for read in [
      try configuration(file: file.path), try configuration(["--matching-measures", "de"]),
      try configuration(environment: ["CATALOGD_MATCHING_MEASURES": "de"]),
    ] {
      #expect(read.daemon.matching.measures?.isEmpty == false)
    }
  }

  @Test func `SKUs, texts that are no codes, and inputs that are split`() throws {
    let file = try TestFile(
      """
      {"matching": {"sku": "match", "ignore": ["NOREAD", "Error "]},
        "inputs": {"names": ["belt", "till"], "belt": {"kind": "tcp", "port": 0, "split": true},
          "till": {"kind": "stdin", "split": false}}}
      """)
    let daemon = try configuration(file: file.path).daemon
    #expect(daemon.matching.options.sku == .match && daemon.matching.options.ignoredTexts == ["NOREAD", "ERROR"])
    #expect(daemon.splitInputs == ["belt"])
  }

  @Test func `inputs have separators of their own, whatever they are`() throws {
    let file = try TestFile(
      """
      {"inputs": {"names": ["gun", "app", "plain"], "gun": {"kind": "keyboard", "device": "/k", "separators": "^]|"},
        "app": {"kind": "socket", "path": "/s", "separators": ""}, "plain": {"kind": "tcp", "port": 0}}}
      """)
    #expect(try configuration(file: file.path).daemon.inputSeparators == ["gun": ["^]", "|"], "app": []])
  }

  @Test(arguments: [
    (#"{"matching": {"separators": "a"}}"#, "FILE:1: matching.separators: 'a' is a letter"),
    (#"{"matching": {"separators": 5}}"#, "FILE:1: matching.separators: is to be a text"),
    (#"{"matching": {"measures": ["nowhere"]}}"#, "FILE:1: matching.measures: there is no preset 'nowhere'"),
    (#"{"matching": {"measures": 5}}"#, "FILE:1: matching.measures: write a list"),
    (#"{"matching": {"measures": {}}}"#, "FILE:1: matching.measures: write a list"),
    (
      "{\"matching\":\n{\"measures\": [\(cheese),\n\(cheese.replacing("cheese", with: "ham"))]}}",
      "FILE:2: matching.measures: the rules"
    ),
    (#"{"matching": {"sku": "maybe"}}"#, "FILE:1: matching.sku"),
    (#"{"matching": {"ignore": [" "]}}"#, "FILE:1: matching.ignore: write texts of 1 to 100 bytes"),
    (#"{"inputs": {"names": ["a"], "a": {"kind": "tcp", "port": 0, "split": "x"}}}"#, "FILE:1: inputs.a.split"),
    (#"{"matching": {"measures": [{"nam": "a"}]}}"#, "did you mean 'name'?"),
    (#"{"matching": {"heads": {"minimum": 0}}}"#, "FILE:1: matching.heads.minimum \"0\": is to be 1 to 4096"),
    (#"{"matching": {"heads": {"digits": "7"}}}"#, "FILE:1: matching.heads.digits: is to be a whole number"),
    (#"{"matching": {"heads": {"enabled": 1}}}"#, "FILE:1: matching.heads.enabled: is to be true or false"),
    (#"{"matching": {"heads": {"excluded": ["EAN31"]}}}"#, "FILE:1: matching.heads.excluded: no symbology"),
    (#"{"matching": {"heads": {"excluded": "EAN13"}}}"#, "FILE:1: matching.heads.excluded: is to be an array"),
    (#"{"matching": {"seperators": "|"}}"#, "did you mean separators?"),
    (#"{"matching": {"heads": 5}}"#, "is to be an object"),
    (
      #"{"inputs": {"names": ["a"], "a": {"kind": "tcp", "port": 0, "separators": "7"}}}"#,
      "FILE:1: inputs.a.separators: '7' is"
    ),
  ])
  func `what cannot be is a fault with its location`(json: String, fault: String) throws {
    let found = try faults(json: json)
    #expect(found.count == 1 && found[0].contains(fault), "\(found)")
  }

  @Test func `faults of arguments and variables name them`() throws {
    #expect(try faults(["--matching-measures", "[5]"])[0].hasPrefix("--matching-measures: entry 1 is to be"))
    #expect(
      try faults(environment: ["CATALOGD_MATCHING_SEPARATORS": "7"])[0]
        .hasPrefix("$CATALOGD_MATCHING_SEPARATORS: matching.separators: '7' is a letter or a digit"))
    // What begins like a list and is no JSON is not taken for the name of a preset.
    #expect(try faults(["--matching-measures", "[\"de\""])[0].contains("no valid JSON"))
  }

  @Test func `another value is another configuration`() throws {
    let plain = try configuration()
    let changed = try configuration(["--matching-measures", "de"])
    let same = try configuration(["--matching-measures", "de"])
    #expect(plain.differs(from: changed) && !changed.differs(from: same))
  }
}
