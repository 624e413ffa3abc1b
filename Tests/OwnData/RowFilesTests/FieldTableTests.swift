import CatalogRows
import RowFiles
import RowTestSupport
import Testing

/// Each field of the table in files of rows.
@Suite struct FieldTableTests {
  private struct Sink: RowSink {
    var values: [[String: String]] = []

    mutating func product(_ row: borrowing ProductRow) throws { values.append(row.valuesByKey) }
    mutating func relation(_ row: borrowing RelationRow) throws {}
    mutating func code(_ row: borrowing CodeRow) throws {}
  }

  @Test(arguments: ProductField.allCases, RowFileFormat.allCases)
  func `a file has it`(field: ProductField, format: RowFileFormat) throws {
    let writer = RowFileWriter(format)
    var text: [UInt8] = []
    writer.appendHeader(to: &text)
    let row = field.marked()
    writer.append(row, to: &text)
    var reader = RowFileReader(format)
    var sink = Sink()
    try reader.consume(text.span, into: &sink)
    _ = try reader.finish(into: &sink)
    #expect(sink.values == [row.valuesByKey])
  }

  @Test(arguments: ProductField.allCases) func `a line of a dump has it`(field: ProductField) throws {
    let row = field.marked()
    var line: [UInt8] = []
    RowJSON.appendDump(row, to: &line)
    var lines = RowLines(kind: .tagged)
    var sink = Sink()
    try lines.consume(line.span, into: &sink)
    _ = try lines.finish(into: &sink)
    #expect(sink.values == [row.valuesByKey])
  }
}
