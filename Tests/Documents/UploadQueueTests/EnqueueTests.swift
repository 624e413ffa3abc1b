import DocumentFormat
import Documents
import Foundation
import LogStore
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing

@testable import UploadQueue

@Suite struct EnqueueTests {
  private struct Scan: Codable, Identifiable, Equatable {
    let id: Int
    var code: String
  }

  @Test func `an upload is found by its id with everything that was said about it`() async throws {
    let bench = try Bench()
    let before = Date(timeIntervalSince1970: 1_700_000_100)
    let id = try await bench.queue.enqueue(
      Scan(id: 1, code: "4006381333931"), kind: "scan", orderKey: "input 1", replaceKey: "r", priority: .high,
      notBefore: before, timeToLive: .seconds(60))
    let upload = try #require(try bench.queue.upload(id))
    #expect(try upload.decode() == Scan(id: 1, code: "4006381333931"))
    #expect(upload.kind == "scan" && upload.orderKey == "input 1" && upload.replaceKey == "r")
    #expect(upload.priority == .high && upload.state == .waiting && upload.attempts == 0 && upload.lastError == nil)
    #expect(upload.created == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(upload.notBefore == before)
    #expect(upload.expires == Date(timeIntervalSince1970: 1_700_000_060))
    #expect(try bench.queue.uploads() == [upload])
    #expect(try UploadQueue.names(in: bench.documents) == ["uploads"])
    #expect(bench.events.all.contains(.enqueued(id)))
    try checkInvariants(bench.queue)
  }

  @Test func `a document and its upload appear together or not at all`() async throws {
    let bench = try Bench()
    let scans = try bench.documents.collection("scans", of: Scan.self)
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try bench.documents.transaction { transaction in
        try transaction.insert(Scan(id: 1, code: "a"), into: scans)
        try bench.queue.enqueue("a", kind: "scan", in: transaction)
        throw Stop()
      }
    }
    #expect(try scans.count() == 0)
    #expect(try bench.queue.counts() == QueueCounts())
    let id = try bench.documents.transaction { transaction in
      try transaction.insert(Scan(id: 2, code: "b"), into: scans)
      try bench.queue.enqueue("first", kind: "scan", replaceKey: "k", in: transaction)
      return try bench.queue.enqueue("second", kind: "scan", replaceKey: "k", in: transaction)
    }
    #expect(try scans.count() == 1)
    #expect(try bench.queue.uploads().map(\.id) == [id])
    #expect(try bench.queue.counts().superseded == 1)
    try checkInvariants(bench.queue)
  }

  @Test func `no application can mean a queue's collections`() throws {
    let bench = try Bench()
    #expect(throws: DocumentStoreError.self) {
      try bench.documents.collection("shelfmark.queue/uploads/schedule", of: Scan.self)
    }
    #expect(bench.queue.tables.uploads.name.hasPrefix(DocumentStore.reservedPrefix))
    for name in ["", "a/b", "a\nb", String(repeating: "x", count: 101)] {
      #expect(throws: UploadQueueError.name(name)) { try UploadQueue(in: bench.documents, name: name) }
    }
  }

  @Test func `a queue that is only looked at writes nothing`() throws {
    let device = SimulatedDevice()
    let queue = try UploadQueue(in: Bench.documents(device), isReadOnly: true)
    #expect(try queue.uploads().isEmpty)
    #expect(try queue.counts() == QueueCounts())
    #expect(device.names.isEmpty)
  }

  @Test func `two queues of one store do not see each other`() async throws {
    let bench = try Bench()
    let other = try UploadQueue(in: bench.documents, name: "pictures", environment: bench.clock.environment)
    try await bench.queue.enqueue("a", kind: "k", replaceKey: "r")
    try await other.enqueue("b", kind: "k", replaceKey: "r")
    #expect(try bench.queue.counts().count == 1)
    #expect(try other.uploads().map { try $0.decode(String.self) } == ["b"])
    #expect(try UploadQueue.names(in: bench.documents) == ["pictures", "uploads"])
  }

  @Test func `what cannot be enqueued says why and changes nothing`() async throws {
    var options = QueueOptions()
    options.maximumPayloadByteCount = 1000
    let bench = try Bench(options: options)
    let long = String(repeating: "x", count: 1025)
    await #expect(throws: UploadQueueError.self) { try await bench.queue.enqueue(long, kind: "k") }
    await #expect(throws: UploadQueueError.text(what: "the kind", byteCount: 0)) {
      try await bench.queue.enqueue("a", kind: "")
    }
    await #expect(throws: UploadQueueError.text(what: "the kind", byteCount: 201)) {
      try await bench.queue.enqueue("a", kind: String(long.prefix(201)))
    }
    await #expect(throws: UploadQueueError.text(what: "the order key", byteCount: 1025)) {
      try await bench.queue.enqueue("a", kind: "k", orderKey: long)
    }
    await #expect(throws: UploadQueueError.text(what: "the replace key", byteCount: 1025)) {
      try await bench.queue.enqueue("a", kind: "k", replaceKey: long)
    }
    var deep = DocumentValue.null
    for _ in 0..<600 { deep = .array([deep]) }
    let tooDeep = deep
    await #expect(throws: (any Error).self) { try await bench.queue.enqueue(payload: .value(tooDeep), kind: "k") }
    #expect(try bench.queue.counts() == QueueCounts())
    try await bench.queue.enqueue("a", kind: String(long.prefix(200)), orderKey: String(long.prefix(1024)))
    #expect(try bench.queue.counts().count == 1)
  }

  // MARK: Replacing

  @Test func `a later upload takes the place of a waiting or parked one, in the same commit`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("1", kind: "k", replaceKey: "a")
    try await bench.queue.enqueue("other", kind: "k", replaceKey: "b")
    let second = try await bench.queue.enqueue("2", kind: "k", replaceKey: "a")
    #expect(try bench.queue.uploads().map { try $0.decode(String.self) } == ["other", "2"])
    try await bench.run(ScriptedServer(status: 400))
    #expect(try bench.queue.counts().parked == 2)
    try await bench.queue.enqueue("3", kind: "k", replaceKey: "a")
    #expect(try bench.queue.upload(second) == nil)
    #expect(try bench.queue.counts().superseded == 2)
    try checkInvariants(bench.queue)
  }

  @Test func `what is being sent is not replaced, and does not come back behind its successor if it fails`()
    async throws
  {
    let bench = try Bench()
    let queue = bench.queue
    let id = try await queue.enqueue("old", kind: "k", replaceKey: "a")
    let server = ScriptedServer(answer: { upload, number in
      if number == 1 {
        try await queue.enqueue("new", kind: "k", replaceKey: "a")
        #expect(try queue.upload(upload.id)?.state == .sending)
        return UploadResponse(status: 503)
      }
      return UploadResponse(status: 200)
    })
    try await bench.run(server)
    #expect(server.texts == ["old", "new"])
    #expect(bench.events.all.contains(.superseded(id)))
    #expect(try queue.counts().superseded == 1)
  }

  // MARK: Bounds

  @Test func `a full queue refuses, and counts what it refused`() async throws {
    var options = QueueOptions()
    options.maximumCount = 2
    let bench = try Bench(options: options)
    try await bench.queue.enqueue("1", kind: "k", replaceKey: "a")
    try await bench.queue.enqueue("2", kind: "k")
    await #expect(throws: UploadQueueError.self) { try await bench.queue.enqueue("3", kind: "k") }
    // What takes the place of another one needs no room.
    try await bench.queue.enqueue("4", kind: "k", replaceKey: "a")
    #expect(try bench.queue.uploads().map { try $0.decode(String.self) } == ["2", "4"])
    let counts = try UploadQueue(in: Bench.documents(bench.device), isReadOnly: true).counts()
    #expect(counts.refused == 1 && counts.count == 2)
    try checkInvariants(bench.queue)
  }

  @Test func `the oldest make room where that is the policy, parked ones too, but not what is being sent`() async throws
  {
    var options = QueueOptions()
    options.maximumCount = 3
    options.dropPolicy = .dropOldest
    let bench = try Bench(options: options)
    let queue = bench.queue
    try await queue.enqueue("parked", kind: "bad")
    try await bench.run(ScriptedServer(status: 400))
    for text in ["1", "2", "3"] { try await queue.enqueue(text, kind: "k") }
    #expect(try queue.uploads().map { try $0.decode(String.self) } == ["1", "2", "3"])
    let server = ScriptedServer(answer: { upload, number in
      if number == 1 { for text in ["4", "5"] { try await queue.enqueue(text, kind: "k") } }
      return UploadResponse(status: 200)
    })
    var one = Bench.plain
    one.concurrency = 1
    try await bench.run(server, one)
    #expect(server.texts == ["1", "4", "5"])
    #expect(try queue.counts().dropped == 3)
  }

  @Test func `bytes are bounded as well, and what is larger than the bound never fits`() async throws {
    var options = QueueOptions()
    options.maximumByteCount = 3000
    options.dropPolicy = .dropOldest
    let bench = try Bench(options: options)
    for number in 0..<20 {
      try await bench.queue.enqueue("\(number)" + String(repeating: "x", count: 500), kind: "k")
      #expect(try bench.queue.counts().byteCount <= 3000)
    }
    #expect(try bench.queue.counts().count == 5)
    await #expect(throws: UploadQueueError.self) {
      try await bench.queue.enqueue(String(repeating: "x", count: 3000), kind: "k")
    }
    #expect(try bench.queue.counts().count == 5)
    try checkInvariants(bench.queue)
  }

  @Test func `a group of callers larger than the queue leaves the last ones`() async throws {
    var options = QueueOptions()
    options.maximumCount = 4
    options.dropPolicy = .dropOldest
    let bench = try Bench(options: options)
    let queue = bench.queue
    try bench.documents.transaction { transaction in
      for number in 0..<10 { try queue.enqueue("\(number)", kind: "k", in: transaction) }
    }
    #expect(try queue.uploads().map { try $0.decode(String.self) } == ["6", "7", "8", "9"])
    #expect(try queue.counts().dropped == 6)
    try checkInvariants(queue)
  }

  // MARK: Group commit

  @Test func `callers that come while a commit runs share the next one, and who fails fails alone`() async throws {
    var options = QueueOptions()
    options.maximumCount = 900
    let bench = try Bench(options: options)
    let queue = bench.queue
    bench.device.record()
    let accepted = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<1000 {
        group.addTask { (try? await queue.enqueue("\(number)", kind: "k")) != nil }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    let syncs = bench.device.calls.count { $0 == .sync }
    #expect(accepted == 900)
    #expect(try queue.counts().count == 900)
    #expect(try queue.counts().refused == 100)
    let commits = bench.events.commits
    #expect(commits.reduce(0, +) == 1000)
    // One for the commit, one when the writer ends; and those of a compaction at most.
    #expect(syncs <= 2 * commits.count + 4)
    #expect(Set(try queue.uploads().map(\.id)).count == 900)
    try checkInvariants(queue)
  }

  @Test func `while a commit runs everybody else waits for one more`() async throws {
    let bench = try Bench()
    let queue = bench.queue
    // The first commit is held up until all others wait.
    let gate = DispatchSemaphore(value: 0)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      try await queue.group.perform { change in
        begin.yield()
        gate.wait()
        change.state.isPaused = true
      }
    }
    for await _ in begun { break }
    try await withThrowingTaskGroup(of: UploadID.self) { group in
      for number in 0..<100 { group.addTask { try await queue.enqueue("\(number)", kind: "k") } }
      while queue.group.waitingCount < 100 { await Task.yield() }
      gate.signal()
      try await group.waitForAll()
    }
    try await first.value
    #expect(bench.events.commits.suffix(2) == [1, 100])
  }

  @Test func `a commit that fails fails for all who share it`() async throws {
    let bench = try Bench()
    let queue = bench.queue
    try await queue.enqueue("before", kind: "k")
    bench.device.fail(.sync, 1, DeviceFault(EIO))
    await #expect(throws: (any Error).self) { try await queue.enqueue("lost", kind: "k") }
    bench.device.failNoMore()
    try await queue.enqueue("after", kind: "k")
    let texts = try queue.uploads().map { try $0.decode(String.self) }
    #expect(texts.first == "before" && texts.last == "after")
    try checkInvariants(queue)
  }

  // MARK: Observing

  @Test func `numbers are reported now and after each change, the state of an upload until it is gone`() async throws {
    let bench = try Bench()
    var counts = bench.queue.observedCounts.makeAsyncIterator()
    #expect(try await counts.next() == QueueCounts())
    let id = try await bench.queue.enqueue("a", kind: "k")
    #expect(try await counts.next()?.waiting == 1)
    var states = bench.queue.observedState(of: id).makeAsyncIterator()
    #expect(try await states.next() == .some(.waiting))
    try await bench.run(ScriptedServer(status: 400))
    while try await states.next() != .some(.parked) {}
    try await bench.queue.drop(id)
    while let state = try await states.next(), state != nil {}
    #expect(try bench.queue.counts().removed == 1)
    var pauses = bench.queue.observedPauses.makeAsyncIterator()
    #expect(try await pauses.next() == [])
    try await bench.queue.pause()
    #expect(try await pauses.next() == [.manual])
  }
}
