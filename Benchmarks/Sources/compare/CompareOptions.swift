import BenchmarkSupport

/// What the command line asks for.
struct CompareOptions {
  var productCount = 1_000_000
  /// Sizes of a growth run; empty for a comparison at one size.
  var growth: [Int] = []
  var seed: UInt64 = 1
  var rounds = 9
  var increments = 100
  /// How long one block of lookups runs, in milliseconds.
  var blockMilliseconds = 100
  var isQuick = false
  var isSynthetic = false
  var isReal = false
  var from: String?
  /// Names of stores; empty for all that were built in and are fit for the size.
  var stores: [String] = []
  var keep: String?
  var output = "results"
  var wantsHelp = false
  let commandLine: String

  static let help = """
    usage: compare [options]

    Builds the same catalogue for Shelfmark and for every store that was found when this program was built, measures all
    of them in turn, and writes compare.md, compare.json and plots to the directory of results.

      --products N     size of the catalogue; 1000000
      --growth N,N     sizes instead of one: tables and plots of lookup, update and open against size
      --real           the real rows beside the project instead of generated ones
      --from PATH      with --real the directory of the rows, else rows to multiply; the project's sample
      --synthetic      no sample
      --peers A,B      stores to measure: \(PeerRoster.storeNames)
      --rounds N       rounds of each measurement; 9
      --increments N   durable updates of 1000 rows; 100
      --block N        milliseconds of one block of lookups; 100
      --seed N         seed of catalogue and keys; 1
      --keep DIR       keep stores in DIR, or take them from there
      --output DIR     where results go; results
      --quick          few rounds and short blocks: what CI runs
    """

  init(_ arguments: [String]) throws(UsageError) {
    commandLine = (["compare"] + arguments).joined(separator: " ")
    var rest = arguments[...]
    var rounds: Int?
    var increments: Int?
    var block: Int?
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--real": isReal = true
      case "--synthetic": isSynthetic = true
      case "--help", "-h": wantsHelp = true
      case "--products": productCount = try Self.number(option, &rest, 1000..<100_000_000)
      case "--growth":
        growth = try Self.value(option, &rest).split(separator: ",").map { (part) throws(UsageError) in
          guard let size = Int(part), (1000..<100_000_000).contains(size) else {
            throw UsageError("--growth: \(part) is no number from 1000 to 99999999")
          }
          return size
        }
      case "--from": from = try Self.value(option, &rest)
      case "--peers": stores = try Self.value(option, &rest).split(separator: ",").map(String.init)
      case "--rounds": rounds = try Self.number(option, &rest, 1..<1000)
      case "--increments": increments = try Self.number(option, &rest, 1..<10_000)
      case "--block": block = try Self.number(option, &rest, 1..<10_000)
      case "--seed": seed = UInt64(try Self.number(option, &rest, 0..<Int.max))
      case "--keep": keep = try Self.value(option, &rest)
      case "--output": output = try Self.value(option, &rest)
      default: throw UsageError("unknown option \(option); --help lists them")
      }
    }
    self.rounds = rounds ?? (isQuick ? 3 : self.rounds)
    self.increments = increments ?? (isQuick ? 20 : self.increments)
    blockMilliseconds = block ?? (isQuick ? 20 : blockMilliseconds)
  }

  /// Which rows to take, `productCount` of them unless they are real.
  func source(_ productCount: Int) throws(UsageError) -> SourceSpec {
    if isReal {
      guard let directory = from ?? RealCatalogue.candidates.first(where: { Files.exists($0 + "/products.ndjson.gz") })
      else { throw UsageError("--real: no products.ndjson.gz in \(RealCatalogue.candidates.joined(separator: ", "))") }
      return SourceSpec(.real(directory: directory), productCount: 0, seed: seed)
    }
    return SourceSpec(isSynthetic ? .synthetic : .generated(from: from), productCount: productCount, seed: seed)
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
