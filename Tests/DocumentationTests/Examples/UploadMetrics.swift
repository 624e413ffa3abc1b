// The example of Sources/StoreMetrics/StoreMetrics.docc/StoreMetrics.md
import Documents
import StoreMetrics
import UploadQueue

/// A queue whose events show among the metrics of the process, and a task that keeps the gauges of what it holds.
func openMeasured(in store: DocumentStore) throws -> (UploadQueue, Task<Void, any Error>) {
  var options = QueueOptions()
  options.trace = UploadMetrics.tracer()
  let queue = try UploadQueue(in: store, options: options)
  return (queue, Task { try await UploadMetrics.follow(queue) })
}
