// The example of Sources/UploadQueue/UploadQueue.docc/UploadQueue.md
import UploadQueue

/// Enqueues JSON text that another program made. Throws `JSONError` with the byte at which the text is wrong.
func enqueue(_ line: [UInt8], in queue: UploadQueue) async throws -> UploadID {
  try await queue.enqueue(payload: .json(UploadJSON(line)), kind: "event", orderKey: "gate")
}
