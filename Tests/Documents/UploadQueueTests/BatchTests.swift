import DocumentFormat
import RandomTestSupport
import StoreTestSupport
import Synchronization
import Testing
import WaitingTestSupport

@testable import UploadQueue

/// Several uploads in one request.
@Suite(.timeLimit(.minutes(10))) struct BatchTests {
  /// A server that takes batches, answers as a test says, and writes down what it took.
  private final class BatchServer: Sendable {
    typealias Answer = @Sendable (_ batch: UploadBatch, _ texts: [String], _ number: Int) async throws -> UploadResponse

    struct Request: Sendable {
      let id: String
      let texts: [String]
      let status: Int
    }

    private let state = Mutex<[Request]>([])
    private let answer: Answer

    init(_ answer: @escaping Answer = { _, _, _ in UploadResponse(status: 204) }) { self.answer = answer }

    var log: [Request] { state.withLock { $0 } }
    var taken: [String] { log.filter { $0.status < 300 }.flatMap(\.texts) }

    @Sendable func send(_ batch: UploadBatch) async throws -> UploadResponse {
      let texts = try batch.uploads.map { try $0.decode(String.self) }
      let number = log.count + 1
      do {
        let response = try await answer(batch, texts, number)
        state.withLock { $0.append(Request(id: batch.id, texts: texts, status: response.status)) }
        return response
      } catch {
        state.withLock { $0.append(Request(id: batch.id, texts: texts, status: 999)) }
        throw error
      }
    }
  }

  private func options(_ maximum: Int = 10, linger: Duration = .zero) -> WorkerOptions {
    var options = Bench.plain
    options.concurrency = 4
    options.retry.countsOutages = false
    options.retry.maximumRetries = 5
    options.retry.firstPause = .milliseconds(250)
    options.batches["k"] = UploadBatchOptions(maximumCount: maximum, linger: linger)
    return options
  }

  private func run(_ bench: Bench, _ server: BatchServer, _ options: WorkerOptions) async throws {
    let worker = UploadWorker(bench.queue, options: options, batchTransport: server.send) { _ in
      Issue.record("it goes alone")
      return UploadResponse(status: 200)
    }
    try await worker.run(untilEmpty: true)
    try checkInvariants(bench.queue)
  }

  private func json(_ text: String, status: Int = 200) -> UploadResponse {
    UploadResponse(status: status, body: .complete(Array(text.utf8)))
  }

  @Test
  func `consecutive uploads of a key go together, in order, with one commit for both what was sent and what is next`()
    async throws
  {
    let bench = try Bench()
    for number in 0..<25 { try await bench.queue.enqueue("a\(number)", kind: "k", orderKey: "a") }
    try await bench.queue.enqueue("b0", kind: "k", orderKey: "b")
    let commits = bench.events.commits.count
    let server = BatchServer()
    var options = options()
    options.concurrency = 1
    try await run(bench, server, options)
    #expect(server.log.map(\.texts.count) == [10, 10, 5, 1])
    #expect(server.taken == (0..<25).map { "a\($0)" } + ["b0"])
    #expect(Set(server.log.map(\.id)).count == 4)
    #expect(bench.events.commits.count - commits == 5, "one to begin, and one for each batch")
    #expect(try bench.queue.counts().delivered == 26)
  }

  @Test func `a batch has one kind and fits the bytes; files and uploads without a key go alone`() async throws {
    let folder = try TemporaryDirectory()
    try folder.write(Array("picture".utf8), to: "a.jpg")
    let bench = try Bench()
    let file = try FileReference(contentsOf: folder.path + "/a.jpg")
    let alone = Mutex<[String]>([])
    for text in ["1", "2"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    try await bench.queue.enqueue("other", kind: "other", orderKey: "o")
    for text in ["3", "4"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    try await bench.queue.enqueue(payload: .file(file), kind: "k", orderKey: "o")
    for text in ["5", "6"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    for _ in 0..<2 { try await bench.queue.enqueue("free", kind: "k") }
    let server = BatchServer()
    let worker = UploadWorker(bench.queue, options: options(), batchTransport: server.send) { upload in
      alone.withLock { $0.append(upload.kind) }
      return UploadResponse(status: 200)
    }
    try await worker.run(untilEmpty: true)
    try checkInvariants(bench.queue)
    #expect(server.log.map(\.texts).filter { $0 != ["free"] } == [["1", "2"], ["3", "4"], ["5", "6"]])
    #expect(server.log.count { $0.texts == ["free"] } == 2)
    #expect(alone.withLock { $0 } == ["other", "k"])
    // By their bytes.
    var small = options()
    small.batches["k"]?.maximumByteCount = 400
    let long = String(repeating: "x", count: 100)
    for _ in 0..<5 { try await bench.queue.enqueue(long, kind: "k", orderKey: "o") }
    let other = BatchServer()
    try await run(bench, other, small)
    #expect(other.log.allSatisfy { $0.texts.count <= 2 } && other.taken.count == 5 && other.log.count == 3)
  }

  @Test func `a batch that got no answer goes again as it was, under the same id`() async throws {
    let bench = try Bench()
    for number in 0..<3 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "o") }
    let queue = bench.queue
    let server = BatchServer { _, _, number in
      if number < 3 {
        try await queue.enqueue("later \(number)", kind: "k", orderKey: "o")
        throw NoNetwork()
      }
      return UploadResponse(status: 200)
    }
    try await run(bench, server, options())
    #expect(server.log.map(\.texts) == [["0", "1", "2"], ["0", "1", "2"], ["0", "1", "2"], ["later 1", "later 2"]])
    #expect(Set(server.log.prefix(3).map(\.id)).count == 1 && server.log[3].id != server.log[0].id)
  }

  @Test(arguments: [422, 500, 200])
  func `one upload that is refused parks alone, after its retries, and its neighbours arrive in order`(status: Int)
    async throws
  {
    let bench = try Bench()
    for number in 0..<40 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "o") }
    let server = BatchServer { _, texts, _ in
      let isBad = texts.contains("13")
      if status == 200 { return self.json(#"{"ok":\#(!isBad)}"#) }
      return UploadResponse(status: isBad ? status : 204)
    }
    var options = options(32)
    if status == 200 {
      let rule = try UploadSuccessRule("ok == true")
      options.success = { _, response in try rule.holds(for: response) }
    }
    try await run(bench, server, options)
    let parked = try bench.queue.uploads()
    #expect(try parked.map { try $0.decode(String.self) } == ["13"])
    #expect(parked.first?.state == .parked && parked.first?.lastError?.status == status)
    let attempts = server.log.count { $0.texts == ["13"] }
    // After an error like 500, one that arrived must show whose fault it was: how soon it does is a matter of turns.
    #expect(status == 500 ? (6...12).contains(attempts) : attempts == 6, "it was tried alone \(attempts) times")
    let good = server.log.filter { !$0.texts.contains("13") }.flatMap(\.texts)
    #expect(good == (0..<40).filter { $0 != 13 }.map { "\($0)" })
    #expect(server.log.count < 14 + attempts, "halves: not one by one")
  }

  @Test func `with hold the key of a refused upload waits, also within a batch`() async throws {
    let bench = try Bench()
    for number in 0..<8 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "o") }
    let server = BatchServer { _, texts, _ in UploadResponse(status: texts.contains("3") ? 422 : 204) }
    var options = options()
    options.onParked = { _, _ in .hold }
    try await run(bench, server, options)
    #expect(server.taken == ["0", "1", "2"])
    #expect(try bench.queue.heldKeys().count == 1 && bench.queue.counts().waiting == 4)
  }

  @Test(arguments: [
    (207, #"{"failed":[{"index":1,"status":503},{"id":"ID4","status":422,"message":"no such product"}]}"#),
    (200, #"{"failed":[{"index":1},{"id":"ID4","status":404}]}"#),
    (207, #"{"failed":["ID4",1]}"#),
    (
      207,
      #"{"results":[{"index":0,"status":204},{"index":1,"status":500},{"index":2,"status":200},{"id":"ID3","status":201}]}"#
    ),
  ])
  func `of a batch of which some failed only those are sent again`(status: Int, body: String) async throws {
    let bench = try Bench()
    var ids: [String] = []
    for number in 0..<5 { ids.append(try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "o").text) }
    let answer = body.replacing("ID4", with: ids[4]).replacing("ID3", with: ids[3])
    let server = BatchServer { _, texts, number in
      number == 1 ? self.json(answer, status: status) : UploadResponse(status: 204)
    }
    try await run(bench, server, options())
    #expect(server.log.map(\.texts) == [["0", "1", "2", "3", "4"], ["1"], ["4"]])
    #expect(try bench.queue.counts().delivered == 5)
  }

  @Test(arguments: [
    UploadResponse(status: 207), UploadResponse(status: 207, body: .complete(Array("{}".utf8))),
    UploadResponse(status: 200, body: .incomplete("is cut off")),
    UploadResponse(status: 207, body: .complete(Array(#"{"failed":[{"index":7}]}"#.utf8))),
    UploadResponse(status: 207, body: .complete(Array(#"{"failed":[{"id":"unknown"}]}"#.utf8))),
  ])
  func `an answer that does not say which arrived has all sent again`(answer: UploadResponse) async throws {
    let bench = try Bench()
    for number in 0..<4 { try await bench.queue.enqueue("\(number)", kind: "k", orderKey: "o") }
    let server = BatchServer { _, texts, _ in texts.count == 4 ? answer : UploadResponse(status: 200) }
    try await run(bench, server, options())
    #expect(server.taken.suffix(4) == ["0", "1", "2", "3"])
    #expect(try bench.queue.counts().delivered == 4 && bench.queue.counts().parked == 0)
  }

  @Test func `an id in the payload names an upload, else its own id`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue(
      payload: .value(.object([DocumentValue.Field("id", .text("scan-1"))])), kind: "k", orderKey: "o")
    try await bench.queue.enqueue(
      payload: .value(.object([DocumentValue.Field("id", .integer(7))])), kind: "k", orderKey: "o")
    let uploads = try bench.queue.uploads()
    #expect(uploads.map(\.nameInBatch) == ["scan-1", uploads[1].id.text])
    let batch = UploadBatch(uploads)
    #expect(batch.id == UploadBatch(uploads).id && batch.id != UploadBatch([uploads[0]]).id)
    #expect(batch.id != UploadBatch(uploads.reversed()).id)
    #expect(batch.id.wholeMatch(of: /batch-[0-9a-f]{32}/) != nil)
  }

  @Test func `a batch that is not full waits for more, and one that is full does not`() async throws {
    let clock = TestClock(moves: false)
    let bench = try Bench(clock: clock)
    let server = BatchServer()
    let worker = UploadWorker(
      bench.queue, options: options(3, linger: .seconds(2)), batchTransport: server.send
    ) { _ in UploadResponse(status: 200) }
    let run = Task { try await worker.run() }
    func quiet() async throws {
      for _ in 0..<200 { await Task.yield() }
      while try bench.queue.counts().sending > 0 { await Task.yield() }
    }
    for text in ["1", "2"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    try await quiet()
    #expect(server.log.isEmpty)
    try await bench.queue.enqueue("3", kind: "k", orderKey: "o")
    while server.log.isEmpty { await Task.yield() }
    for text in ["4", "5"] { try await bench.queue.enqueue(text, kind: "k", orderKey: "o") }
    try await quiet()
    #expect(server.log.map(\.texts) == [["1", "2", "3"]])
    clock.advance(by: .seconds(2))
    while server.log.count < 2 {
      clock.advance(by: .milliseconds(1))
      await Task.yield()
    }
    #expect(server.log.map(\.texts) == [["1", "2", "3"], ["4", "5"]])
    await worker.drain(within: .seconds(1))
    try await run.value
  }

  /// Random faults: nothing that was accepted is lost, and each key arrives in order, by the first time that the server
  /// took each.
  @Test func `whatever the server does to batches, all arrive, and each key in its order`() async throws {
    var random = SeededGenerator(for: "BatchTests")
    for round in 0..<(10 * depth) {
      let bench = try Bench(clock: TestClock(seed: random.next()))
      var sent: [String: [String]] = [:]
      for number in 0..<Int.random(in: 1...60, using: &random) {
        let key = ["x", "y", "z"].randomElement(using: &random)!
        try await bench.queue.enqueue("\(number)", kind: "k", orderKey: key)
        sent[key, default: []].append("\(number)")
      }
      let arrived = Mutex<[String: [String]]>([:])
      let answers = Mutex(SeededGenerator(seed: random.next()))
      let server = BatchServer { batch, texts, _ in
        let choice = answers.withLock { Int.random(in: 0..<12, using: &$0) }
        let count = answers.withLock { Int.random(in: 0...texts.count, using: &$0) }
        func take(_ count: Int) {
          let key = batch.uploads[0].orderKey ?? ""
          arrived.withLock { arrived in
            for text in texts.prefix(count) where !arrived[key, default: []].contains(text) {
              arrived[key, default: []].append(text)
            }
          }
        }
        switch choice {
        case 0: throw NoNetwork()
        case 1:
          // It took them, and the answer got lost.
          take(texts.count)
          throw NoNetwork()
        case 2: return UploadResponse(status: 503)
        case 3: return UploadResponse(status: 500)
        case 4: return UploadResponse(status: 404)
        case 5:
          take(count)
          let failed = (count..<texts.count).map { #"{"index":\#($0),"status":503}"# }.joined(separator: ",")
          return self.json(#"{"failed":[\#(failed)]}"#, status: 207)
        default:
          take(texts.count)
          return UploadResponse(status: 200)
        }
      }
      var options = options(Int.random(in: 1...8, using: &random))
      // By chance the same one may fail often.
      options.retry.maximumRetries = 1000
      let worker = UploadWorker(bench.queue, options: options, batchTransport: server.send) { _ in
        UploadResponse(status: 200)
      }
      try await worker.run(untilEmpty: true, waitsForPaused: true)
      try checkInvariants(bench.queue)
      #expect(try bench.queue.counts().count == 0, "round \(round)")
      #expect(arrived.withLock { $0 } == sent, "round \(round)")
    }
  }
}
