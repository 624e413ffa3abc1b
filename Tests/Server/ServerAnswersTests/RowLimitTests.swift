import CatalogRows
import RandomTestSupport
import ServerAnswers
import Testing

/// What a small answer may hold: rows, bytes, a cursor.
@Suite struct RowLimitTests {
  /// Packs rows of the given names.
  private func packed(_ names: [String]) -> [UInt8] {
    let encoder = PayloadEncoder(form: .gzip)
    var row = ProductRow()
    for name in names {
      row.reset()
      row.texts.set(ProductText.name.rawValue, name)
      encoder.product(row)
    }
    encoder.finish(updateTime: "t")
    return encoder.takeOutput()
  }

  /// The outcome of an answer, which no cut of it changes.
  private func outcome(
    _ packed: [UInt8], _ limits: WireLimits, chunks: [Int] = [1, 7, 1000, 20_000]
  ) -> Outcome {
    let bytes = envelope(packed: packed)
    let whole = Outcome(bytes, limits: limits)
    for chunk in chunks {
      #expect(Outcome(bytes, chunks: [chunk], limits: limits) == whole, "in chunks of \(chunk)")
      #expect(Outcome(bytes, chunks: [chunk], limits: limits, onTwoThreads: true) == whole, "\(chunk), two threads")
    }
    return whole
  }

  @Test func `rows beyond the limit need packed bytes, counted in steps of 16 KiB`() {
    let limits = WireLimits(rowCount: 10, packedBytesPerRow: 100)
    let names = Array(repeating: "", count: 164)
    #expect(packed(names).count < 1000)
    #expect(outcome(packed(Array(names.dropLast())), limits).summary?.products == 163)
    #expect(outcome(packed(names), limits).failure?.contains("more than 163 rows") == true)
    #expect(outcome(packed(names), WireLimits(rowCount: 164, packedBytesPerRow: 100)).summary?.products == 164)
  }

  @Test func `rows of both lists count`() {
    let row = "{},{},{}"
    let json = "{\"appProductVOList\":[\(row)],\"appProductRelVOList\":[\(row)],\"updateTime\":\"t\"}"
    let taken = Outcome(Array(json.utf8), limits: WireLimits(absoluteRowCount: 6), allowsBarePayload: true)
    #expect(taken.summary?.relations == 3)
    let refused = Outcome(Array(json.utf8), limits: WireLimits(absoluteRowCount: 5), allowsBarePayload: true)
    #expect(refused.failure?.contains("more than 5 rows, the limit for any answer") == true)
    #expect(refused.lines.count == 5)
    // A bare payload is not packed, so its size speaks for itself.
    let bare = WireLimits(rowCount: 0, packedBytesPerRow: 1000)
    #expect(Outcome(Array(json.utf8), limits: bare, allowsBarePayload: true).summary?.products == 3)
  }

  @Test func `whether an answer unpacks too well does not depend on how it is cut`() {
    var random = SeededGenerator(for: "ratio and chunks")
    var taken = 0
    let count = 6 * depth
    for _ in 0..<count {
      var names: [String] = []
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        if Bool.random(using: &random) {
          names.append(String(repeating: " ", count: Int.random(in: 1...150_000, using: &random)))
        } else {
          let bytes = (0..<Int.random(in: 1...20_000, using: &random)).map { _ in
            Character(UnicodeScalar(UInt8.random(in: 0x41...0x7A, using: &random)))
          }
          names.append(String(bytes))
        }
      }
      let limits = WireLimits(
        unpackedByteCount: 1000, unpackedRatio: Int.random(in: 1...20, using: &random), rowCount: 1,
        packedBytesPerRow: Int.random(in: 1...6000, using: &random))
      let chunks = [1, 5, 333, 4096, Int.random(in: 1...60_000, using: &random)]
      if outcome(packed(names), limits, chunks: chunks).failure == nil { taken += 1 }
    }
    #expect(taken > 0 && taken < count)
  }

  @Test func `blanks before what packs badly are taken in whatever pieces`() {
    var random = SeededGenerator(for: "blanks first")
    let noise = String(
      (0..<16_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 0x41...0x7A, using: &random))) })
    let packed = packed([String(repeating: " ", count: 100_000), noise])
    #expect(packed.count > 8000)
    let limits = WireLimits(unpackedByteCount: 1000, unpackedRatio: 10)
    #expect(outcome(packed, limits).failure == nil)
  }

  @Test func `a cursor at the limit is taken and one byte more is refused`() {
    func text(_ cursor: String) -> [UInt8] {
      envelope("{\"appProductVOList\":[],\"appProductRelVOList\":[],\"updateTime\":\"\(cursor)\"}")
    }
    let limit = WireLimits().cursorByteCount
    let longest = String(repeating: "7", count: limit)
    #expect(Outcome(text(longest)).summary?.updateTime == longest)
    #expect(Outcome(text("\\u0037" + longest.dropFirst())).summary?.updateTime == longest)
    let failure = Outcome(text(longest + "7")).failure
    #expect(
      failure?.contains("updateTime at byte") == true && failure?.contains("1025 bytes, the limit is 1024") == true)
  }
}
