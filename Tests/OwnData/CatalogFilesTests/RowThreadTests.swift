import CatalogRows
import Testing

@testable import CatalogSync
@testable import CatalogFiles

/// Rows that are passed on to a second thread.
@Suite struct RowThreadTests {
  /// A sink that keeps what it gets, and refuses one id.
  private struct Record: RowSink {
    struct Refusal: Error {}
    var refused: String?
    var rows: [String] = []

    mutating func product(_ row: borrowing ProductRow) throws {
      if row[.id] == refused { throw Refusal() }
      rows.append("\(row[.id]) \(row[.name]) \(row.weight) \(row.delFlag) \(row.givenFields)")
    }

    mutating func code(_ row: borrowing CodeRow) throws {
      if row[.id] == refused { throw Refusal() }
      rows.append("\(row[.id]) \(row[.productId]) \(row.quantity)")
    }

    mutating func relation(_ row: borrowing RelationRow) throws {
      if row[.id] == refused { throw Refusal() }
      rows.append("\(row[.id]) \(row[.productId]) \(row.groupNum)")
    }
  }

  /// Sends rows of both lists, reusing the buffers as readers do, and returns what was sent.
  private func send(_ count: Int, to sink: inout some RowSink) throws -> [String] {
    var sent = Record()
    var product = ProductRow()
    var relation = RelationRow()
    for number in 0..<count {
      if number % 7 == 3 {
        relation.reset()
        relation.texts.set(RelationText.id.rawValue, "r\(number)")
        relation.texts.set(RelationText.productId.rawValue, String(repeating: "p", count: number % 50))
        relation.groupNum = Int64(number)
        try sink.relation(relation)
        try sent.relation(relation)
      } else {
        product.reset()
        product.texts.set(ProductText.id.rawValue, "p\(number)")
        if number % 2 == 0 { product.texts.set(ProductText.name.rawValue, String(repeating: "n", count: number % 300)) }
        product.weight = Double(number)
        product.delFlag = Int64(number % 3)
        product.givenFields = UInt32(number)
        try sink.product(product)
        try sent.product(product)
      }
    }
    return sent.rows
  }

  @Test(arguments: [0, 1, 255, 256, 257, 10_000]) func `rows arrive whole and in their order`(count: Int) throws {
    var thread = RowThread(Record())
    let sent = try send(count, to: &thread)
    #expect(try thread.take()?.rows == sent)
    #expect(try thread.take() == nil)
  }

  @Test(arguments: ["p0", "p999", "r9999", "p5000"]) func `a refusal reaches the sender, at the latest at the end`(
    id: String
  ) {
    var thread = RowThread(Record(refused: id))
    #expect(throws: Record.Refusal.self) {
      _ = try send(10_001, to: &thread)
      _ = try thread.take()
    }
    // Nothing after the refused row was passed on, and the target is not lost.
    let rows = thread.abandon()?.rows
    #expect(rows?.count == Int(id.dropFirst()))
  }

  @Test func `rows that wait are dropped`() throws {
    var thread = RowThread(Record())
    _ = try send(5000, to: &thread)
    #expect(thread.abandon() != nil)
    #expect(thread.abandon() == nil)
  }
}
