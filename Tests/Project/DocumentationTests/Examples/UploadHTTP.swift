// The example of Sources/Network/UploadHTTP/UploadHTTP.docc/UploadHTTP.md
import UploadHTTP
import UploadQueue

/// Sends what waits to a server, each kind to a place of its own, and returns when nothing waits.
func send(_ queue: UploadQueue, to server: String, token: String) async throws -> QueueCounts {
  var options = UploadHTTPOptions()
  options.headers = [("Authorization", "Bearer \(token)")]
  options.timeout = .seconds(30)
  let http = try UploadHTTPTransport(url: server + "/uploads/{kind}", options: options)
  var working = WorkerOptions()
  // This server answers so where it has an upload of that id.
  working.isAlreadyDone = { _, answer in answer.status == 409 }
  let worker = UploadWorker(queue, options: working, transport: http.send)
  do { try await worker.run(untilEmpty: true) } catch {
    try await http.shutdown()
    throw error
  }
  try await http.shutdown()
  return try queue.counts()
}
