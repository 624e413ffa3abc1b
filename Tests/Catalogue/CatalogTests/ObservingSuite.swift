import LogStore
import StoreTestSupport
import Testing

@testable import Catalog
import CatalogTestSupport

/// A suite whose tests observe a catalogue.
protocol ObservingSuite {}

extension ObservingSuite {
  static var interval: Duration { .milliseconds(5) }

  func reader(_ catalogue: TestCatalogue) throws -> CatalogReader {
    try #require(try CatalogReader.open(catalogue.location))
  }

  /// Gives bytes the name of the catalogue's file, as another file.
  func replaceFile(of catalogue: TestCatalogue, with bytes: [UInt8]) throws {
    try catalogue.folder.write(bytes, to: "other")
    try catalogue.folder.directory.rename("other", to: "catalog.log")
  }

  /// The error that the next call throws; `nil` if it throws none.
  func failure(of iterator: inout CatalogObservation.Iterator) async -> (any Error)? {
    do {
      _ = try await iterator.next()
      return nil
    } catch { return error }
  }
}
