import Catalog
import CatalogRows
import CatalogueGenerator
import LogStore

/// An answer that was not the right one: no number is worth anything then.
struct WrongAnswer: Error, CustomStringConvertible {
  let description: String
}

/// A catalogue on disk that a generator filled.
struct BenchmarkStore {
  static let name = "catalog"

  let directory: String
  /// Seconds that generating and writing took; `nil` for a catalogue that was kept.
  var loadTime: Double?

  var file: String { "\(directory)/\(Self.name).log" }

  /// Takes the kept catalogue of this generator, or fills a new one.
  init(_ generator: CatalogueGenerator, in folder: WorkFolder) throws {
    directory = "\(folder.path)/catalogue-\(generator.productCount)-\(generator.seed)"
    if let reader = try openReader(), try reader.snapshot().cursor == generator.cursor { return }
    let writer = try CatalogWriter(try StoreLocation.creating(directory, name: Self.name))
    defer { writer.close() }
    loadTime = try Self.fill(writer, generator)
  }

  /// A copy of another catalogue, in `directory`, which exists.
  init(copying other: BenchmarkStore, to directory: String) throws {
    self.directory = directory
    _ = try Subprocess.run(["cp", other.file, file])
  }

  /// Fills a catalogue; returns the seconds.
  static func fill(_ writer: CatalogWriter, _ generator: CatalogueGenerator) throws -> Double {
    let (report, elapsed) = try Elapsed.of {
      var update = try writer.beginFullUpdate(.open)
      try generator.write(to: &update)
      return try update.commit(cursor: generator.cursor)
    }
    guard report.counts.productsUpserted == generator.productCount else {
      throw WrongAnswer(description: "\(report.counts.productsUpserted) products were written")
    }
    return elapsed.wall / 1e9
  }

  func openReader() throws -> CatalogReader? {
    try StoreLocation.existing(directory, name: Self.name).flatMap { try CatalogReader.open($0) }
  }

  func reader() throws -> CatalogReader {
    guard let reader = try openReader() else { throw WrongAnswer(description: "no catalogue in \(directory)") }
    return reader
  }
}

/// Takes rows and keeps none: what the generator itself costs.
struct NullSink: RowSink {
  var count = 0
  mutating func product(_ row: borrowing ProductRow) { count += 1 }
  mutating func relation(_ row: borrowing RelationRow) { count += 1 }
}
