import CatalogRows
import RandomTestSupport
import RowFiles
import RowTestSupport
import ServerAnswers
import Testing

@Suite struct RowLinesTests {
  private struct Reading: Equatable {
    var lines: [String] = []
    var summary: RowLines.Summary?
    var failure: String?
  }

  private func read(_ text: String, _ kind: RowLines.Kind, limits: WireLimits = WireLimits()) -> Reading {
    func run(_ size: Int) -> Reading {
      let bytes = Array(text.utf8)
      var reader = RowLines(kind: kind, limits: limits)
      var sink = Collector()
      var result = Reading()
      do throws(RowFileError) {
        var start = 0
        while start < bytes.count {
          let stop = min(bytes.count, start + size)
          try reader.consume(bytes.span.extracting(start..<stop), into: &sink)
          start = stop
        }
        result.summary = try reader.finish(into: &sink)
      } catch {
        result.failure = error.description
      }
      result.lines = sink.lines
      return result
    }
    let whole = run(1 << 20)
    #expect(run(1) == whole)
    #expect(run(7) == whole)
    return whole
  }

  @Test func `every line is a row`() {
    let reading = read(
      "{\"id\":\"a\"}\n\n {\"id\":\"b\",\"name\":\"\u{2028}\"} \r\n{\"id\":\"c\",\"weight\":\"x\"}", .products
    )
    #expect(reading.summary?.products == 3)
    #expect(reading.summary?.lines == 4)
    #expect(reading.summary?.defaulted[product: .weight] == 1)
    #expect(read("{\"id\":\"a\"}\n{}\n", .relations).summary?.relations == 2)
    #expect(read("", .products).summary?.lines == 0)
  }

  @Test func `a dump reads back`() throws {
    var rows = RowGenerator(random: SeededGenerator(for: "a dump reads back"))
    var dump = Collector()
    for _ in 0..<100 {
      try dump.product(rows.product())
      try dump.relation(rows.relation())
      try dump.code(rows.code())
    }
    #expect(read(dump.lines.joined(separator: "\n") + "\n", .tagged).lines == dump.lines)
  }

  @Test func `the type may come last and the first one counts`() {
    let reading = read(
      "{\"x\":{\"type\":\"no\"},\"id\":\"a\",\"type\":\"relation\",\"type\":\"product\"}", .tagged)
    #expect(reading.summary?.relations == 1)
    #expect(reading.lines.first?.contains("\"id\":\"a\"") == true)
  }

  @Test func `a line may be a code, under either name of its text`() {
    let reading = read("{\"barcode\":\"1\",\"quantity\":\"x\"}\n{\"code\":\"2\",\"quantity\":24}\n", .codes)
    #expect(reading.summary?.codes == 2 && reading.summary?.defaulted[code: .quantity] == 1)
    #expect(
      reading.lines.map { $0.contains(#""code":"1""#) || $0.contains(#""code":"2""#) } == [true, true])
    let tagged = read("{\"type\":\"code\",\"code\":\"2\"}\n{\"type\":\"product\"}\n", .tagged)
    #expect(tagged.summary?.codes == 1 && tagged.summary?.products == 1)
  }

  @Test(arguments: [
    ("{}\n{\"id\":}", "Line 2 is not JSON: '}' at byte 6"), ("{}\n\n[]", "Line 3 is an array"),
    ("{} {}", "Line 1 is not JSON"), ("{}\n{", "Line 2 is not JSON"), ("null", "Line 1 is null"),
  ])
  func `an error names the line`(text: String, reason: String) {
    let failure = read(text, .products).failure ?? "accepted"
    #expect(failure.hasPrefix(reason), "\(failure)")
  }

  @Test(arguments: [
    ("{}", "Line 1 has no text under the key type"),
    ("{\"type\":1}", "Line 1 has no text under the key type"),
    ("{\"type\":\"x\"}", "Line 1 has the type \"x\""),
  ])
  func `a tagged line needs its type`(text: String, reason: String) {
    let failure = read(text, .tagged).failure ?? "accepted"
    #expect(failure.hasPrefix(reason), "\(failure)")
  }

  @Test func `a line at the limit is taken and one byte more is refused`() {
    let limits = WireLimits(tokenByteCount: 12)
    #expect(read("{\"id\":\"abc\"}\n", .products, limits: limits).failure == nil)
    #expect(
      read("{}\n{\"id\":\"abcd\"}\n", .products, limits: limits).failure?.hasPrefix(
        "Line 2 is longer than 12") == true)
  }
}
