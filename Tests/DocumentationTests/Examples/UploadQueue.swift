// The example of Sources/UploadQueue/UploadQueue.docc/UploadQueue.md
import Documents
import LogStore
import UploadQueue

struct Reading: Codable, Identifiable, Sendable {
  let id: Int
  var code: String
}

/// Keeps readings and their uploads, and sends what waits. `send` is given a code and the id under which a server has it once.
func upload(
  _ readings: [Reading], in directory: String, send: @escaping @Sendable (String, UploadID) async throws -> Int
) async throws -> QueueCounts {
  let store = try DocumentStore.open(StoreLocation.creating(directory, name: "documents"))
  let kept = try store.collection("readings", of: Reading.self)
  let queue = try UploadQueue(in: store)
  for reading in readings {
    try store.transaction { transaction in
      try transaction.insert(reading, into: kept)
      try queue.enqueue(reading, kind: "reading", orderKey: "counter 1", in: transaction)
    }  // both are durable, or neither is there
  }
  let worker = UploadWorker(queue) { upload in
    UploadResponse(status: try await send(upload.decode(Reading.self).code, upload.id))
  }
  try await worker.run(untilEmpty: true)
  return try queue.counts()
}
