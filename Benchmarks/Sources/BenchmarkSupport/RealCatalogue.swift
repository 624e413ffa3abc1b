import CatalogRows
import CatalogueGenerator
import RowFiles

/// A catalogue of real rows, from `products.ndjson.gz` and `relations.ndjson.gz`, in memory as ``PeerRecord``s.
///
/// Relations whose set is not among the products are left out.
package struct RealCatalogue: CatalogueSource {
  package let seed: UInt64
  package let cursor: String
  private let records: Records
  private let sets: [Int]
  private let relations: [Int: [RelationRow]]
  /// Barcodes and ids for products that do not exist yet.
  private let generator: CatalogueGenerator

  /// Where a directory with real rows may lie: beside the project.
  package static let candidates = ["..", "../..", "../../.."].map { $0 + "/shared/data/large" }

  /// - Throws: `RowFileError` for a line that is no JSON object; `Subprocess.Failure` if a file cannot be unpacked.
  package init(_ directory: String, seed: UInt64) throws {
    var records = Records()
    var lines = RowLines(kind: .products)
    let productsText = try Files.unpacked("\(directory)/products.ndjson.gz")
    try lines.consume(productsText.span, into: &records)
    _ = try lines.finish(into: &records)
    records.countBarcodes()
    var relations = RelationList(places: records.places)
    lines = RowLines(kind: .relations)
    let relationsText = try Files.unpacked("\(directory)/relations.ndjson.gz")
    try lines.consume(relationsText.span, into: &relations)
    _ = try lines.finish(into: &relations)
    records.places = [:]
    self.records = records
    self.relations = relations.rows
    sets = relations.rows.keys.sorted()
    self.seed = seed
    cursor = "\(records.starts.count) real products"
    generator = CatalogueGenerator(productCount: records.starts.count, seed: seed)
  }

  package var productCount: Int { records.starts.count }
  package var setCount: Int { sets.count }
  package func set(_ number: Int) -> Int { sets[number] }
  package func componentCount(ofSet index: Int) -> Int { relations[index]?.count ?? 0 }

  package func relation(ofSet index: Int, _ place: Int, into row: inout RelationRow) {
    if let rows = relations[index] { row = rows[place] }
  }

  package func product(_ index: Int, revision: Int, into row: inout ProductRow) {
    PeerRecord.read(records.bytes, at: records.starts[index % productCount], into: &row)
    if index >= productCount {
      var text: [UInt8] = []
      generator.putId(index, &text)
      row.texts.set(ProductText.id.rawValue, text.span)
      text.removeAll()
      generator.putUnknownBarcode(index, &text)
      row.texts.set(ProductText.barcode.rawValue, text.span)
    }
    if revision > 0 { row.weight = Double(revision) + 0.25 }
  }

  package func putId(_ index: Int, _ text: inout [UInt8]) { put(.id, of: index, &text) }
  package func putBarcode(_ index: Int, _ text: inout [UInt8]) { put(.barcode, of: index, &text) }

  private func put(_ field: ProductText, of index: Int, _ text: inout [UInt8]) {
    var row = ProductRow()
    product(index, revision: 0, into: &row)
    row.texts.withText(field.rawValue) { bytes in for place in bytes.indices { text.append(bytes[place]) } }
  }

  package func hasOwnBarcode(_ index: Int) -> Bool { index >= productCount || records.keys[index] == .own }
  package func sharesBarcode(_ index: Int) -> Bool { index < productCount && records.keys[index] == .shared }

  /// The first barcodes of this form belong to the products that increments add.
  package func putUnknownBarcode(_ number: Int, _ text: inout [UInt8]) {
    var number = number + 2 * productCount
    repeat {
      text.removeAll(keepingCapacity: true)
      generator.putUnknownBarcode(number, &text)
      number += 10_000_000
    } while records.barcodes.contains(text)
  }
}

/// The products as they are read.
private struct Records: RowSink, Sendable {
  enum Key: UInt8 { case none, own, shared }

  var bytes: [UInt8] = []
  var starts: [Int] = []
  var keys: [Key] = []
  var places: [[UInt8]: Int] = [:]
  var barcodes: Set<[UInt8]> = []

  mutating func product(_ row: borrowing ProductRow) {
    places[Array(row[.id].utf8)] = starts.count
    starts.append(bytes.count)
    PeerRecord.append(row, to: &bytes)
  }

  mutating func relation(_ row: borrowing RelationRow) {}
  mutating func code(_ row: borrowing CodeRow) {}

  /// Tells barcodes of one product from those of several.
  mutating func countBarcodes() {
    var counts: [[UInt8]: Int] = [:]
    let all = starts.map { start in
      let count = Int(bytes[start + 6]) | Int(bytes[start + 7]) << 8
      return Array(bytes[(start + 48)..<(start + 48 + count)])
    }
    for barcode in all { counts[barcode, default: 0] += 1 }
    keys = all.map { barcode in
      if barcode.isEmpty || barcode.count > KeyList.stride { return .none }
      return counts[barcode] == 1 ? .own : .shared
    }
    barcodes = Set(counts.keys)
  }
}

/// The relations by the place of their set.
private struct RelationList: RowSink {
  let places: [[UInt8]: Int]
  var rows: [Int: [RelationRow]] = [:]

  mutating func product(_ row: borrowing ProductRow) {}

  mutating func code(_ row: borrowing CodeRow) {}

  mutating func relation(_ row: borrowing RelationRow) {
    let set = Array(row.texts.string(RelationText.productId.rawValue).utf8)
    if let place = places[set] { rows[place, default: []].append(copy row) }
  }
}
