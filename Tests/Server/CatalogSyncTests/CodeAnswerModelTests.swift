import Barcodes
import CatalogRows
import CatalogSync
import LogStore
import RandomTestSupport
import ServerAnswers
import Testing

@testable import Catalog
import CatalogTestSupport

/// Random answers with and without a list of codes, from the encoder's bytes to the catalogue, against the plainest form
/// of the protocol's rules.
@Suite struct CodeAnswerModelTests {
  private struct Model {
    var products: [String: Product] = [:]
    var codes: [ProductCode] = []

    mutating func full(_ rows: [Product], _ list: [ProductCode]?) {
      products = Dictionary(rows.map { ($0.id, $0) }) { $1 }
      codes = list ?? []
    }

    /// - Returns: The number of codes that are ignored.
    mutating func increment(_ rows: [Product], _ list: [ProductCode]?) -> Int {
      let deleted = Set(rows.filter { $0.delFlag != 0 }.map(\.id))
      var upserted: Set<String> = []
      for row in rows where row.delFlag == 0 && !deleted.contains(row.id) {
        products[row.id] = row
        upserted.insert(row.id)
      }
      for id in deleted { products[id] = nil }
      codes.removeAll { deleted.contains($0.productId) || list != nil && upserted.contains($0.productId) }
      let taken = (list ?? []).filter { upserted.contains($0.productId) }
      codes += taken
      return (list?.count ?? 0) - taken.count
    }
  }

  private static let ids = (0..<20).map { "p\($0)" } + ["", "时"]

  private static func products(_ rows: inout RowGenerator, _ limit: Int) -> [Product] {
    (0..<Int.random(in: 0...limit, using: &rows.random)).map { _ in
      Product(
        rows.pick(ids), rows.pick(["", "6901234567892", "x"]), name: rows.pick(["", "a"]),
        delFlag: rows.chance(25) ? 1 : 0)
    }
  }

  private static func codes(_ rows: inout RowGenerator, _ limit: Int) -> [ProductCode]? {
    if rows.chance(35) { return nil }
    return (0..<Int.random(in: 0...limit, using: &rows.random)).map { _ in
      ProductCode(
        rows.pick(ids),
        rows.pick(["16901234567899", "", "OLD-1", "old-1", "06901234567892", String(rows.text().prefix(10))]),
        ExactDecimal(rows.pick(["1", "24", "2.50", "0.125", "999999999999999999"])) ?? CodeRow.one,
        unit: rows.pick(["", "case", "箱"]), kind: rows.pick(["", "old"]), id: rows.pick(["", "c1", "17"]))
    }
  }

  /// An answer as a server writes it, with the lists in any order.
  private static func answer(
    _ rows: inout RowGenerator, _ products: [Product], _ codes: [ProductCode]?, cursor: String
  ) throws -> [UInt8] {
    var encoder = PayloadEncoder()
    encoder.writesCodes = codes != nil
    let codesFirst = rows.chance(30)
    if codesFirst { try encoder.take([], [], codes ?? []) }
    try encoder.take(products, [], codesFirst ? [] : codes ?? [])
    encoder.finish(updateTime: cursor)
    return encoder.takeOutput()
  }

  @Test(arguments: 0..<4) func `random answers lead where the rules lead`(run: Int) throws {
    var rows = RowGenerator("random answers lead where the rules lead", run: run)
    let catalogue = try TestCatalogue()
    let other = try TestCatalogue()
    var model = Model()
    var history: [UInt64: (model: Model, digest: CatalogDigest)] = [:]
    for step in 0..<80 * depth {
      var options = ImportOptions()
      options.rowLimits = nil
      options.threshold = nil
      let cursor = "s\(step)"
      switch Int.random(in: 0..<12, using: &rows.random) {
      case 0:
        guard let (sequence, earlier) = history.randomElement(using: &rows.random) else { continue }
        #expect(try catalogue.writer.rollback(to: sequence) != nil)
        model = earlier.model
        #expect(try CatalogDigest(catalogue.snapshot) == earlier.digest)
      case 1:
        try catalogue.writer.compact()
        history = [:]
      case 2:
        // A refused answer changes nothing.
        let before = try CatalogDigest(catalogue.snapshot)
        options.threshold = 1
        let bytes = try Self.answer(
          &rows, [Product("x")], [ProductCode("x", "1")], cursor: cursor)
        var answer = try AnswerImport(catalogue.writer, .incremental, options)
        #expect(throws: CatalogError.self) { try answer.consume(bytes.span) }
        answer.cancel()
        #expect(try CatalogDigest(catalogue.snapshot) == before)
        continue
      default:
        let isFull = history.isEmpty || rows.chance(15)
        let (products, codes) = (Self.products(&rows, isFull ? 30 : 8), Self.codes(&rows, isFull ? 40 : 10))
        let bytes = try Self.answer(&rows, products, codes, cursor: cursor)
        var answer = try AnswerImport(catalogue.writer, isFull ? .full : .incremental, options)
        for start in stride(from: 0, to: bytes.count, by: 97) {
          try answer.consume(bytes[start..<min(bytes.count, start + 97)].span)
        }
        let report = try answer.finish()
        #expect(report.payload.hasCodes == (codes != nil) && report.payload.codes == codes?.count ?? 0)
        if isFull {
          history = [:]
          model.full(products, codes)
          #expect(report.update.counts.codesWritten == model.codes.count)
        } else {
          let before = model.codes.count
          let ignored = model.increment(products, codes)
          #expect(report.update.counts.codesIgnored == ignored)
          #expect(report.update.counts.codesWritten == (codes?.count ?? 0) - ignored)
          #expect(
            before + report.update.counts.codesWritten - report.update.counts.codesDeleted == model.codes.count)
        }
      }
      let snapshot = try catalogue.snapshot
      if snapshot.sequence > 0 { history[snapshot.sequence] = (model, try CatalogDigest(snapshot)) }
      let products = model.products.values.sorted { $0.id.isBytewiseLess(than: $1.id) }
      try #require(snapshot.products == products)
      try #require(Self.counted(snapshot.codes) == Self.counted(model.codes), "step \(step)")
      try #require(snapshot.codeCount == model.codes.count)
      let orphans = model.codes.count { model.products[$0.productId] == nil }
      try #require(snapshot.orphanCodeCount() == orphans)
      try #require(snapshot.verify().isEmpty)
      // Rows that are equal have one digest, however they came.
      try other.full(
        Array(model.products.values), codes: model.codes.shuffled(using: &rows.random), cursor: snapshot.cursor)
      let digests = try (CatalogDigest(other.snapshot), CatalogDigest(snapshot))
      try #require(digests.0 == digests.1, "step \(step)")
    }
  }

  private static func counted(_ codes: [ProductCode]) -> [ProductCode: Int] {
    Dictionary(codes.map { ($0, 1) }, uniquingKeysWith: +)
  }
}
