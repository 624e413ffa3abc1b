import Catalog
import CatalogRows
import Cryptography
import Foundation
import LogStore
import ServerAnswers
import StoreTestSupport
import Testing
import CatalogTestSupport

/// Recorded answers of a server, replayed from the answer's bytes to the catalogue's rows.
@Suite struct SeriesTests {
  private struct Series: Decodable {
    struct Step: Decodable {
      struct Expectation: Decodable {
        var kind: String
        var products: Int
        var relations: Int
        var updateTime: String
        var sha256: String
      }
      var n: Int
      var request: String
      var response: String
      var rows: [Int]
      var fullResponse: String?
      var fullRows: [Int]?
      var expect: Expectation

      enum CodingKeys: String, CodingKey {
        case n, request, response, rows, expect
        case fullResponse = "full_response"
        case fullRows = "full_rows"
      }
    }
    var threshold: Int
    var steps: [Step]
  }

  /// SHA-256, in hexadecimal.
  private func hash(_ bytes: [UInt8]) throws -> String {
    let hash = try Hash.sha256()
    try hash.update(bytes)
    return try hash.digest().map { String(format: "%02x", $0) }.joined()
  }

  @Test func `the series leads to the expected state at every step`() throws {
    let series = try Resource.json("series/series.json", as: Series.self)
    let catalogue = try TestCatalogue()
    let compacted = try TestCatalogue()
    #expect(series.steps.count == 14)
    for step in series.steps {
      let report = try replay(step, threshold: series.threshold, on: catalogue)
      #expect(
        report.mode.name == (step.expect.kind == "incremental" ? "incremental" : "full"), "step \(step.n)")
      let snapshot = try catalogue.snapshot
      #expect(snapshot.productCount == step.expect.products, "step \(step.n)")
      #expect(snapshot.relationCount == step.expect.relations, "step \(step.n)")
      #expect(snapshot.cursor == step.expect.updateTime, "step \(step.n)")
      #expect(report.cursor == step.expect.updateTime, "step \(step.n)")
      #expect(snapshot.sequence == report.sequence)
      #expect(try hash(snapshot.canonicalDump) == step.expect.sha256, "step \(step.n)")

      // The same with a compaction after every step, read by somebody else.
      _ = try replay(step, threshold: series.threshold, on: compacted)
      try compacted.writer.compact()
      try compacted.reopen()
      let reader = try #require(try CatalogReader.open(compacted.location))
      #expect(try CatalogDigest(reader.snapshot()) == CatalogDigest(snapshot), "step \(step.n)")
    }
    #expect(try compacted.snapshot.canonicalDump == Resource.unpacked("series/final.state.ndjson.gz"))
  }

  private func replay(_ step: Series.Step, threshold: Int, on catalogue: TestCatalogue) throws -> UpdateReport {
    #expect(try catalogue.snapshot.cursor == step.request, "step \(step.n)")
    if step.request.isEmpty { return try replaceAll(step.response, step.rows, on: catalogue) }
    let before = try CatalogDigest(catalogue.snapshot)
    var increment = catalogue.writer.beginIncrement(threshold: threshold)
    do throws(WireError) {
      let summary = try decode(try! Resource.bytes("series/" + step.response), into: &increment)
      #expect([summary.products, summary.relations] == step.rows)
      #expect(step.expect.kind == "incremental", "step \(step.n)")
      return try! increment.commit(cursor: summary.updateTime, defaulted: summary.defaulted.total)
    } catch {
      guard case .sinkFailed(let reason, _) = error, case .needsFullUpdate? = reason as? CatalogError,
        let full = step.fullResponse, let rows = step.fullRows
      else { throw error }
      #expect(step.expect.kind == "refetch+full", "step \(step.n)")
      #expect(try CatalogDigest(catalogue.snapshot) == before)
      return try replaceAll(full, rows, on: catalogue)
    }
  }

  private func replaceAll(_ name: String, _ rows: [Int], on catalogue: TestCatalogue) throws -> UpdateReport {
    var update = try catalogue.writer.beginFullUpdate()
    let summary = try decode(try Resource.bytes("series/" + name), into: &update)
    #expect([summary.products, summary.relations] == rows)
    return try update.commit(cursor: summary.updateTime, defaulted: summary.defaulted.total)
  }
}

/// Payloads whose handling is a decision: the catalogue decides as the reference does.
@Suite struct EdgeTests {
  struct Case: Decodable, CustomTestStringConvertible, Sendable {
    struct Rows: Decodable {
      var products: [JSONProduct]
      var relations: [JSONRelation]
    }
    struct JSONProduct: Decodable {
      var id: String
      var barcode: String
      var name: String
      var delFlag: Int64
      var groupNum: Int64
    }
    struct JSONRelation: Decodable {
      var id: String
      var orgId: String
      var productId: String
      var subProductId: String
      var groupNum: Int64
    }
    var name: String
    var has_start: Bool
    var reference: Rows
    var testDescription: String { name }
  }
  private struct Cases: Decodable { var cases: [Case] }

  static let cases = (try? Resource.json("edge/edge.json", as: Cases.self).cases) ?? []

  @Test func `the cases are there`() { #expect(Self.cases.count == 9) }

  @Test(arguments: cases)
  func `an edge case ends as the reference says`(edge: Case) throws {
    let catalogue = try TestCatalogue()
    if edge.has_start {
      var start = try catalogue.writer.beginFullUpdate()
      let summary = try decode(Resource.bytes("edge/\(edge.name).start.json"), into: &start)
      _ = try start.commit(cursor: summary.updateTime)
      var next = catalogue.writer.beginIncrement(threshold: 1000)
      let change = try decode(Resource.bytes("edge/\(edge.name).next.json"), into: &next)
      let report = try next.commit(cursor: change.updateTime, defaulted: change.defaulted.total)
      #expect(report.cursor == change.updateTime)
    } else {
      var update = try catalogue.writer.beginFullUpdate()
      let summary = try decode(Resource.bytes("edge/\(edge.name).next.json"), into: &update)
      _ = try update.commit(cursor: summary.updateTime)
    }
    let snapshot = try catalogue.snapshot
    #expect(try snapshot.products == edge.reference.products.map(product))
    #expect(try snapshot.relations == edge.reference.relations.map(relation).sorted(by: Relation.precedes))
  }

  private func product(_ json: Case.JSONProduct) -> Product {
    var product = Product(json.id, json.barcode, name: json.name, delFlag: json.delFlag)
    product.groupNum = json.groupNum
    return product
  }

  private func relation(_ json: Case.JSONRelation) -> Relation {
    var relation = Relation(json.productId, json.subProductId, json.groupNum, id: json.id)
    relation.orgId = json.orgId
    return relation
  }
}
