// The example of Sources/Documents/UploadQueue/UploadQueue.docc/UploadQueue.md
import UploadQueue

/// Enqueues a scan with its picture. Returns when both are durable. The picture file must not move or change.
func enqueue(_ code: String, picture: String, in queue: UploadQueue) async throws -> UploadID {
  let picture = try UploadFile(contentsOf: picture, name: "picture", contentType: "image/jpeg")
  return try await queue.enqueue(["code": code], files: [picture], kind: "scan", orderKey: "gate")
}
