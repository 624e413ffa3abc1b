// The example of Sources/Daemon/StoreMetrics/StoreMetrics.docc/StoreMetrics.md
import Documents
import StoreMetrics
import UploadQueue

/// Opens a queue whose events are recorded in the metrics of the process, and starts a task that updates its gauges.
func openMeasured(in store: DocumentStore) throws -> (UploadQueue, Task<Void, any Error>) {
  var options = QueueOptions()
  options.trace = UploadMetrics.tracer()
  let queue = try UploadQueue(in: store, options: options)
  return (queue, Task { try await UploadMetrics.follow(queue) })
}
