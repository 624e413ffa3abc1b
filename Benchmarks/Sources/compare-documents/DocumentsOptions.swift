import BenchmarkSupport

/// What the command line asks for.
struct DocumentsOptions {
  var documentCount = 1_000_000
  var rounds = 9
  /// How often the whole store is filled.
  var fills = 3
  var seed: UInt64 = 1
  /// How long one block of questions runs, in milliseconds.
  var blockMilliseconds = 100.0
  var isQuick = false
  var only: String?
  /// Only questions whose title has this in it, and nothing but questions.
  var question: String?
  /// Only the durable changes, after the filling.
  var changesOnly = false
  var keep: String?
  var output = "results"
  var wantsHelp = false
  let commandLine: String

  static let help = """
    usage: compare-documents [options]

    Fills a collection and a table of GRDB with the same members of chat groups, asks both the same questions in turn,
    checks every answer, and writes documents.md and documents.json to the directory of results.

      --documents N    how many; 1000000, or 20000 with --quick
      --rounds N       rounds of each measurement; 9
      --fills N        how often the stores are filled; 3
      --block N        milliseconds of one block of questions; 100
      --only A         shelfmark or grdb
      --question A     only questions with A in their title, and no other measure but the filling: to profile
      --changes        only the durable changes, and no other measure but the filling
      --seed N         seed of documents and questions; 1
      --keep DIR       work in DIR and leave the stores there
      --output DIR     where results go; results
      --quick          few rounds and short blocks: what CI runs
    """

  init(_ arguments: [String]) throws(UsageError) {
    commandLine = (["compare-documents"] + arguments).joined(separator: " ")
    var rest = arguments[...]
    var documents: Int?
    var rounds: Int?
    var fills: Int?
    var block: Int?
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--help", "-h": wantsHelp = true
      case "--documents": documents = try Self.number(option, &rest, 1000..<10_000_000)
      case "--rounds": rounds = try Self.number(option, &rest, 1..<1000)
      case "--fills": fills = try Self.number(option, &rest, 1..<100)
      case "--block": block = try Self.number(option, &rest, 1..<10_000)
      case "--changes": changesOnly = true
      case "--question": question = try Self.value(option, &rest)
      case "--only": only = try Self.value(option, &rest)
      case "--seed": seed = UInt64(try Self.number(option, &rest, 0..<Int(Int32.max)))
      case "--keep": keep = try Self.value(option, &rest)
      case "--output": output = try Self.value(option, &rest)
      default: throw UsageError("unknown option \(option); --help lists them")
      }
    }
    documentCount = documents ?? (isQuick ? 20_000 : documentCount)
    self.rounds = rounds ?? (isQuick ? 3 : self.rounds)
    self.fills = fills ?? (isQuick ? 2 : self.fills)
    blockMilliseconds = Double(block ?? (isQuick ? 20 : 100))
  }

  private static func value(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
    guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
    return value
  }

  private static func number(
    _ option: String, _ rest: inout ArraySlice<String>, _ range: Range<Int>
  ) throws(UsageError) -> Int {
    let text = try value(option, &rest)
    guard let number = Int(text), range.contains(number) else {
      throw UsageError("\(option): \(text) is no number from \(range.lowerBound) to \(range.upperBound - 1)")
    }
    return number
  }
}
