import Barcodes
import Foundation
import Testing

@testable import Catalog
import CatalogTestSupport

/// The catalogue that the samples of scans and sets refer to.
enum SampleCatalogue {
  static let shared = Result { try make() }

  private static func make() throws -> CatalogSnapshot {
    let products = try Resource.rows("scan-catalogue.ndjson.gz", .products).products
    let relations = try Resource.rows("sample-relations.ndjson.gz", .relations).relations
    // The snapshot outlives the file's name and the writer.
    return try TestCatalogue(products, relations).snapshot
  }
}

/// Every row of `scans-sample.tsv`.
@Suite struct ScanSampleTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let columns: [String: String]

    subscript(column: String) -> String { columns[column] ?? "" }

    /// A column that holds a JSON string.
    func text(_ column: String) -> String {
      (try? JSONDecoder().decode(String.self, from: Data(self[column].utf8))) ?? "no JSON: " + self[column]
    }

    var number: Int { Int(self["n"]) ?? -1 }
    var testDescription: String { "row \(number): \(self["group"]) \(self["scan"])" }
  }

  static let rows = load()

  private static func load() -> [Row] {
    guard let bytes = try? Resource.bytes("scans-sample.tsv") else { return [] }
    let lines = bytes.split(separator: 0x0A).map { line in
      line.split(separator: 0x09, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
      }
    }
    return lines.dropFirst().map { Row(columns: Dictionary(uniqueKeysWithValues: zip(lines[0], $0))) }
  }

  /// Rows that say "none" by the plain rules, and add that folding them to a match is fine.
  private static let folded: [Int: String] = [
    169: "4311501615232", 170: "8438493233445", 171: "5026555416986", 172: "5296849397110",
  ]

  @Test func `the sample is there`() { #expect(Self.rows.count == 210) }

  @Test(arguments: rows)
  func `a sample scan finds what the sample says`(row: Row) throws {
    let snapshot = try SampleCatalogue.shared.get()
    let match = try snapshot.match(row.text("scan"))
    // The sample was made when two codes in one transmission were a head and a serial number.
    if row["group"] == "noise-double" {
      #expect(match.kind == .none && match.products.isEmpty && match.rest == nil)
      #expect(match.gluedCodes.joined() == row.text("scan") && match.gluedCodes[1] == row.text("rest"))
      return
    }
    if let gtin = Self.folded[row.number], row["match"] == "none" {
      #expect(row["ambiguous"] == "1")
      #expect(match.gtin?.digits == "0" + gtin)
      if !match.isEmpty { #expect(match.kind == .exact && match.key == gtin) }
      return
    }
    #expect(match.kind.rawValue == row["match"])
    #expect(match.products.map(\.id).joined(separator: ",") == row["ids"])
    #expect(match.rest ?? "" == row.text("rest"))
    #expect(match.gtin?.digits ?? "" == row["gtin14"])
    if match.isEmpty {
      #expect(match.key == nil)
    } else {
      #expect(row.text("barcode").split(separator: "|").map(String.init).contains(match.key ?? ""))
    }
    // The other products of the trade item are reported as well: they have the same GTIN and another text.
    for id in row["also"].split(separator: ",") {
      let other = try #require(try snapshot.product(id: String(id)))
      #expect(GTIN(other.barcode) == match.gtin)
    }
  }

  @Test func `folded scans find their products`() throws {
    let snapshot = try SampleCatalogue.shared.get()
    for row in Self.rows {
      guard let gtin = Self.folded[row.number] else { continue }
      let plain = try snapshot.match(gtin)
      let match = try snapshot.match(row.text("scan"))
      // The sample was made when two codes in one transmission were a head and a serial number.
      if row["group"] == "noise-double" {
        #expect(match.kind == .none && match.products.isEmpty && match.rest == nil)
        #expect(match.gluedCodes.joined() == row.text("scan") && match.gluedCodes[1] == row.text("rest"))
        return
      }
      #expect(match.products == plain.products && match.kind == plain.kind)
      #expect(!match.isEmpty)
      #expect(match.scan.text == row.text("scan"))
    }
  }

  @Test func `no beginning, end or change of a sample scan traps`() throws {
    let snapshot = try SampleCatalogue.shared.get()
    var rows = RowGenerator("no beginning, end or change of a sample scan traps")
    for row in Self.rows where row.text("scan").utf8.count < 200 {
      let bytes = Array(row.text("scan").utf8)
      var scans: [[UInt8]] = []
      for count in 0...bytes.count {
        scans.append(Array(bytes[..<count]))
        scans.append(Array(bytes[count...]))
      }
      for _ in 0..<5 where !bytes.isEmpty {
        var changed = bytes
        changed[Int.random(in: 0..<bytes.count, using: &rows.random)] = UInt8(
          truncatingIfNeeded: rows.random.next())
        scans.append(changed)
      }
      for scan in scans {
        let match = try snapshot.match(String(decoding: scan, as: UTF8.self))
        #expect(match.isEmpty == (match.kind == .none) && match.isEmpty == (match.key == nil))
      }
    }
  }
}

/// Every batch of `sets-sample.json`.
@Suite struct SetSampleTests {
  private struct Sample: Decodable {
    struct Batch: Decodable {
      var why: String
      var scans: [String]
      var products: [String: Int]
      var unknown: [String]
      var complete: [String: Int]
      var incomplete: [String: [String: Int]]
    }
    var batches: [Batch]
  }

  private func byId<Value>(_ texts: [String: Value]) -> [ProductID: Value] {
    Dictionary(uniqueKeysWithValues: texts.map { (ProductID($0), $1) })
  }

  @Test func `every batch completes the sets that the sample says`() throws {
    let snapshot = try SampleCatalogue.shared.get()
    let batches = try Resource.json("sets-sample.json", as: Sample.self).batches
    #expect(batches.count == 18)
    for batch in batches {
      let result = try snapshot.complete(batch.scans)
      #expect(result.products == byId(batch.products), "\(batch.why)")
      #expect(result.unknown == batch.unknown, "\(batch.why)")
      #expect(result.complete == byId(batch.complete), "\(batch.why)")
      #expect(result.incomplete == byId(batch.incomplete.mapValues(byId)), "\(batch.why)")
    }
  }
}
