package import Catalog
public import LogStore

/// The catalogue to synchronise. It is read without its lock, and locked only for writing.
public struct SyncDestination {
  /// The location of the catalogue. Its directory exists.
  package let location: StoreLocation
  private let open: () throws -> CatalogWriter

  /// Creates a destination. The catalogue is opened when the answer is there.
  ///
  /// - Parameters:
  ///   - location: The location of the catalogue.
  ///   - lockTimeout: How long to wait for another writer after the response has arrived.
  public init(_ location: StoreLocation, lockTimeout: Duration = .zero) {
    self.init(location) { try CatalogWriter(location, lockTimeout: lockTimeout) }
  }

  /// - Parameter open: Opens the catalogue for writing; called after the response has arrived.
  package init(_ location: StoreLocation, open: @escaping () throws -> CatalogWriter) {
    self.location = location
    self.open = open
  }

  /// The cursor of the last commit; empty for a catalogue that was never filled.
  func cursor() throws -> String { try CatalogReader.open(location)?.snapshot().cursor ?? "" }

  /// The last commit of the catalogue; `nil` if it was never filled.
  package func snapshot() throws -> CatalogSnapshot? { try CatalogReader.open(location)?.snapshot() }

  /// The free space where the catalogue lies, in bytes; `nil` if it is not known.
  package var availableByteCount: Int? { location.directory.availableByteCount() }

  /// Calls `body` with the writer of the catalogue, and releases its lock afterwards.
  package func withWriter<Result>(_ body: (CatalogWriter) throws -> Result) throws -> Result {
    let writer = try open()
    defer { writer.close() }
    return try body(writer)
  }
}
