import Documents
import Foundation
import LogStore
import StoreTestSupport
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// Queues whose file is replaced by a backup while a worker runs, and queues that a container's image has.
@Suite struct ReplacedQueueTests {
  private struct Note: Codable, Identifiable { let id: Int }

  private func queue(_ location: StoreLocation) throws -> UploadQueue {
    try UploadQueue(in: DocumentStore.open(location))
  }

  /// The texts that the server has got.
  private func received(_ server: ScriptedServer) -> Set<String> {
    Set(server.log.map(\.text))
  }

  @Test func `a worker sends what is enqueued after a backup was copied over the file`() async throws {
    try MappingGuard.install()
    let temporary = try TemporaryDirectory()
    let location = StoreLocation.test(temporary.directory, name: "documents")
    let queue = try queue(location)
    try await queue.enqueue("kept", kind: "k")
    let backup = try temporary.contents("documents.log")
    for number in 0..<10 { try await queue.enqueue("\(number)", kind: "k") }
    let server = ScriptedServer(answer: { _, _ in UploadResponse(status: 200) })
    let worker = UploadWorker(queue, options: Bench.plain) { try await server.send($0) }
    let running = Task { try await worker.run() }
    try await eventually { try queue.counts().count == 0 }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: queue.store.path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(backup))
    try file.close()
    try await queue.enqueue("after", kind: "k")
    try await eventually { self.received(server).contains("after") && (try? queue.counts().count) == 0 }
    // The backup had an upload that waited, which is sent again.
    #expect(server.log.filter { $0.text == "kept" }.count == 2)
    running.cancel()
    _ = await running.result
    try checkInvariants(queue)
  }

  @Test(.enabled(if: OverlayMount.isPossible, Comment(rawValue: OverlayMount.condition)))
  func `a worker sends what is enqueued in a baked store, by any process`() async throws {
    let mount = try OverlayMount { directory in
      let store = try DocumentStore.open(StoreLocation.test(directory, name: "documents"))
      try store.collection("notes", of: Note.self).insert(Note(id: 1))
    }
    let location = StoreLocation.test(mount.directory, name: "documents")
    let queue = try queue(location)
    #expect(try queue.counts().count == 0)
    let server = ScriptedServer(answer: { _, _ in UploadResponse(status: 200) })
    let worker = UploadWorker(queue, options: Bench.plain) { try await server.send($0) }
    let running = Task { try await worker.run() }
    try await queue.enqueue("own", kind: "k")
    try await self.queue(location).enqueue("other", kind: "k")
    try await eventually { self.received(server) == ["own", "other"] && (try? queue.counts().count) == 0 }
    running.cancel()
    _ = await running.result
    withExtendedLifetime(mount) {}
  }
}
