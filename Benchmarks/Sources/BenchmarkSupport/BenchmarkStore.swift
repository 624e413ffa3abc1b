import Catalog
import CatalogRows
import LogStore

/// A catalogue on disk that a source filled.
package struct BenchmarkStore {
  package static let name = "catalog"

  package let directory: String
  /// Seconds that generating and writing took; `nil` for a catalogue that was kept.
  package var loadTime: Double?
  /// The indexes of words and orders. By default there are none: the stores that it is compared with have none.
  private let indexes: CatalogIndexes
  private let isSealed: Bool

  package var file: String { "\(directory)/\(Self.name).log" }

  /// The catalogue in `directory`, which may have to be filled.
  ///
  /// - Parameter isSealed: Whether it is filled sealed, with a key that everybody knows.
  package init(at directory: String, indexes: CatalogIndexes = .none, isSealed: Bool = false) {
    self.directory = directory
    self.indexes = indexes
    self.isSealed = isSealed
  }

  /// Takes the kept catalogue of this source, or fills a new one.
  package init(
    _ source: some CatalogueSource, in folder: WorkFolder, indexes: CatalogIndexes = .none, isSealed: Bool = false
  ) throws {
    let orders = indexes.orders.map(\.rawValue).sorted() + (indexes.hasSearch ? ["search"] : [])
    let words = ["\(folder.path)/catalogue-\(source.productCount)-\(source.seed)"] + orders
    self.init(
      at: (words + (isSealed ? ["sealed"] : [])).joined(separator: "-"), indexes: indexes, isSealed: isSealed)
    if let reader = try openReader(), try reader.snapshot().cursor == source.cursor { return }
    let writer = try writer()
    defer { writer.close() }
    loadTime = try Self.fill(writer, source)
  }

  /// A copy of another catalogue, in `directory`, which exists.
  package init(copying other: BenchmarkStore, to directory: String) throws {
    self.init(at: directory, indexes: other.indexes, isSealed: other.isSealed)
    _ = try Subprocess.run(["cp", other.file, file])
  }

  /// Fills a catalogue; returns the seconds.
  package static func fill(_ writer: CatalogWriter, _ source: some CatalogueSource) throws -> Double {
    let (report, elapsed) = try Elapsed.of {
      var update = try writer.beginFullUpdate(.open)
      try source.writeRows(to: &update)
      return try update.commit(cursor: source.cursor)
    }
    guard report.counts.productsUpserted == source.productCount else {
      throw WrongAnswer("\(report.counts.productsUpserted) products were written")
    }
    return elapsed.wall / 1e9
  }

  /// Opens the catalogue for writing; its directory is made if it is missing.
  package func writer() throws -> CatalogWriter {
    try CatalogWriter(opening(try StoreLocation.creating(directory, name: Self.name)), indexes: indexes)
  }

  package func openReader() throws -> CatalogReader? {
    try StoreLocation.existing(directory, name: Self.name).flatMap { try CatalogReader.open(opening($0)) }
  }

  private func opening(_ location: StoreLocation) throws -> StoreLocation {
    if !isSealed { return location }
    return location.opening(with: try Self.key.get(), sealsNew: true)
  }

  private static let key = Result { () throws in
    var key = (0..<StoreKey.byteCount).map { UInt8($0) }
    return try StoreKey(taking: &key)
  }

  package func reader() throws -> CatalogReader {
    guard let reader = try openReader() else { throw WrongAnswer("no catalogue in \(directory)") }
    return reader
  }
}

/// Takes rows and keeps none: what the source itself costs.
package struct NullSink: RowSink {
  package private(set) var count = 0
  package init() {}
  package mutating func product(_ row: borrowing ProductRow) { count += 1 }
  package mutating func relation(_ row: borrowing RelationRow) { count += 1 }
  package mutating func code(_ row: borrowing CodeRow) { count += 1 }
}
