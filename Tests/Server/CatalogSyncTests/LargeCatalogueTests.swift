import Catalog
import CatalogRows
import Foundation
import LogStore
import RandomTestSupport
import RowFiles
import Testing
import CatalogTestSupport

/// Where the catalogue of 409,565 real products lies, if it does: beside the project.
private enum LargeCatalogue {
  static let products = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().appending(
      path: "shared/data/large/products.ndjson.gz")

  static var isPresent: Bool { FileManager.default.fileExists(atPath: products.path) }
}

/// By default the first 20,000 rows, with `SHELFMARK_DEEP` that many times more.
@Suite(.enabled(if: LargeCatalogue.isPresent, "the large catalogue is not there"))
struct LargeCatalogueTests {
  /// Puts the first rows into a full update, and keeps some of them to ask for.
  private struct Sampler: RowSink {
    var update: FullUpdate
    let limit: Int
    var count = 0
    var sample: [Product] = []

    mutating func product(_ row: borrowing ProductRow) throws {
      count += 1
      if count > limit { return }
      try update.product(row)
      if count % 97 == 0 { sample.append(Product(row)) }
    }

    mutating func relation(_ row: borrowing RelationRow) throws { try update.relation(row) }

    mutating func code(_ row: borrowing CodeRow) throws { try update.code(row) }
  }

  /// The unpacked lines, up to the end of the one in which `byteCount` bytes are reached.
  private func lines(_ byteCount: Int) throws -> [UInt8] {
    let packed = [UInt8](try Data(contentsOf: LargeCatalogue.products))
    var unpacker = OptionalGzip()
    var text: [UInt8] = []
    var offset = 0
    while offset < packed.count, text.count < byteCount {
      let piece = Array(packed[offset..<min(offset + 65_536, packed.count)])
      text += try unpacker.unpack(piece)
      offset += piece.count
    }
    let end = text.lastIndex(of: UInt8(ascii: "\n")) ?? 0
    return Array(text[..<end])
  }

  @Test func `real products are found by id and by what is printed on them`() throws {
    let catalogue = try TestCatalogue()
    let limit = 20_000 * depth
    var sink = Sampler(update: try catalogue.writer.beginFullUpdate(), limit: limit)
    var reader = RowLines(kind: .products)
    // A line has some 150 bytes.
    let text = try lines(200 * limit)
    try reader.consume(text.span, into: &sink)
    _ = try reader.finish(into: &sink)
    _ = try sink.update.commit(cursor: "large")

    let snapshot = try catalogue.snapshot
    #expect(snapshot.productCount == min(limit, 409_565))
    for product in sink.sample {
      #expect(try snapshot.product(id: product.id) == product)
      if product.barcode.isEmpty { continue }
      #expect(try snapshot.products(barcode: product.barcode).contains(product))
      let match = try snapshot.match(product.barcode)
      #expect(match.products.contains(product) || match.kind != .exact, "\(product.barcode)")
    }
    #expect(try Verification.run(catalogue.location)?.findings.isEmpty == true)
  }
}
