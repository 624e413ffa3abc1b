import CatalogSources
import Foundation
import Logging
import Synchronization
import Testing

@testable import CatalogOrigin
import RowFiles

@Suite struct OriginStoreTests {
  let folder: TestFolder
  let log = LogRecorder()

  init() throws { folder = try TestFolder() }

  func store(_ products: String) async throws -> OriginStore {
    let path = try folder.write(products, to: "products")
    return try await OriginStore(
      source: CatalogueSource(serverRows: path, relations: nil), clock: OriginClock { 1_767_323_045 },
      logger: log.logger)
  }

  /// Has the source read if it changed, however recently.
  private func reload(_ store: OriginStore) async throws -> OriginStore.Changes? {
    try await store.reloadIfChanged { _ in }
  }

  @Test func `a changed file is served`() async throws {
    let store = try await store("{\"id\":\"1\"}\n")
    let cursor = try store.answer(cursor: "").updateTime
    #expect(cursor == "2026-01-02 03:04:05")
    #expect(try await reload(store) == nil)
    try folder.write("{\"id\":\"2\"}\n", to: "products", atomically: true)
    #expect(try await reload(store) == .init(inserted: 1, deleted: 1))
    #expect(try await reload(store) == nil)
    let rows = try store.answer(cursor: cursor).collected()
    #expect(rows.products.map(\.id) == ["1", "2"])
    #expect(rows.products.map(\.delFlag) == [1, 0])
  }

  @Test func `a file that cannot be read leaves the former rows and is logged once`() async throws {
    let store = try await store("{\"id\":\"1\"}\n")
    try folder.write("{\"id\":\"1\"}\n{\"id\":\"2\n", to: "products")
    for _ in 0..<5 { #expect(try await reload(store) == nil) }
    #expect(store.counts.products == 1)
    let errors = log.events.filter { $0.level == .error }
    #expect(errors.count == 1)
    #expect(errors.first?.text.contains("products: Line 2 ") == true)
    try folder.write("{\"id\":\"1\"}\n{\"id\":\"2\"}\n", to: "products")
    #expect(try await reload(store) == .init(inserted: 1))
  }

  @Test func `a file that is gone for a while changes nothing`() async throws {
    let store = try await store("{\"id\":\"1\"}\n")
    try FileManager.default.removeItem(atPath: folder.path("products"))
    for _ in 0..<3 { #expect(try await reload(store) == nil) }
    #expect(store.counts.products == 1)
    try folder.write("{\"id\":\"1\"}\n", to: "products")
    #expect(try await reload(store) == .init())
  }

  @Test func `a file without products does not empty the catalogue`() async throws {
    let store = try await store("{\"id\":\"1\"}\n")
    try folder.write("", to: "products")
    for _ in 0..<3 { #expect(try await reload(store) == nil) }
    #expect(store.counts.products == 1)
    #expect(log.events.contains { $0.text.contains("no product is left") })
  }

  @Test func `watching reads after each pause and ends with cancellation`() async throws {
    let store = try await store("{\"id\":\"1\"}\n")
    let pauses = Mutex(0)
    await #expect(throws: CancellationError.self) {
      try await store.watch(every: .seconds(7)) { interval in
        // A file that has just been written is given a second.
        guard interval == .seconds(7) else { return }
        let pause = pauses.withLock {
          $0 += 1
          return $0
        }
        if pause == 2 { try folder.write("{\"id\":\"2\"}\n", to: "products") }
        if pause == 4 { throw CancellationError() }
      }
    }
    #expect(try store.answer(cursor: "").collected().products.map(\.id) == ["2"])
  }

  @Test func `a file of one's own is served by its mapping, and its changes too`() async throws {
    let path = try folder.write("sku;ean;title;updateTime\n1;4006381333931;A;9999\n2;;B;9999\n", to: "erp.csv")
    var mapping = RowMapping()
    mapping.rules[.id] = RowMapping.Rule(columns: ["sku"])
    mapping.rules[.name] = RowMapping.Rule(columns: ["title"])
    let decoding = SourceDecoding(format: .csv, rules: RowRules(), mapping: mapping, encoding: nil)
    let store = try await OriginStore(
      source: CatalogueSource(path: path, decoding: decoding), clock: OriginClock { 1_767_323_045 }, logger: log.logger)
    let first = try store.answer(cursor: "")
    #expect(first.updateTime == "2026-01-02 03:04:05")
    #expect(try store.answer(cursor: "2026-01-02 03:04:04").collected().products.map(\.id) == ["1", "2"])
    try folder.write("sku;ean;title\n1;4006381333931;C\n1;;D\n", to: "erp.csv")
    #expect(try await reload(store) == nil)
    #expect(log.events.contains { $0.level == .error })
    try folder.write("sku;ean;title\n1;4006381333931;C\n", to: "erp.csv")
    #expect(try await reload(store) == .init(updated: 1, deleted: 1))
    let rows = try store.answer(cursor: first.updateTime).collected().products
    #expect(rows.map(\.name) == ["C", "B"])
    #expect(rows.map(\.delFlag) == [0, 1])
  }
}

/// Keeps what is logged.
final class LogRecorder: Sendable {
  struct Event: Sendable {
    var level: Logger.Level
    var text: String
  }

  private let recorded = Mutex<[Event]>([])
  var events: [Event] { recorded.withLock { $0 } }

  var logger: Logger { Logger(label: "test") { _ in Handler(recorder: self) } }

  private struct Handler: LogHandler {
    let recorder: LogRecorder
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      recorder.recorded.withLock {
        $0.append(Event(level: event.level, text: "\(event.message) \(event.metadata ?? [:])"))
      }
    }
  }
}
