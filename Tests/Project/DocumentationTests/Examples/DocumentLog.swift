// The example of Sources/Daemon/StoreMetrics/StoreMetrics.docc/StoreMetrics.md
import Documents
import LogStore
import StoreMetrics

/// Opens a document store that logs operations of 50 milliseconds and more, without the values of conditions.
func openTraced(_ location: StoreLocation) throws -> DocumentStore {
  var options = DocumentStore.Options()
  options.trace = .slow(over: .milliseconds(50), redactsValues: true)
  return try DocumentStore.open(location, options: options)
}
