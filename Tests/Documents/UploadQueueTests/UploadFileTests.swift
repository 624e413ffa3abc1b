import DocumentFormat
import Documents
import StoreTestSupport
import Testing

@testable import UploadQueue

/// Uploads of a value and files.
@Suite struct UploadFileTests {
  let folder: TemporaryDirectory

  init() throws {
    folder = try TemporaryDirectory()
    for name in ["a.jpg", "b.jpg"] { try folder.write(Array("picture \(name)".utf8), to: name) }
  }

  private func files() throws -> [UploadFile] {
    [
      try UploadFile(contentsOf: folder.path + "/a.jpg"),
      try UploadFile(contentsOf: folder.path + "/b.jpg", name: "label", contentType: "image/jpeg"),
    ]
  }

  private func format(_ bench: Bench) throws -> Int {
    try bench.queue.tables.state(in: bench.documents.snapshot()).format
  }

  @Test func `a value and its files are one upload, also for the next program that opens the store`() async throws {
    let bench = try Bench()
    let files = try files()
    let id = try await bench.queue.enqueue(["code": "690"], files: files, kind: "scan")
    let after = try Bench(bench.device)
    for queue in [bench.queue, after.queue] {
      let upload = try #require(try queue.upload(id))
      #expect(try upload.decode([String: String].self) == ["code": "690"])
      #expect(upload.payload == .document(.object([DocumentValue.Field("code", .text("690"))]), files: files))
      #expect(upload.payload.files == files.map(\.file) && files[1].name == "label")
      try checkInvariants(queue)
    }
    #expect(throws: UploadQueueError.full(queue: "uploads", count: 0, byteCount: 0)) {
      var options = QueueOptions()
      options.maximumCount = 0
      let queue = try UploadQueue(in: try Bench().documents, options: options)
      try queue.store.transaction { _ = try queue.enqueue("a", files: files, kind: "k", in: $0) }
    }
  }

  @Test func `a queue has another form while it has files, which former programs refuse, and only then`() async throws {
    let bench = try Bench()
    #expect(QueueState.plainFormat == 1 && QueueState.formatWithFiles == 2)
    try await bench.queue.enqueue("a", kind: "k")
    try await bench.queue.enqueue(payload: .file(files()[0].file), kind: "k")
    try await bench.queue.enqueue("b", files: [], kind: "k")
    #expect(try format(bench) == 1)
    let id = try await bench.queue.enqueue("c", files: files(), kind: "k")
    #expect(try format(bench) == 2)
    try await bench.queue.drop(id)
    // A program that counts uploads one by one would not do for this.
    #expect(try format(bench) == 2)
    try await bench.queue.clear()
    #expect(try format(bench) == 1)
  }

  @Test func `a repair that loses the form finds it again`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", files: files(), kind: "k")
    try bench.documents.transaction { try $0.delete(QueueState.theID, from: bench.queue.tables.states) }
    #expect(try bench.queue.recount())
    #expect(try format(bench) == 2)
    #expect(try !bench.queue.recount())
  }

  @Test func `it is sent only if all files are those that were enqueued`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("same", files: [files()[0]], kind: "same")
    try await bench.queue.enqueue("changed", files: files(), kind: "changed")
    try folder.write(Array("picture B.jpg".utf8), to: "b.jpg")
    let server = ScriptedServer()
    try await bench.run(server)
    let left = try bench.queue.uploads()
    #expect(server.log.count == 1 && left.map(\.kind) == ["changed"] && left[0].state == .parked)
    #expect(left[0].lastError?.message.contains("b.jpg") == true)
  }

  @Test func `a digest covers files`() async throws {
    var digests: Set<String> = []
    let all = try files()
    for files in [[], [all[0]], all, all.reversed(), [try UploadFile(all[0].file, name: "other")]] {
      let bench = try Bench()
      try await bench.queue.enqueue("a", files: files, kind: "k")
      digests.insert(try QueueDigest(bench.documents).description)
    }
    #expect(digests.count == 5)
  }

  @Test(arguments: [
    ("", "a/b"), ("a\r\nX: 1", "a/b"), ("a", "a/b\r\nX: 1"), ("a", ""), ("a", "ä"),
    (String(repeating: "a", count: 201), "a/b"),
  ])
  func `a field that cannot be sent is refused`(name: String, contentType: String) throws {
    let file = try FileReference(contentsOf: folder.path + "/a.jpg")
    #expect(throws: UploadQueueError.field(name: name, contentType: contentType)) {
      try UploadFile(file, name: name, contentType: contentType)
    }
  }
}
