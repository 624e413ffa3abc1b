import Barcodes
import Catalog
import CatalogRows
import Foundation
import HTTPServer
import Logging
import RowTestSupport
import ScanDaemon
import ServerAnswers
import ServiceLifecycle
import StoreTestSupport
import Testing

@testable import DaemonHTTP

@Suite(.timeLimit(.minutes(10))) struct SynchronizationTests {
  /// Runs a company's server with one product for as long as `body` does.
  ///
  /// - Parameter more: Another product of it.
  func withServer(more: (id: String, barcode: String)? = nil, _ body: (_ url: String) async throws -> Void) async throws
  {
    let (full, nothing) = (PayloadEncoder(), PayloadEncoder())
    for (id, barcode) in [("7", "697"), more].compactMap(\.self) {
      var row = ProductRow()
      for (field, text) in [(ProductText.id, id), (.barcode, barcode), (.updateTime, "2026-01-01 00:00:00")] {
        row.texts.set(field.rawValue, Array(text.utf8).span)
      }
      full.product(row)
    }
    full.finish(updateTime: "2026-01-01 00:00:00")
    nothing.finish(updateTime: "2026-01-01 00:00:00")
    try await withServer(full: full.takeOutput(), nothing: nothing.takeOutput(), body)
  }

  /// Runs a server with these answers for as long as `body` does.
  private func withServer(full: [UInt8], nothing: [UInt8], _ body: (_ url: String) async throws -> Void) async throws {
    let answers = (full: full, nothing: nothing)
    let (ports, report) = AsyncStream.makeStream(of: Int.self)
    var options = Server.Options(address: .host("127.0.0.1", port: 0))
    options.onListening = { port in report.yield(port ?? 0) }
    let logger = Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
    let server = Server(options, logger: logger) { request, _, writer, _ in
      let isFull = request.query == "updateTime="
      try await writer.send(Response(status: .ok, body: .bytes(isFull ? answers.full : answers.nothing)))
    }
    let group = ServiceGroup(services: [server], logger: logger)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { report.finish() }
        try await group.run()
      }
      for await port in ports {
        try await body("http://127.0.0.1:\(port)/")
        break
      }
      await group.triggerGracefulShutdown()
      try await tasks.waitForAll()
    }
  }

  @Test func `a row that exceeds a limit is skipped and reported, and the others are taken`() async throws {
    let barcode = String(repeating: "7", count: 100_000)
    try await withServer(more: (id: "huge", barcode: barcode)) { url in
      try await TestDaemon.run(
        { options, _ in options.sync = SyncOptions(url: url) }, isFilled: false
      ) { test in
        let report = try await test.exchange("POST", "/v1/sync", #"{"full":true}"#).json
        #expect(report["skipped"] == .number(1) && report["products"]?["upserted"] == .number(1))
        #expect(report["skippedRows"]?[0]?["id"]?.text == "huge")
      }
    }
  }

  @Test func `codes of the server find their product, and keys that are named are kept`() async throws {
    func answer(_ payload: String) -> [UInt8] {
      let data = Data(GzipMaker.pack(Array(payload.utf8))).base64EncodedString()
      return Array(#"{"message":"ok","code":1000,"data":"\#(data)"}"#.utf8)
    }
    let full = answer(
      #"{"appProductVOList":[{"id":"7","barcode":"697","price":1.50,"color":"red"}],"appProductRelVOList":[],"#
        + #""appProductCodeVOList":[{"productId":"7","barcode":"16901234567899","quantity":24,"unit":"case"},"#
        + #"{"productId":"nobody","barcode":"1"}],"updateTime":"1"}"#)
    // A product that changed, and nothing about codes.
    let next = answer(
      #"{"appProductVOList":[{"id":"7","barcode":"697","price":2,"color":"red"}],"appProductRelVOList":[],"#
        + #""updateTime":"2"}"#)
    try await withServer(full: full, nothing: next) { url in
      try await TestDaemon.run(
        { options, _ in
          options.sync = SyncOptions(url: url)
          options.sync?.extraKeys = ["price"]
        }, isFilled: false
      ) { test in
        let report = try await test.exchange("POST", "/v1/sync", #"{"full":true}"#).json
        #expect(report["codes"]?["written"] == .number(2) && report["codes"]?["deleted"] == .number(0))
        for price in [#""price":1.50"#, #""price":2"#] {
          let product = try await test.exchange("GET", "/v1/products/7")
          #expect(product.text.contains(#""extra":{\#(price)}"#), "\(product.text)")
          let match = try test.daemon.workspace.stores().catalogue().match("16901234567899")
          #expect(match.products.map(\.id) == ["7"] && match.package?.quantity == ExactDecimal(24))
          let report = try await test.exchange("POST", "/v1/sync").json
          #expect(report["mode"]?.text == "incremental" && report["codes"] == nil)
        }
      }
    }
  }

  @Test func `who asks for a synchronisation is told what it did`() async throws {
    try await withServer { url in
      try await TestDaemon.run(
        { options, _ in options.sync = SyncOptions(url: url) }, isFilled: false
      ) { test in
        let report = try await test.exchange("POST", "/v1/sync", #"{"full":true}"#).json
        #expect(report["mode"]?.text == "full")
        #expect(report["products"]?["upserted"] == .number(1))
        #expect(report["cursor"]?.text == "2026-01-01 00:00:00")
        let found1 = try await test.exchange("POST", "/v1/sync").json["mode"]?.text
        #expect(found1 == "incremental")
        let found = try await test.exchange("GET", "/v1/scan/697").json
        #expect(found["products"]?[0]?["id"]?.text == "7")
        #expect(found["catalogue"]?["cursor"]?.text == "2026-01-01 00:00:00")
        let state = try await test.exchange("GET", "/v1/sync").json
        #expect(state["configured"] == .bool(true))
        #expect(state["lastError"] == .null)
        try await test.exchange("GET", "/v1/status")
        try await test.exchange("DELETE", "/v1/session")
        let found2 = try await test.exchange("POST", "/v1/sync", expecting: 409).errorCode
        #expect(found2 == "nobodySignedIn")
      }
    }
  }

  @Test func `a server that answers nonsense is a bad gateway, and its words are reported`() async throws {
    // Its products are no answer of the protocol.
    try await TestDaemon.run { _, _ in
    } _: { nonsense in
      guard case .port(let port) = nonsense.client.place else { return }
      try await TestDaemon.run { options, _ in
        options.sync = SyncOptions(url: "http://127.0.0.1:\(port)/healthz")
      } _: { test in
        let refused = try await test.exchange("POST", "/v1/sync", expecting: 502)
        #expect(refused.errorCode == "syncFailed")
        #expect(refused.json["error"]?["message"]?.text != "")
        // The catalogue is as it was.
        try await test.exchange("GET", "/v1/products/1001")
        let found3 = try await test.exchange("GET", "/v1/sync").json["lastError"]
        #expect(found3 != .null)
      }
    }
  }
}
