import Barcodes
import Bytes
import CatalogRows
import RandomTestSupport
import RowTestSupport
import Testing

@testable import PublicationFormat

/// The rows of groups, as lines of text.
private struct Lines: RowGroupSink {
  var lines: [String] = []

  mutating func entry(_ id: RawSpan) { lines.append("entry \(id.copied())") }
  mutating func product(_ row: borrowing ProductRow) {
    let doubles = row.doubles.indices.map { row.doubles[$0].bitPattern }
    let fields = ProductField.allCases.map { row.text(of: $0) }
    lines.append("product \(fields) \(doubles) \(row.texts.string(ProductRow.extraText))")
  }
  mutating func relation(_ row: borrowing RelationRow) {
    lines.append("relation \(RelationText.allCases.map { row[$0] }) \(row.groupNum)")
  }
  mutating func code(_ row: borrowing CodeRow) {
    lines.append("code \(CodeText.allCases.map { row[$0] }) \(row.quantity.normalized.description)")
  }
}

struct RowGroupTests {
  /// A group of random entries, and their lines.
  private func randomGroup(_ seed: UInt64, count: Int) -> (bytes: [UInt8], lines: [String]) {
    var rows = RowGenerator(random: SeededGenerator(seed: seed))
    var group = RowGroupWriter()
    var expected = Lines()
    for number in 0..<count {
      let id = Bool.random(using: &rows.random) ? "\(seed)\(number)" : rows.text()
      group.entry(id.utf8.span.rawSpan)
      expected.entry(id.utf8.span.rawSpan)
      if Int.random(in: 0..<4, using: &rows.random) > 0 {
        var row = rows.product()
        row.texts.set(ProductText.id.rawValue, id)
        if number % 3 == 0 { row.texts.set(ProductText.updateTime.rawValue, "2026-01-\(10 + number % 20) 07:08:09") }
        if number % 5 == 0 { row.texts.set(ProductRow.extraText, "{\"a\":\(number)}") }
        group.product(row)
        expected.product(row)
      }
      for _ in 0..<[0, 0, 1, 5].randomElement(using: &rows.random)! {
        var row = rows.relation()
        row.texts.set(RelationText.productId.rawValue, id)
        group.relation(row)
        expected.relation(row)
      }
      for _ in 0..<[0, 0, 1, 5].randomElement(using: &rows.random)! {
        var row = rows.code()
        row.texts.set(CodeText.productId.rawValue, id)
        group.code(row)
        expected.code(row)
      }
    }
    return (group.finish(), expected.lines)
  }

  @Test(arguments: [0, 1, 2, 17, 300]) func groupKeepsEveryRow(_ count: Int) throws {
    var random = SeededGenerator(for: "groupKeepsEveryRow \(count)")
    let seed = random.next()
    let (bytes, lines) = randomGroup(seed, count: count)
    var read = Lines()
    try RowGroupReader(bytes).forEachEntry(into: &read)
    #expect(read.lines == lines)
  }

  @Test func damagedGroupIsRefusedOrHasOtherRows() throws {
    var random = SeededGenerator(for: "damagedGroup")
    let (bytes, _) = randomGroup(random.next(), count: 12)
    for offset in bytes.indices {
      for change: UInt8 in [0x01, 0x80, 0xFF] {
        var damaged = bytes
        damaged[offset] ^= change
        var read = Lines()
        // Whatever it says, nothing traps, and no error is of another kind.
        do { try RowGroupReader(damaged).forEachEntry(into: &read) } catch is PublicationError {}
      }
      #expect(throws: PublicationError.self) { try RowGroupReader(Array(bytes[..<offset])) }
    }
  }

  @Test func columnsOfNumbersKeepZerosInFront() throws {
    for texts in [
      ["007", "7", "", "0", "999999999999999999", "000000000000000000"], ["1234567890123456789", "12"],
      ["2026-01-31 23:59:59", "", "0000-00-00 00:00:00", "9999-15-31 23:59:59"], ["2026-01-31 24:00:00", ""],
      ["2026-01-31T23:59:59", "2026-01-31 23:59:59"], ["١٢"], ["", ""], ["a", "a", "a"],
      ["4006381333931", "96385074", "4006381333930", "", "5", "0000000000000"],
      ["1", "2", "3", "4", "5", "6", "7", "8", "nine", "10", "11", "12", "13", "14", "15", "16"], ["a\nb", "c"],
      ["", "\n", "1"], ["a\n"] + (1...40).map { "\($0)" },
    ] {
      var column = TextColumn()
      for text in texts { column.append(text.utf8.span.rawSpan) }
      var writer = ByteWriter()
      column.append(to: &writer)
      var reader = ByteReader(writer.bytes.rawSpan)
      var table = ColumnTable(rowCount: texts.count, columnCount: 2)
      try table.read(1, .text, from: &reader, limit: 1000)
      #expect((0..<texts.count).map { table[$0, 1].copied() } == texts.map { Array($0.utf8) })
      #expect((0..<texts.count).allSatisfy { table[$0, 0].byteCount == 0 })
      #expect(reader.remaining == 0)
    }
  }
}
