import CatalogHTTP
import CatalogRows
import CatalogSources
import CurlClient
import Foundation
import Logging
import ServiceLifecycle
import Testing

@testable import CatalogOrigin
import ServerAnswers

@Suite(.timeLimit(.minutes(10))) struct OriginServerTests {
  let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Runs a server over two files for as long as `body` does, then shuts it down gracefully.
  func withServer(
    products: String = "{\"id\":\"1\",\"updateTime\":\"2026-01-01 00:00:00\"}\n", relations: String = "",
    token: String? = nil, _ body: (_ url: String, OriginStore) async throws -> Void
  ) async throws {
    let source = CatalogueSource(
      serverRows: try folder.write(products, to: "products"),
      relations: try folder.write(relations, to: "relations"))
    let logger = LogRecorder().logger
    let store = try await OriginStore(source: source, clock: OriginClock { 1_767_323_045 }, logger: logger)
    var options = OriginServer.Options()
    options.port = 0
    options.token = token
    // The tests reload by themselves.
    options.watchInterval = .seconds(3_600)
    let (ports, report) = AsyncStream.makeStream(of: Int.self)
    options.onListening = { report.yield($0) }
    let server = OriginServer(store: store, options: options, logger: logger)
    let group = ServiceGroup(configuration: .init(services: [.init(service: server)], logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask { try await group.run() }
      for await port in ports {
        try await body("http://127.0.0.1:\(port)/", store)
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  struct Synced {
    var rows = RowCollector()
    var summary = PayloadSummary()
  }

  /// A client: transport and decoder.
  func sync(_ url: String, cursor: String, authorization: String? = nil) async throws -> Synced {
    struct Decoding: ~Copyable {
      var decoder = try! ResponseDecoder()
      var rows = RowCollector()
      mutating func consume(_ chunk: Span<UInt8>) throws { try decoder.consume(chunk, into: &rows) }
      consuming func finish() throws -> Synced { Synced(rows: rows, summary: try decoder.finish()) }
    }
    var options = TransportOptions()
    options.authorization = authorization
    options.retry.maximumAttempts = 1
    let transport = try HTTPTransport(url: url, options: options)
    return try await transport.fetch(cursor: cursor, into: { Decoding() }) { try $0.consume($1) }.take()
      .finish()
  }

  /// A bare request.
  func exchange(
    _ method: String, _ url: String, authorization: String? = nil
  ) async throws -> (status: Int, headers: ResponseHead, body: String) {
    var request = ClientRequest(url: url)
    request.method = method
    if let authorization { request.headers.append(("Authorization", authorization)) }
    let exchange = try HTTPClient(keepsConnections: false).begin(request)
    let head = try await exchange.head()
    let body = try await exchange.prefix(1 << 20, within: .seconds(600)) ?? []
    return (head.status, head, String(decoding: body, as: UTF8.self))
  }

  @Test func `a client follows the files over HTTP`() async throws {
    let first = [
      TestProduct(id: "1", name: "a “quoted” name \u{2028} 空调", updateTime: "2026-01-01 00:00:00"),
      TestProduct(id: "2", name: "b", updateTime: "2026-01-01 00:00:01"),
    ]
    let relations = [TestRelation(id: "r", productId: "1", subProductId: "2")]
    func text(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }
    try await withServer(products: text(first.map(\.json)), relations: text(relations.map(\.json))) {
      url, store in
      let full = try await sync(url, cursor: "")
      #expect(full.rows.products == first)
      #expect(full.rows.relations == relations)
      #expect(full.summary.updateTime == "2026-01-01 00:00:01")

      let nothing = try await sync(url, cursor: full.summary.updateTime)
      #expect(nothing.rows.products.isEmpty)
      #expect(nothing.summary.updateTime == full.summary.updateTime)

      // One changed without a new updateTime, one gone, one new.
      let changed = [
        TestProduct(id: "1", name: "new", updateTime: "2026-01-01 00:00:00"), TestProduct(id: "3"),
      ]
      try folder.write(text(changed.map(\.json)), to: "products", atomically: true)
      try await store.reloadIfChanged { _ in }
      let increment = try await sync(url, cursor: full.summary.updateTime)
      #expect(increment.summary.updateTime == "2026-01-02 03:04:05")
      #expect(
        increment.rows.products.sorted { $0.id < $1.id } == [
          changed[0], TestProduct(id: "2", name: "b", updateTime: "2026-01-02 03:04:05", delFlag: 1),
          changed[1],
        ])
      #expect(increment.rows.relations == relations)
      #expect(try await sync(url, cursor: "").rows.products.sorted { $0.id < $1.id } == changed)
    }
  }

  @Test func `an answer longer than every buffer arrives whole`() async throws {
    let products = (0..<3_000).map { index in
      TestProduct(id: "\(index)", name: "\(UUID()) \(UUID()) \(UUID())", updateTime: "2026-01-01 00:00:00")
    }
    try await withServer(products: products.map { $0.json + "\n" }.joined()) { url, _ in
      let full = try await sync(url, cursor: "")
      #expect(full.summary.bytesIn > 200_000)
      #expect(full.rows.products.sorted { $0.id < $1.id } == products.sorted { $0.id < $1.id })
    }
  }

  @Test func `HEAD has the length that GET has`() async throws {
    try await withServer { url, _ in
      let get = try await exchange("GET", url)
      let head = try await exchange("HEAD", url)
      #expect((get.status, head.status) == (200, 200))
      #expect(get.headers["content-type"] == "application/json; charset=utf-8")
      #expect(get.body.hasPrefix(#"{"message":""#))
      #expect(get.body.contains(#","code":1000,"data":""#))
      #expect(get.headers["content-length"] == String(get.body.utf8.count))
      #expect(head.headers["content-length"] == String(get.body.utf8.count))
      #expect(head.body.isEmpty)
    }
  }

  @Test func `what is refused comes as an envelope with another code`() async throws {
    try await withServer { url, _ in
      let post = try await exchange("POST", url)
      #expect(post.status == 405)
      #expect(post.headers["allow"] == "GET, HEAD")
      #expect(post.body == #"{"message":"only GET and HEAD are possible","code":405,"data":null}"#)
      let lost = try await exchange("GET", url + "other")
      #expect(lost.status == 404)
      #expect(lost.body.contains(#""code":404"#))
      #expect(try await exchange("GET", url + "?updateTime=%FF").status == 400)
    }
  }

  @Test func `the health is told without a token, the catalogue only with it`() async throws {
    try await withServer(token: "abc") { url, _ in
      let health = try await exchange("GET", url + "healthz")
      #expect(health.status == 200)
      #expect(health.body == #"{"message":"ok","code":1000,"data":null}"#)
      let stranger = try await exchange("GET", url)
      #expect(stranger.status == 401)
      #expect(stranger.headers["www-authenticate"] == "Bearer")
      #expect(try await exchange("GET", url, authorization: "Bearer abd").status == 401)
      #expect(try await sync(url, cursor: "", authorization: "Bearer abc").rows.products.count == 1)
    }
  }

  @Test func `cancellation ends the server`() async throws {
    let path = try folder.write("{\"id\":\"1\"}\n", to: "products")
    let logger = LogRecorder().logger
    let store = try await OriginStore(source: CatalogueSource(serverRows: path, relations: nil), logger: logger)
    var options = OriginServer.Options()
    options.port = 0
    let (ports, report) = AsyncStream.makeStream(of: Int.self)
    options.onListening = {
      report.yield($0)
      report.finish()
    }
    let server = OriginServer(store: store, options: options, logger: logger)
    let task = Task { try await server.run() }
    for await _ in ports {}
    task.cancel()
    _ = await task.result
  }

  @Test func `a port that is taken is reported`() async throws {
    try await withServer { url, store in
      var options = OriginServer.Options()
      options.port = try #require(URL(string: url)?.port)
      let server = OriginServer(store: store, options: options, logger: LogRecorder().logger)
      let error = await #expect(throws: OriginError.self) { try await server.run() }
      guard case .cannotListen("127.0.0.1", options.port, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }
}
