import CatalogRows
import RandomTestSupport
import RowTestSupport
import Testing
@testable import ServerAnswers

@Suite struct ConcurrentResponseDecoderTests {
  @Test(arguments: WireCase.all) func `the corpus has the same outcome on two threads`(wire: WireCase) throws {
    let bytes = try wire.bytes()
    let expected = Outcome(bytes)
    #expect(Outcome(bytes, onTwoThreads: true) == expected)
    #expect(Outcome(bytes, chunks: [1000], onTwoThreads: true) == expected)
    if bytes.count < 5_000 { #expect(Outcome(bytes, chunks: [1], onTwoThreads: true) == expected) }
  }

  @Test func `damaged answers have the same outcome on two threads`() {
    var random = SeededGenerator(for: "damaged answers on two threads")
    let good = envelope(ResponseDecoderTests.text)
    for _ in 0..<500 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0...2, using: &random) == 0 ? Int.random(in: 0..<bytes.count, using: &random) : 0)
      let chunk = Int.random(in: 1...bytes.count, using: &random)
      #expect(Outcome(bytes, chunks: [chunk], onTwoThreads: true) == Outcome(bytes), "\(bytes)")
    }
  }

  @Test func `what the sink throws passes through, and stays`() throws {
    let bytes = envelope(ResponseDecoderTests.text)
    var decoder = try ConcurrentResponseDecoder()
    var sink = Collector(capacity: 0)
    #expect(throws: WireError.self) {
      try decoder.consume(bytes.span, into: &sink)
      _ = try decoder.finish(into: &sink)
    }
    #expect(throws: WireError.self) { _ = try decoder.finish(into: &sink) }
  }

  @Test func `one that is dropped in the middle leaves no thread that waits`() throws {
    let wire = try #require(WireCase.all.first { $0.file.hasPrefix("bomb") })
    let bytes = try wire.bytes()
    for part in 1...50 {
      var decoder = try ConcurrentResponseDecoder()
      var sink = Collector()
      // What it says does not matter; that it returns does.
      _ = try? decoder.consume(bytes.span.extracting(0..<(bytes.count * part / 50)), into: &sink)
    }
  }

  @Test func `progress counts bytes and rows`() throws {
    let bytes = envelope(ResponseDecoderTests.text)
    var decoder = try ConcurrentResponseDecoder()
    var sink = Collector()
    try decoder.consume(bytes.span, into: &sink)
    let summary = try decoder.finish(into: &sink)
    #expect(decoder.progress.bytesIn == bytes.count)
    #expect(decoder.progress.bytesUnpacked == ResponseDecoderTests.text.utf8.count)
    #expect(decoder.progress.rows == 1)
    #expect(summary.bytesIn == bytes.count)
  }
}
