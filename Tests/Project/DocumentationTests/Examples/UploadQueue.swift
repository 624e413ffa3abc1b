// The example of Sources/Documents/UploadQueue/UploadQueue.docc/UploadQueue.md
import Documents
import LogStore
import UploadQueue

struct Parcel: Codable, Identifiable, Sendable {
  let id: Int
  var code: String
}

/// Stores parcels with their uploads, then sends all waiting uploads. `send` takes a code and an idempotency key.
func upload(
  _ parcels: [Parcel], in directory: String, send: @escaping @Sendable (String, UploadID) async throws -> Int
) async throws -> QueueCounts {
  let store = try DocumentStore.open(StoreLocation.creating(directory, name: "documents"))
  let collection = try store.collection("parcels", of: Parcel.self)
  let queue = try UploadQueue(in: store)
  for parcel in parcels {
    try store.transaction { transaction in
      try transaction.insert(parcel, into: collection)
      try queue.enqueue(parcel, kind: "parcel", orderKey: "counter 1", in: transaction)
    }  // after a crash both are stored, or neither
  }
  let worker = UploadWorker(queue) { upload in
    UploadResponse(status: try await send(upload.decode(Parcel.self).code, upload.id))
  }
  try await worker.run(untilEmpty: true)
  return try queue.counts()
}
