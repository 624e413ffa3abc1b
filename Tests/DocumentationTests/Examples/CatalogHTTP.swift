// The example of Sources/CatalogHTTP/CatalogHTTP.docc/CatalogHTTP.md
import CatalogHTTP
import CatalogSync
import LogStore

/// Brings a catalogue up to date from a server; what is busy or out of reach for a moment is asked again.
func synchronise(_ location: StoreLocation, from url: String) async throws -> ImportReport {
  var options = TransportOptions()
  options.retry.maximumAttempts = 3
  let transport = try HTTPTransport(url: url, options: options)
  return try await Synchronizer(transport).run(SyncDestination(location))
}
