// The example of Sources/Documents/UploadQueue/UploadQueue.docc/UploadQueue.md
import UploadQueue

/// Enqueues JSON text from another program. Throws `JSONError` with the byte offset of a syntax error.
func enqueue(_ line: [UInt8], in queue: UploadQueue) async throws -> UploadID {
  try await queue.enqueue(payload: .json(UploadJSON(line)), kind: "event", orderKey: "gate")
}
