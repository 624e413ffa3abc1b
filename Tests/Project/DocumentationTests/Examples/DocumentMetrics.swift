// The example of Sources/Daemon/StoreMetrics/StoreMetrics.docc/StoreMetrics.md
import Documents
import LogStore
import StoreMetrics

/// Opens a document store whose operations are recorded in the metrics of the process.
func openMeasured(_ location: StoreLocation) throws -> DocumentStore {
  var options = DocumentStore.Options()
  options.trace = DocumentMetrics.tracer()
  return try DocumentStore.open(location, options: options)
}
