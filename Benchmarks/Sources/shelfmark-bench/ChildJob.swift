import BenchmarkSupport
import Catalog
import CatalogRows
import CatalogSync
import CatalogueGenerator
import LogStore
import ServerAnswers

/// What has to run in a process of its own, because its memory is measured.
enum ChildJob {
  case resident(directory: String, products: Int, seed: UInt64, lookups: Int)
  case ingest(directory: String, answer: String, isSealed: Bool)
  case decode(answer: String)

  /// The job that the arguments name; `nil` where they are those of a person.
  init?(_ arguments: [String]) throws(UsageError) {
    guard arguments.count > 2, arguments[1] == Subprocess.childMarker else { return nil }
    let rest = Array(arguments[3...])
    switch (arguments[2], rest.count) {
    case ("resident", 4):
      guard let products = Int(rest[1]), let seed = UInt64(rest[2]), let lookups = Int(rest[3]) else { return nil }
      self = .resident(directory: rest[0], products: products, seed: seed, lookups: lookups)
    case ("ingest", 2): self = .ingest(directory: rest[0], answer: rest[1], isSealed: false)
    case ("ingest-sealed", 2): self = .ingest(directory: rest[0], answer: rest[1], isSealed: true)
    case ("decode", 1): self = .decode(answer: rest[0])
    default: throw UsageError("unknown job")
    }
  }

  func run() throws {
    switch self {
    case .resident(let directory, let products, let seed, let lookups):
      try Self.resident(directory, CatalogueGenerator(productCount: products, seed: seed), lookups)
    case .ingest(let directory, let answer, let isSealed):
      try Self.timed {
        let writer = try BenchmarkStore(at: directory, isSealed: isSealed).writer()
        defer { writer.close() }
        var options = ImportOptions()
        options.lossLimit = .open
        var update = try AnswerImport(writer, .full, options)
        try Files.forEachPiece(of: answer) { try update.consume($0) }
        return try update.finish().payload
      }
    case .decode(let answer):
      try Self.timed {
        var decoder = try ResponseDecoder()
        var sink = NullSink()
        try Files.forEachPiece(of: answer) { try decoder.consume($0, into: &sink) }
        return try decoder.finish()
      }
    }
  }

  /// Prints seconds, seconds of processor time, peak memory in KiB, products, bytes unpacked.
  private static func timed(_ body: () throws -> PayloadSummary) throws {
    let (summary, elapsed) = try Elapsed.of(body)
    print(
      elapsed.wall / 1e9, elapsed.processor / 1e9, Machine.status("VmHWM"), summary.products, summary.bytesUnpacked)
  }

  /// Looks products up by id and prints how own memory and mapped pages grew, in KiB, and how many were found.
  private static func resident(_ directory: String, _ generator: CatalogueGenerator, _ lookups: Int) throws {
    var random = KeyRandom(generator.seed)
    var key: [UInt8] = []
    key.reserveCapacity(32)
    let own = Machine.status("RssAnon")
    let mapped = Machine.status("RssFile")
    guard let location = try StoreLocation.existing(directory, name: BenchmarkStore.name),
      let snapshot = try CatalogReader.open(location)?.snapshot()
    else { throw WrongAnswer("no catalogue in \(directory)") }
    var found = 0
    for _ in 0..<lookups {
      key.removeAll(keepingCapacity: true)
      generator.putId(random.below(generator.productCount), &key)
      if let answer = try snapshot.withProduct(id: key.span, { (view) throws(StoreError) in Touch.of(view) }) {
        found += answer == 0 ? 0 : 1
      }
    }
    print(Machine.status("RssAnon") - own, Machine.status("RssFile") - mapped, found)
  }
}
