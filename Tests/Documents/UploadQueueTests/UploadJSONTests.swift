import DocumentFormat
import JSONFormat
import StoreTestSupport
import Testing

@testable import Documents
@testable import UploadQueue

/// Uploads of JSON text.
@Suite struct UploadJSONTests {
  static let texts = [
    #"{"id":"1","n":1.00,"t":"\u0041ü","n":2}"#, "null", "\"\"", "0", " [ 1 ,\r\n\t2e2 ]\n", #"{"a":{"b":[{}]}}"#,
  ]

  let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory() }

  private func format(_ bench: Bench) throws -> Int {
    try bench.queue.tables.state(in: bench.documents.snapshot()).format
  }

  private func files() throws -> [UploadFile] {
    try folder.write(Array("picture".utf8), to: "a.jpg")
    return [try UploadFile(contentsOf: folder.path + "/a.jpg")]
  }

  // MARK: The text

  @Test(arguments: texts)
  func `a text is kept byte for byte, also for the next program that opens the store`(_ text: String) async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue(payload: .json(UploadJSON(text)), kind: "k")
    let after = try Bench(bench.device)
    for queue in [bench.queue, after.queue] {
      let upload = try #require(try queue.upload(id))
      guard case .json(let json) = upload.payload else { throw UploadRefusal("\(upload.payload)") }
      #expect(json.bytes == Array(text.utf8))
      #expect(upload.payload.json == json && upload.payload.files.isEmpty)
      // Of two fields with one name the first one counts, as the text is another program's.
      let value = try DocumentValue(json: text.utf8.span, repeatedKeys: .firstCounts)
      #expect(upload.payload.document == value)
      #expect(try upload.decode(DocumentValue.self) == value)
      #expect(
        String(decoding: upload.json.bytes, as: UTF8.self).hasSuffix(String(decoding: json.line, as: UTF8.self) + "}"))
      try checkInvariants(queue)
    }
  }

  @Test(arguments: [
    "", " ", "{", "[1,]", "{}x", "{} {}", "\u{FEFF}{}", "{'a':1}", "\"\n\"", "nul", "01", "1e999", #""\x""#, "\0",
  ])
  func `what is not JSON is refused`(_ text: String) { #expect(throws: JSONError.self) { try UploadJSON(text) } }

  @Test(
    arguments: [[0xFF], [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22]] as [[UInt8]])
  func `what is not UTF-8 is refused`(_ bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try UploadJSON(bytes) }
  }

  @Test func `as many levels are taken as a document may have, and not one more`() throws {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    let most = DocumentLimits.nestingDepth
    let json = try UploadJSON(nested(most))
    #expect(try json.value() == DocumentValue(json: nested(most)))
    #expect(throws: JSONError.nestedTooDeeply(limit: most, offset: most)) { try UploadJSON(nested(most + 1)) }
    #expect(throws: JSONError.self) { try UploadJSON(nested(1_000_000)) }
  }

  @Test(arguments: texts)
  func `on one line it is the same value, of the same length`(_ text: String) throws {
    let json = try UploadJSON(text)
    let line = try UploadJSON(json.line)
    #expect(line.bytes.count == json.bytes.count && !line.bytes.contains(10) && !line.bytes.contains(13))
    #expect(try line.value() == json.value())
    if !text.contains(where: \.isNewline) { #expect(line == json) }
  }

  // MARK: The queue

  @Test(arguments: [0, 1, 21, 22, 253, 254, 255, 256, 65_533, 65_534, 65_535, 65_536, 100_000])
  func `its bytes are counted as they are stored`(_ length: Int) async throws {
    let bench = try Bench()
    let json = try UploadJSON("\"" + String(repeating: "a", count: length) + "\"")
    let id = try await bench.queue.enqueue(payload: .json(json), kind: "k")
    let stored = try #require(try bench.queue.tables.uploads.get(id))
    #expect(stored.ordinal == 1)
    #expect(try bench.queue.counts().byteCount == DocumentEncoder().encode(stored).count)
    #expect(try !bench.queue.recount())
  }

  @Test func `a text that is too large is refused`() async throws {
    var options = QueueOptions()
    options.maximumPayloadByteCount = 1000
    let bench = try Bench(options: options)
    let overhead = StoredUpload.byteCount(of: try UploadJSON("\"" + String(repeating: "a", count: 500) + "\"")) - 502
    let longest = String(repeating: "a", count: 1000 - overhead - 2)
    try await bench.queue.enqueue(payload: .json(UploadJSON("\"\(longest)\"")), kind: "k")
    await #expect(throws: UploadQueueError.payloadTooLarge(byteCount: 1001, limit: 1000)) {
      try await bench.queue.enqueue(payload: .json(UploadJSON("\"\(longest)a\"")), kind: "k")
    }
  }

  @Test func `a queue has another form while it has text, which former programs refuse, and only then`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", kind: "k")
    #expect(try format(bench) == 1)
    let id = try await bench.queue.enqueue(payload: .json(UploadJSON("1")), kind: "k")
    #expect(try format(bench) == 3)
    // This is how the version before decides what it can read.
    #expect(try !(1...2).contains(format(bench)))
    try await bench.queue.enqueue("c", files: files(), kind: "k")
    #expect(try format(bench) == 3, "files do not lower it")
    try await bench.queue.drop(id)
    #expect(try format(bench) == 3)
    try await bench.queue.clear()
    #expect(try format(bench) == 1)
    try await bench.queue.enqueue("c", files: files(), kind: "k")
    #expect(try format(bench) == 2)
    try await bench.queue.enqueue(payload: .json(UploadJSON("1")), kind: "k")
    #expect(try format(bench) == 3)
  }

  @Test func `a repair that loses the form finds it again, and leaves the uploads as they are`() async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("a", files: files(), kind: "k")
    try await bench.queue.enqueue(payload: .json(UploadJSON(#"{"a": 1.0}"#)), kind: "k")
    let digest = try QueueDigest(bench.documents)
    try bench.documents.transaction { try $0.delete(QueueState.theID, from: bench.queue.tables.states) }
    #expect(try bench.queue.recount())
    #expect(try format(bench) == 3)
    #expect(try !bench.queue.recount())
    #expect(try QueueDigest(bench.documents) == digest)
    try checkInvariants(bench.queue)
  }

  @Test func `a digest covers each byte of a text, and tells it from a value`() async throws {
    var digests: Set<String> = []
    let text = #"{"a":1}"#
    let payloads: [UploadPayload] = [
      .value(try DocumentValue(json: text)), .json(try UploadJSON(text)), .json(try UploadJSON(#"{"a": 1}"#)),
      .json(try UploadJSON(#"{"a":1.0}"#)),
    ]
    for payload in payloads {
      let bench = try Bench()
      try await bench.queue.enqueue(payload: payload, kind: "k")
      digests.insert(try QueueDigest(bench.documents).description)
    }
    #expect(digests.count == 4)
  }

  // MARK: What another program stored

  @Test(arguments: ["", "{", "{\"id\":\"x\"", "a\nb", String(repeating: "[", count: 100_000)])
  func `a text in the store that is no JSON traps nothing, and its neighbours are sent`(_ text: String) async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue(payload: .json(UploadJSON("1")), kind: "k")
    try await bench.queue.enqueue(payload: .json(UploadJSON("\"next\"")), kind: "k")
    let damaged = StoredUpload(id, ordinal: 1, .json(UploadJSON(unchecked: text)))
    try bench.documents.transaction { try $0.upsert(damaged, into: bench.queue.tables.uploads) }
    let upload = try #require(try bench.queue.upload(id))
    #expect(upload.payload.document == nil && upload.payload.json?.bytes == Array(text.utf8))
    #expect(throws: JSONError.self) { try upload.decode(DocumentValue.self) }
    #expect(upload.nameInBatch == (text.contains("id") ? "x" : id.text))
    // Programs that look at the queue get JSON on one line.
    let shown = try UploadJSON(upload.json.bytes)
    #expect(try shown.line == shown.bytes && shown.value()["payload"] == .text(text.replacing("\n", with: " ")))
    #expect(try QueueDigest(bench.documents).count == 2)
    #expect(try !bench.queue.recount())
    let worker = UploadWorker(bench.queue, options: Bench.plain) { upload in
      guard upload.payload.document == .text("next") else { throw UploadRefusal("no JSON") }
      return UploadResponse(status: 200)
    }
    try await worker.run(untilEmpty: true)
    #expect(try bench.queue.uploads().map(\.state) == [.parked])
    #expect(try bench.queue.counts().delivered == 1)
  }

  @Test func `a text in the store that is no UTF-8 is parked, and its neighbours are sent`() async throws {
    let bench = try Bench()
    let id = try await bench.queue.enqueue(payload: .json(UploadJSON("1")), kind: "k")
    try await bench.queue.enqueue(payload: .json(UploadJSON("2")), kind: "k")
    let tables = bench.queue.tables
    let stored = StoredUpload(id, ordinal: 1, .json(UploadJSON(unchecked: "ab")))
    var bytes = try DocumentEncoder().encode(stored)
    let place = try #require(bytes.indices.last { bytes[$0...].starts(with: Array("ab".utf8)) })
    bytes[place] = 0xFF
    let (key, document) = (try DocumentEncoder().encode(id), bytes)
    try bench.documents.transaction { $0.put(tables.uploads.table, key, document) }
    #expect(throws: DocumentStoreError.self) { try bench.queue.upload(id) }
    let worker = UploadWorker(bench.queue, options: Bench.plain) { _ in UploadResponse(status: 200) }
    try await worker.run(untilEmpty: true)
    let counts = try bench.queue.counts()
    #expect(counts.parked == 1 && counts.delivered == 1)
  }

  // MARK: Batches

  @Test(arguments: [
    (#"{"id":"a"}"#, "a"), (#"{"b":[{"id":"c"},{"id":"d"}],"o":{"id":"e"}, "id" : "a","id":"f"}"#, "a"),
    (#"{"id":"\u0061"}"#, "a"), (#"{"id":1}"#, nil), (#"{"id":null,"id":"a"}"#, nil), (#"[{"id":"a"}]"#, nil),
    (#""id""#, nil), ("{}", nil), (#"{"ID":"a"}"#, nil), (#"{"o":{"id":"e"}}"#, nil),
  ])
  func `an answer to a batch names a text by its id`(_ text: String, _ id: String?) async throws {
    let bench = try Bench()
    try await bench.queue.enqueue("other", kind: "k")
    try await bench.queue.enqueue(payload: .json(UploadJSON(text)), kind: "k")
    let uploads = try bench.queue.uploads()
    #expect(uploads[1].nameInBatch == id ?? uploads[1].id.text)
    // As a value it has the same name.
    let value = Upload(try #require(try bench.queue.tables.schedule.get(2)), .value(try UploadJSON(text).value()))
    #expect(value.nameInBatch == uploads[1].nameInBatch)
    let body = #"{"failed":[{"id":"\#(uploads[1].nameInBatch)","status":422}]}"#
    let response = UploadResponse(status: 200, body: .complete(Array(body.utf8)))
    let answer = try BatchAnswer(response, to: UploadBatch(uploads), UploadRetryPolicy())
    guard case .each(let outcomes) = answer else { throw UploadRefusal("\(answer)") }
    #expect(outcomes[0] == .delivered && outcomes[1] != .delivered)
  }
}
