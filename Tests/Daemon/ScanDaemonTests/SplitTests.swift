import Catalog
import CatalogRows
import ScanInputs
import Testing

@testable import ScanDaemon

/// Several codes in one transmission.
@Suite(.timeLimit(.minutes(10))) struct SplitTests {
  let root = TestRoot()
  let receiver = Receiver()

  init() throws {
    try root.fill("ana")
    let writer = try CatalogWriter(root.directory.makeStore("catalogue", of: "ana"), lockTimeout: .seconds(5))
    defer { writer.close() }
    var increment = writer.beginIncrement()
    var row = ProductRow()
    for (id, barcode) in [("a", "4719999000019"), ("b", "4719999000026")] {
      var product = Product()
      (product.id, product.barcode) = (id, barcode)
      product.fill(&row)
      try increment.product(row)
    }
    _ = try increment.commit(cursor: "tuesday")
  }

  private func lines(_ answer: ReadingAnswer) -> [String] {
    String(decoding: answer.line, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test func `an input that is split answers each code, and another one says what it read`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.splitInputs = ["belt"] }
    let readings = ["6901", "47199990000194719999000026", "6902"]
    let split = await daemon.answer(readings.map { Reading(input: "belt", code: $0) })
    #expect(split.map { lines($0).count } == [1, 2, 1])
    let both = lines(split[1])
    for (line, code) in zip(both, ["4719999000019", "4719999000026"]) {
      #expect(line.contains(#""code":"\#(code)""#) && line.contains(#""match":"exact""#))
    }
    let whole = await daemon.answer(Reading(input: "till", code: readings[1]))
    #expect(lines(whole).count == 1 && lines(whole)[0].contains(#""match":"none""#))
    #expect(lines(whole)[0].contains("two codes in one scan"))
    await daemon.recorder.flush()
    #expect(try daemon.misses(limit: 5).map(\.id) == [readings[1]])
  }

  @Test func `a code that is not two is answered as it is`() async throws {
    let daemon = try root.daemon(receiver.environment()) { $0.splitInputs = ["belt"] }
    for code in ["47199990000194719999000027", "nothing", ""] {
      #expect(lines(await daemon.answer(Reading(input: "belt", code: code))).count == 1)
    }
    let faulty = await daemon.answer(Reading(input: "belt", undecoded: Array("47199990000194719999000026\u{FF}".utf8)))
    #expect(lines(faulty).count == 1)
  }

  @Test func `a split reading that is repeated is one double scan for each code`() async throws {
    let daemon = try root.daemon(receiver.environment()) {
      $0.splitInputs = ["belt"]
      $0.doubleScanWindow = .seconds(3600)
    }
    let reading = Reading(input: "belt", code: "47199990000194719999000026")
    #expect(await !daemon.answer(reading).isRepeat)
    #expect(await daemon.answer(reading).isRepeat)
  }
}
