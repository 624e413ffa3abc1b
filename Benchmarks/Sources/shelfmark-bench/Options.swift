import BenchmarkSupport
import Catalog

/// What the command line asks for.
struct Options {
  enum Command: String { case lookup, increment, ingest, scans, quick, generate, lines, append }
  enum Format { case table, json, markdown }

  var command = Command.lookup
  var productCounts = [100_000, 1_000_000]
  var seed: UInt64 = 1
  var rounds = 9
  var lookupsPerRound = 100_000
  var commits = 100
  /// The indexes of the catalogue that takes increments.
  var indexes = CatalogIndexes.none
  var format = Format.table
  /// Where catalogues are kept from run to run; `nil` for a directory that goes with the run.
  var keep: String?
  /// NDJSON to multiply, plain or gzip; `nil` for the project's own sample.
  var from: String?
  /// Measure only lookups whose name contains this text.
  var only = ""
  var isSynthetic = false
  var form = "envelope"
  /// Of a TCP input of a running daemon.
  var port: Int?
  var seconds = 5.0
  /// Codes that are on their way at once.
  var window = 1
  /// Of one durable write.
  var byteCount = 2000
  var wantsHelp = false
  let commandLine: String

  static let help = """
    usage: shelfmark-bench [lookup | increment | ingest | scans | generate | lines | append | --quick] [options]

      lookup       (default) what a lookup costs, by kind and size
      increment    durable commits of 1000 rows, and lookups with 0, 10 and 100 of them waiting
      ingest       a full update from a server's answer, beside base64 and gzip
      scans        what reading a code costs, and typing what its label states
      generate     writes a catalogue to standard output
      lines        scans the codes of --from through the TCP input of a daemon at --port
      append       appends to a file in --keep, with fdatasync: what a durable write takes at least
      --quick      20,000 products: checks every answer, measures little

      --products N,N   sizes of the catalogues; 100000,1000000
      --seed N         seed of catalogue and keys; 1
      --rounds N       rounds of each measurement; 9
      --lookups N      lookups in a round; 100000
      --commits N      increments; 100
      --indexes SET    of increment: none (default), search, standard or all
      --keep DIR       keep catalogues in DIR, or take them from there
      --from FILE      NDJSON to multiply, plain or gzip; the project's sample if it is found
      --synthetic      no sample
      --only TEXT      of lookup: what has TEXT in its name
      --form FORM      of generate: envelope, gzip, plain or ndjson
      --port N         of lines: the port on 127.0.0.1
      --window N       of lines: codes that are on their way at once; 1
      --bytes N        of append: bytes of a write; 2000
      --seconds S      of lines and append; 5
      --json           results for programs
      --markdown       results to paste
    """

  init(_ arguments: [String]) throws(UsageError) {
    commandLine = (["shelfmark-bench"] + arguments).joined(separator: " ")
    var rest = arguments[...]
    if let first = rest.first, !first.hasPrefix("-") {
      guard let command = Command(rawValue: first) else { throw UsageError("unknown command \(first)") }
      self.command = command
      rest.removeFirst()
    }
    var sizes: [Int]?
    while let option = rest.popFirst() {
      switch option {
      case "--quick": command = .quick
      case "--json": format = .json
      case "--markdown": format = .markdown
      case "--synthetic": isSynthetic = true
      case "--help", "-h": wantsHelp = true
      case "--products": sizes = try Self.sizes(try Self.value(option, &rest))
      case "--seed": seed = UInt64(try Self.number(option, &rest))
      case "--rounds": rounds = max(1, try Self.number(option, &rest))
      case "--lookups": lookupsPerRound = max(1, try Self.number(option, &rest))
      case "--commits": commits = max(1, try Self.number(option, &rest))
      case "--keep": keep = try Self.value(option, &rest)
      case "--from": from = try Self.value(option, &rest)
      case "--indexes": indexes = try Self.indexes(try Self.value(option, &rest))
      case "--only": only = try Self.value(option, &rest)
      case "--form": form = try Self.value(option, &rest)
      case "--port": port = try Self.number(option, &rest)
      case "--seconds": seconds = Double(max(1, try Self.number(option, &rest)))
      case "--window": window = max(1, try Self.number(option, &rest))
      case "--bytes": byteCount = max(1, try Self.number(option, &rest))
      default: throw UsageError("unknown option \(option); --help lists them")
      }
    }
    if command == .quick {
      rounds = min(rounds, 3)
      lookupsPerRound = min(lookupsPerRound, 20_000)
      commits = min(commits, 10)
    }
    productCounts = sizes ?? (command == .quick ? [20_000] : productCounts)
  }

  private static func value(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
    guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
    return value
  }

  private static func number(_ option: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Int {
    let text = try value(option, &rest)
    guard let number = Int(text), number >= 0 else { throw UsageError("\(option): \(text) is no number") }
    return number
  }

  private static func indexes(_ text: String) throws(UsageError) -> CatalogIndexes {
    switch text {
    case "none": .none
    case "search": CatalogIndexes(hasSearch: true, orders: [])
    case "standard": .standard
    case "all": CatalogIndexes(hasSearch: true, orders: Set(CatalogIndexes.Order.allCases))
    default: throw UsageError("--indexes: \(text) is not none, search, standard or all")
    }
  }

  private static func sizes(_ text: String) throws(UsageError) -> [Int] {
    var sizes: [Int] = []
    for part in text.split(separator: ",") {
      guard let size = Int(part), (1000..<100_000_000).contains(size) else {
        throw UsageError("--products: \(part) is no number from 1000 to 99999999")
      }
      sizes.append(size)
    }
    return sizes
  }
}
