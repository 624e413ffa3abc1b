// The example of Sources/UploadQueue/UploadQueue.docc/UploadQueue.md
import UploadQueue

/// Enqueues a scan with the picture that was taken of it. Returns when both are durable; the picture is to stay where it is.
func enqueue(_ code: String, picture: String, in queue: UploadQueue) async throws -> UploadID {
  let picture = try UploadFile(contentsOf: picture, name: "picture", contentType: "image/jpeg")
  return try await queue.enqueue(["code": code], files: [picture], kind: "scan", orderKey: "gate")
}
