import BenchmarkSupport
import Catalog
import CatalogRows
import LogStore
import ServerAnswers

/// Our store, filled by the full update of a server's answer.
final class ShelfmarkCodes {
  let directory: String
  private let writer: CatalogWriter
  private let rows: CodeRows
  private let hasCodes: Bool

  init(_ directory: String, _ rows: CodeRows, hasCodes: Bool) throws {
    self.directory = directory
    self.rows = rows
    self.hasCodes = hasCodes
    writer = try BenchmarkStore(at: directory).writer()
  }

  var fileByteCount: Int { Files.size("\(directory)/\(BenchmarkStore.name).log") }

  func snapshot() throws -> CatalogSnapshot { try writer.snapshot() }

  /// A server's answer with all products, and with their codes.
  static func answer(_ rows: CodeRows, hasCodes: Bool) -> [UInt8] {
    let encoder = PayloadEncoder()
    var bytes: [UInt8] = []
    var product = ProductRow()
    var code = CodeRow()
    for index in 0..<rows.productCount {
      rows.product(index, revision: 0, into: &product)
      encoder.product(product)
      if index % 4096 == 0 { bytes += encoder.takeOutput() }
    }
    for index in 0..<(hasCodes ? rows.productCount : 0) {
      rows.product(index, revision: 0, into: &product)
      for number in 0..<CodeRows.codesPerProduct {
        rows.code(number, of: index, id: product[.id], into: &code)
        encoder.code(code)
      }
      if index % 4096 == 0 { bytes += encoder.takeOutput() }
    }
    encoder.finish(updateTime: "2026-01-01 00:00:00")
    return bytes + encoder.takeOutput()
  }

  /// Replaces the catalogue by an answer; returns the seconds.
  func update(from answer: [UInt8]) throws -> Double {
    try Elapsed.of {
      var decoder = try ResponseDecoder()
      var update = try writer.beginFullUpdate(.open)
      try decoder.consume(answer.span, into: &update)
      _ = try decoder.finish()
      let report = try update.commit(cursor: "full")
      guard report.counts.productsUpserted == rows.productCount,
        report.counts.codesWritten == (hasCodes ? rows.productCount * CodeRows.codesPerProduct : 0)
      else { throw WrongAnswer("the update wrote \(report.counts)") }
    }.1.wall / 1e9
  }

  /// Puts products, and their codes, in one durable commit.
  func put(_ indexes: [Int], revision: Int) throws {
    var increment = writer.beginIncrement()
    var product = ProductRow()
    var code = CodeRow()
    for index in indexes {
      rows.product(index, revision: revision, into: &product)
      try increment.product(product)
      for number in 0..<(hasCodes ? CodeRows.codesPerProduct : 0) {
        rows.code(number, of: index, id: product[.id], into: &code)
        try increment.code(code)
      }
    }
    _ = try increment.commit(cursor: "revision \(revision)")
  }
}
