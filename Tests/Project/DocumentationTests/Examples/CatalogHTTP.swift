// The example of Sources/Server/CatalogHTTP/CatalogHTTP.docc/CatalogHTTP.md
import CatalogHTTP
import CatalogSync
import LogStore

/// Synchronises a catalogue with a server, and retries if the server is busy or unreachable for a moment.
func synchronise(_ location: StoreLocation, from url: String) async throws -> ImportReport {
  var options = TransportOptions()
  options.retry.maximumAttempts = 3
  let transport = try HTTPTransport(url: url, options: options)
  return try await Synchronizer(transport).run(SyncDestination(location))
}
