// The example of Sources/DocumentMetrics/DocumentMetrics.docc/DocumentMetrics.md
import DocumentMetrics
import Documents
import LogStore

/// Opens documents whose operations show among the metrics of the process.
func openMeasured(_ location: StoreLocation) throws -> DocumentStore {
  var options = DocumentStore.Options()
  options.trace = DocumentMetrics.tracer()
  return try DocumentStore.open(location, options: options)
}
