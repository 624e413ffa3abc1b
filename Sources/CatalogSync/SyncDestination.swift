package import Catalog
public import LogStore

/// The catalogue that a synchronisation brings up to date: it is read without its lock, and locked only to be written.
public struct SyncDestination {
  /// Where the catalogue is. Its directory exists.
  let location: StoreLocation
  private let open: () throws -> CatalogWriter

  /// Creates a destination. The catalogue is opened when the answer is there.
  ///
  /// - Parameters:
  ///   - location: The catalogue.
  ///   - waiting: How long to wait for another writer, once the answer is there.
  public init(_ location: StoreLocation, waiting: Duration = .zero) {
    self.init(location) { try CatalogWriter(location, waiting: waiting) }
  }

  /// - Parameter open: Opens the catalogue for writing; called when the answer is there.
  package init(_ location: StoreLocation, open: @escaping () throws -> CatalogWriter) {
    self.location = location
    self.open = open
  }

  /// The cursor of the last commit; empty for a catalogue that was never filled.
  func cursor() throws -> String { try CatalogReader.open(location)?.snapshot().cursor ?? "" }

  /// Lends the writer of the catalogue, and lets go of its lock afterwards.
  func withWriter<Result>(_ body: (CatalogWriter) throws -> Result) throws -> Result {
    let writer = try open()
    defer { writer.close() }
    return try body(writer)
  }
}
