import Catalog
import CatalogRows
import CoreMetrics
import Foundation
import Logging
import ServiceLifecycle
import StoreTestSupport
import Testing
import Workspace

@testable import DaemonHTTP
@testable import ScanDaemon

/// A daemon with its server, for as long as a test needs it.
struct TestDaemon: Sendable {
  let daemon: Daemon
  let server: DaemonServer
  let client: TestClient
  let checker: OpenAPIChecker
  let group: ServiceGroup

  /// Runs a daemon with a small catalogue of the user `ana`: a set `1000` of `1001` and `1002`, which is missing.
  static func run(
    _ change: (inout DaemonOptions, inout DaemonServer.Options) -> Void = { _, _ in },
    isFilled: Bool = true, metrics: (any MetricsFactory)? = nil, _ body: (TestDaemon) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    var daemonOptions = DaemonOptions(root: directory.path + "/root")
    daemonOptions.user = "ana"
    var options = DaemonServer.Options()
    options.address = .host("127.0.0.1", port: 0)
    // On a busy machine a test's own task may wait longer than a client should before it sends its request.
    options.headTimeout = .seconds(600)
    options.idleTimeout = .seconds(600)
    change(&daemonOptions, &options)
    let (places, listening) = AsyncStream.makeStream(of: String.self)
    options.onListening = { listening.yield($0) }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var environment = DaemonEnvironment()
    if let metrics { environment.metrics = metrics }
    let daemon = try Daemon(daemonOptions, logger: logger, environment: environment)
    if isFilled { try fill(daemon.workspace) }
    let server = try DaemonServer(daemon, options: options, logger: logger)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: (daemon.services + [server]).map { .init(service: $0) }, logger: logger))
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { listening.finish() }
        try await group.run()
      }
      for await place in places {
        let client = TestClient(place: Int(place).map { .port($0) } ?? .socket(place))
        try await body(
          TestDaemon(daemon: daemon, server: server, client: client, checker: OpenAPIChecker(options), group: group))
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  private static func fill(_ workspace: Workspace) throws {
    let writer = try workspace.stores().catalogueWriter()
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for (id, barcode, name) in [
      ("1000", "6900000010003", "set"), ("1001", "6901234567892", "indoor \"unit\""), ("a/b", "69/1", "slash"),
    ] {
      var product = Product()
      (product.id, product.barcode, product.name) = (id, barcode, name)
      product.weight = 11.5
      product.fill(&row)
      try update.product(row)
    }
    var relationRow = RelationRow()
    for (id, component) in [("r1", "1001"), ("r2", "1002")] {
      var relation = Relation()
      (relation.id, relation.productId, relation.subProductId) = (id, "1000", component)
      relation.groupNum = 1
      relation.fill(&relationRow)
      try update.relation(relationRow)
    }
    _ = try update.commit(cursor: "monday")
  }

  /// Sends a request and holds it and its answer against the document.
  ///
  /// - Parameter isFull: Whether the server has as many connections as it takes, so that it may end one unread.
  @discardableResult
  func exchange(
    _ method: String, _ target: String, _ body: String? = nil, headers: [(name: String, value: String)] = [],
    expecting status: Int = 200, isFull: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> TestAnswer {
    let bytes = body.map { Array($0.utf8) }
    let request = client.request(method, target, body: bytes, headers: headers)
    let isHead = method == "HEAD"
    let answer =
      try await isFull
      ? client.sendAgainIfUnread(request, isHead: isHead) : client.send(request, isHead: isHead)
    #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
    let faults = checker.faults(
      method, target, status: answer.status, contentType: answer.headers["content-type"], body: answer.body)
    #expect(faults == [], "\(method) \(target)", sourceLocation: sourceLocation)
    if let bytes, answer.status < 300 {
      #expect(checker.faults(method, target, requestBody: bytes) == [], sourceLocation: sourceLocation)
    }
    #expect(answer.headers["date"] != nil, sourceLocation: sourceLocation)
    return answer
  }

  /// Misses are entered behind their answers: waits until there are so many.
  func misses(_ count: Int, _ target: String = "/v1/misses?limit=1000") async throws -> [JSONBody] {
    var misses: [JSONBody] = []
    for _ in 0..<500 {
      misses = try await exchange("GET", target).json["misses"]?.elements ?? []
      if misses.count == count { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(misses.count == count)
    return misses
  }
}
