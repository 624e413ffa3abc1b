import CatalogRows
import Foundation

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

/// Keeps the rows that it is sent, in order.
struct RowCollector: RowSink {
  var products: [TestProduct] = []
  var relations: [TestRelation] = []

  mutating func product(_ row: borrowing ProductRow) { products.append(TestProduct(row)) }
  mutating func relation(_ row: borrowing RelationRow) { relations.append(TestRelation(row)) }
}

extension OriginRows {
  init(_ products: [TestProduct], _ relations: [TestRelation] = []) throws {
    self.init()
    for product in products { try self.product(product.row) }
    for relation in relations { self.relation(relation.row) }
  }
}

extension OriginAnswer {
  /// All rows of the answer.
  func collected() throws -> RowCollector {
    var collector = RowCollector()
    try send(to: &collector)
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
