import CatalogRows
import CatalogSources
import Foundation
import Synchronization
import Testing

@testable import CatalogOrigin

/// A product of a test with the few fields that matter here.
struct TestProduct: Equatable, Sendable {
  var id: String
  var name = ""
  var updateTime = ""
  var delFlag: Int64 = 0

  var row: ProductRow {
    var row = ProductRow()
    row.texts.set(ProductText.id.rawValue, Array(id.utf8).span)
    row.texts.set(ProductText.name.rawValue, Array(name.utf8).span)
    row.texts.set(ProductText.updateTime.rawValue, Array(updateTime.utf8).span)
    row.delFlag = delFlag
    return row
  }

  var json: String {
    #"{"id":"\#(id)","name":"\#(name)","updateTime":"\#(updateTime)","delFlag":\#(delFlag)}"#
  }
}

extension TestProduct {
  init(_ row: borrowing ProductRow) {
    self.init(id: row[.id], name: row[.name], updateTime: row[.updateTime], delFlag: row.delFlag)
  }
}

struct TestRelation: Hashable, Comparable, Sendable {
  var id: String
  var productId: String
  var subProductId = ""

  var row: RelationRow {
    var row = RelationRow()
    row.texts.set(RelationText.id.rawValue, Array(id.utf8).span)
    row.texts.set(RelationText.productId.rawValue, Array(productId.utf8).span)
    row.texts.set(RelationText.subProductId.rawValue, Array(subProductId.utf8).span)
    return row
  }

  var json: String { #"{"id":"\#(id)","productId":"\#(productId)","subProductId":"\#(subProductId)"}"# }

  static func < (one: TestRelation, other: TestRelation) -> Bool {
    (one.productId, one.id, one.subProductId) < (other.productId, other.id, other.subProductId)
  }
}

extension TestRelation {
  init(_ row: borrowing RelationRow) {
    self.init(id: row[.id], productId: row[.productId], subProductId: row[.subProductId])
  }
}

struct TestCode: Hashable, Comparable, Sendable {
  var id: String
  var productId: String
  var code = ""
  var quantity = 1

  var json: String { #"{"id":"\#(id)","productId":"\#(productId)","barcode":"\#(code)","quantity":\#(quantity)}"# }

  static func < (one: TestCode, other: TestCode) -> Bool {
    (one.productId, one.code, one.id, one.quantity) < (other.productId, other.code, other.id, other.quantity)
  }
}

extension TestCode {
  init(_ row: borrowing CodeRow) {
    self.init(
      id: row[.id], productId: row[.productId], code: row[.code], quantity: Int(row.quantity.description) ?? -1)
  }
}

/// Keeps the rows that it is sent, in order.
struct RowCollector: RowSink {
  var products: [TestProduct] = []
  var relations: [TestRelation] = []
  var codes: [TestCode] = []

  mutating func product(_ row: borrowing ProductRow) { products.append(TestProduct(row)) }
  mutating func relation(_ row: borrowing RelationRow) { relations.append(TestRelation(row)) }
  mutating func code(_ row: borrowing CodeRow) { codes.append(TestCode(row)) }
}

/// An origin of files with the server's rows, which a test writes again.
final class TestOrigin: Sendable {
  let store: OriginStore
  private let folder: TestFolder
  private let clock: Clock

  init(
    _ products: [TestProduct], _ relations: [TestRelation] = [], codes: [TestCode] = [], now: Stamp
  ) async throws {
    let folder = try TestFolder()
    let clock = Clock(now)
    self.folder = folder
    self.clock = clock
    try Self.write(products, relations, codes, to: folder)
    store = try await OriginStore(
      source: CatalogueSource(
        serverRows: folder.path("products"), relations: folder.path("relations"), codes: folder.path("codes")),
      clock: clock.origin, logger: LogRecorder().logger, sleep: { _ in })
  }

  /// Writes other rows, and has them read.
  func reload(
    _ products: [TestProduct], _ relations: [TestRelation] = [], codes: [TestCode] = [], now: Stamp
  ) async throws -> OriginStore.Changes {
    clock.set(now)
    try Self.write(products, relations, codes, to: folder)
    let changes = try #require(try await store.reloadIfChanged { _ in })
    store.stamps.checkInvariants { Issue.record("\($0)") }
    return changes
  }

  func answer(_ cursor: String, now: Stamp? = nil) throws -> OriginAnswer {
    if let now { clock.set(now) }
    return try store.answer(cursor: cursor)
  }

  private static func write(
    _ products: [TestProduct], _ relations: [TestRelation], _ codes: [TestCode], to folder: TestFolder
  ) throws {
    try folder.write(products.map { $0.json + "\n" }.joined(), to: "products", atomically: true)
    try folder.write(relations.map { $0.json + "\n" }.joined(), to: "relations", atomically: true)
    try folder.write(codes.map { $0.json + "\n" }.joined(), to: "codes", atomically: true)
  }
}

/// A clock that a test sets.
final class Clock: Sendable {
  private let seconds: Mutex<Int64>

  init(_ now: Stamp) { seconds = Mutex(now.secondsSince1970 ?? 0) }

  func set(_ now: Stamp) { seconds.withLock { $0 = now.secondsSince1970 ?? 0 } }

  var origin: OriginClock { OriginClock { [self] in seconds.withLock { $0 } } }
}

extension OriginAnswer {
  /// All rows of the answer.
  func collected() throws -> RowCollector {
    var (collector, product, relation) = (RowCollector(), ProductRow(), RelationRow())
    for place in 0..<productPlaceCount where try self.product(at: place, into: &product) { collector.product(product) }
    for place in 0..<relationPlaceCount {
      try relations(at: place, reusing: &relation, product: &product) { collector.relation($0) }
    }
    var code = CodeRow()
    if hasCodes {
      for place in 0..<codePlaceCount {
        try codes(at: place, reusing: &code, product: &product) { collector.code($0) }
      }
    }
    return collector
  }
}

/// A folder of a test, gone with it.
final class TestFolder: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "origin-\(UUID())")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }

  /// Writes a file in place or, as careful programs do, beside it and renamed over it.
  @discardableResult
  func write(_ data: Data, to name: String, atomically: Bool = false) throws -> String {
    try data.write(to: url.appending(path: name), options: atomically ? .atomic : [])
    return path(name)
  }

  @discardableResult
  func write(_ text: String, to name: String, atomically: Bool = false) throws -> String {
    try write(Data(text.utf8), to: name, atomically: atomically)
  }
}
