import CatalogSources
import Foundation
import RowTestSupport
import ServerAnswers
import Testing

@testable import CatalogOrigin

/// The codes that an origin answers with: which, and when a list of them is there at all.
@Suite struct OriginCodesTests {
  private let now = Stamp("2026-06-01 12:00:00")
  private let later = Stamp("2026-06-01 12:00:01")

  private func products(_ ids: String...) -> [TestProduct] { ids.map { TestProduct(id: $0) } }

  /// The payload as it goes over the wire.
  private func payload(_ answer: OriginAnswer) throws -> (lines: [String], summary: PayloadSummary) {
    var encoding = AnswerEncoding(answer)
    var decoder = try ResponseDecoder()
    var sink = Collector()
    while let bytes = try encoding.next() { try decoder.consume(bytes.span, into: &sink) }
    return (sink.lines, try decoder.finish())
  }

  @Test func `a full answer has all codes, those without a product too`() async throws {
    let codes = [
      TestCode(id: "c", productId: "1", code: "111", quantity: 24), TestCode(id: "d", productId: "1", code: "112"),
      TestCode(id: "e", productId: "nobody", code: "113"),
    ]
    let origin = try await TestOrigin(products("1", "2"), codes: codes, now: now)
    #expect(origin.store.counts == .init(products: 2, relations: 0, codes: 3, tombstones: 0))
    let answer = try origin.answer("")
    #expect(try answer.collected().codes.sorted() == codes)
    let (lines, summary) = try payload(answer)
    #expect(summary.hasCodes && summary.codes == 3 && summary.products == 2)
    #expect(lines.contains(#"{"type":"code","code":"111","id":"c","kind":"","productId":"1","quantity":24,"unit":""}"#))
  }

  @Test func `an answer without codes has no list, as long as no client was sent one`() async throws {
    let origin = try await TestOrigin(products("1"), now: now)
    #expect(try !payload(origin.answer("")).summary.hasCodes)
    _ = try await origin.reload(products("1", "2"), now: later)
    #expect(try !payload(origin.answer(now.string)).summary.hasCodes)
  }

  @Test func `a change of codes is a change of its product, which is sent with all of them`() async throws {
    let first = [TestCode(id: "c", productId: "1", code: "111"), TestCode(id: "d", productId: "2", code: "222")]
    let origin = try await TestOrigin(products("1", "2", "3"), codes: first, now: now)
    let second = [first[0], TestCode(id: "x", productId: "1", code: "112", quantity: 6), first[1]]
    #expect(try await origin.reload(products("1", "2", "3"), codes: second, now: later) == .init(updated: 1))
    let rows = try origin.answer(now.string).collected()
    #expect(rows.products.map(\.id) == ["1"] && rows.codes.sorted() == [second[0], second[1]])
    // Another quantity alone is a change.
    let third = [first[0], TestCode(id: "x", productId: "1", code: "112", quantity: 12), first[1]]
    let cursor = try origin.answer(now.string).updateTime
    #expect(try await origin.reload(products("1", "2", "3"), codes: third, now: later) == .init(updated: 1))
    #expect(try origin.answer(cursor).collected().codes.map(\.quantity).sorted() == [1, 12])
    // Nothing new: an empty list, since clients have codes.
    let nothing = try payload(origin.answer(origin.answer("").updateTime))
    #expect(nothing.summary.hasCodes && nothing.summary.rows == 0)
  }

  @Test func `the last code that goes leaves an empty list, also after a restart`() async throws {
    let folder = try TestFolder()
    let rows = try folder.write("{\"id\":\"1\"}\n", to: "products")
    let codes = try folder.write(#"{"productId":"1","barcode":"111"}"#, to: "codes")
    func store() async throws -> OriginStore {
      try await OriginStore(
        source: CatalogueSource(serverRows: rows, relations: nil, codes: codes), state: folder.path("state"),
        clock: OriginClock { 1_780_315_200 }, logger: LogRecorder().logger, sleep: { _ in })
    }
    let cursor = try await store().answer(cursor: "").updateTime
    try folder.write("", to: "codes", atomically: true)
    for _ in 0..<2 {
      let answer = try await store().answer(cursor: cursor)
      #expect(answer.hasCodes)
      let (lines, summary) = try payload(answer)
      #expect(summary.products == 1 && summary.hasCodes && summary.codes == 0 && lines.count == 1)
    }
  }

  @Test func `a vanished product takes its codes along, and orphans are in full answers only`() async throws {
    let codes = [TestCode(id: "c", productId: "1", code: "111"), TestCode(id: "d", productId: "2", code: "222")]
    let origin = try await TestOrigin(products("1", "2"), codes: codes, now: now)
    _ = try await origin.reload(products("2"), codes: codes, now: later)
    let rows = try origin.answer(now.string).collected()
    #expect(rows.products.map(\.delFlag) == [1] && rows.codes.isEmpty)
  }

  @Test func `a dump may hold codes, and a bad line of a file of codes is named`() async throws {
    let folder = try TestFolder()
    let dump = try folder.write(
      """
      {"type":"product","id":"1"}
      {"type":"code","code":"111","id":"","kind":"","productId":"1","quantity":24,"unit":"case"}
      """, to: "dump")
    let log = LogRecorder()
    let store = try await OriginStore(source: CatalogueSource(serverRows: dump, relations: nil), logger: log.logger)
    #expect(store.counts.codes == 1)
    #expect(log.events.contains { $0.text.contains("\"codes\": 1") }, "\(log.events)")
    let bad = try folder.write("{\"productId\":\"1\"}\n[]\n", to: "codes")
    let error = await #expect(throws: OriginError.self) {
      try await OriginStore(
        source: CatalogueSource(serverRows: dump, relations: nil, codes: bad), logger: log.logger)
    }
    let words = "\(try #require(error))"
    #expect(words.contains(bad) && words.contains("Line 2"), "\(words)")
  }
}
