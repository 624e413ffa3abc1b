import Bytes
import RandomTestSupport
import StoreTestSupport
import Testing
@testable import Catalog
import CatalogTestSupport

@Suite struct PackedTimeTests {
  @Test(arguments: [
    "0000-00-00 00:00:00", "2023-02-01 01:15:03", "2023-02-30 31:63:63", "9999-15-31 31:63:63",
    "0001-01-01 00:00:01",
  ])
  func `a time whose numbers have room is given back`(text: String) throws {
    let packed = PackedTime.pack(Array(text.utf8).rawSpan)
    let bits = try #require(packed)
    #expect(bits < 1 << 40)
    #expect(PackedTime.text(bits) == text)
    var appended = Array("x".utf8)
    PackedTime.append(bits, to: &appended)
    #expect(appended == Array(("x" + text).utf8))
  }

  @Test(arguments: [
    "", "t", "２０２３", "2023-16-01 00:00:00", "2023-02-32 00:00:00", "2023-02-01 32:00:00",
    "2023-02-01 00:64:00",
    "2023-02-01 00:00:64", "2023-02-01T00:00:00", "2023-02-01 00:00:00 ", "2023-02-01 00:00",
    "202a-02-01 00:00:00",
    "2023-02-01 00:00:0:", "2023-02-01 00:00:/0", "+023-02-01 00:00:00", "2023-02-30 99:99:99",
  ])
  func `anything else is refused`(text: String) {
    let packed = PackedTime.pack(Array(text.utf8).rawSpan)
    #expect(packed == nil)
  }

  @Test func `random changes of a time are refused or given back`() {
    var random = SeededGenerator(for: "random changes of a time are refused or given back")
    for _ in 0..<20_000 {
      var text = Array("2023-02-01 01:15:03".utf8)
      for _ in 0..<Int.random(in: 1..<5, using: &random) {
        let any = Array("0123456789-: /\u{0}A".utf8) + [0x80, 0xFF]
        text[Int.random(in: 0..<text.count, using: &random)] = any.randomElement(using: &random)!
      }
      if let bits = PackedTime.pack(text.rawSpan) { #expect(Array(PackedTime.text(bits).utf8) == text) }
    }
  }

  @Test func `any 40 bits can be unpacked`() {
    for bits: UInt64 in [0, 1 << 40 - 1, .max] {
      #expect(PackedTime.text(bits).utf8.count == 19)
      var appended: [UInt8] = []
      PackedTime.append(bits, to: &appended)
      #expect(appended == Array(PackedTime.text(bits).utf8))
    }
  }
}

@Suite struct PackedDecimalTests {
  private static let edges: [Double] = [
    0, 1, -1, 0.35, 845, 226.8, 113.4, 268_435_455, -268_435_455, 26.8435455, 0.0000001, -0.0000001, 0.1,
    99_999.999,
  ]

  @Test(arguments: edges)
  func `a short decimal is packed and given back`(value: Double) throws {
    let bits = try #require(PackedDecimal.pack(value))
    #expect(PackedDecimal.unpack(bits).bitPattern == value.bitPattern)
  }

  @Test(arguments: [
    -0.0, 268_435_456, -268_435_456, 1e-8, 0.1 + 0.2, 1.0 / 3, .infinity, -.infinity, .nan, 1e308,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1e300, 0.1.nextUp,
  ])
  func `what four bytes cannot hold is refused`(value: Double) {
    #expect(PackedDecimal.pack(value) == nil)
  }

  @Test func `random doubles are refused or given back bit by bit`() throws {
    var rows = RowGenerator("random doubles are refused or given back bit by bit")
    for _ in 0..<20_000 {
      let value = rows.double()
      if let bits = PackedDecimal.pack(value) {
        try #require(PackedDecimal.unpack(bits).bitPattern == value.bitPattern)
      }
    }
  }

  @Test func `any 32 bits can be unpacked`() {
    for bits: UInt32 in [0, 7, .max, 1 << 31, 1 << 31 | 7] { #expect(PackedDecimal.unpack(bits).isFinite) }
  }
}

@Suite struct LengthPrefixTests {
  @Test(arguments: [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152])
  func `a text with its length before it is given back`(count: Int) {
    var body: [UInt8] = [9]
    let text = [UInt8](repeating: 7, count: count)
    body.putText(text.rawSpan)
    #expect(Self.range(in: body, at: 1) == (body.count - count)..<body.count)
    body.removeLast()
    if count > 0 { #expect(Self.range(in: body, at: 1) == nil) }
  }

  @Test func `a length that never ends or leads outside is refused`() {
    #expect(Self.range(in: [], at: 0) == nil)
    #expect(Self.range(in: [UInt8](repeating: 0xFF, count: 40), at: 0) == nil)
    #expect(Self.range(in: [0xFF, 0xFF, 0xFF, 0xFF, 0x7F], at: 0) == nil)
    #expect(Self.range(in: [1], at: 0) == nil)
  }

  private static func range(in body: [UInt8], at start: Int) -> Range<Int>? {
    body.rawSpan.textRange(at: start)
  }
}

@Suite struct CodeKeyTests {
  @Test(arguments: [
    ("", ""), (" ", ""), ("\u{0}\r\n\t\u{2}\u{3}\u{4} ", ""), ("\u{A0}\u{FEFF}\u{200B}", ""), ("a", "A"),
    (" sg-12 ", "SG-12"), ("\u{A0}x\u{A0}", "X"), ("é", "é"), ("ÿz", "ÿZ"),
    ("\u{1D}1\u{1D}", "\u{1D}1\u{1D}"),
    ("a b", "A B"), ("\u{3000}1", "\u{3000}1"), ("`{az}", "`{AZ}"), ("\u{C2}x", "\u{C2}X"), ("１", "１"),
  ])
  func `a barcode has this key`(barcode: String, key: String) {
    #expect(CodeKey.of(barcode) == Array(key.utf8))
    // A key is its own key.
    #expect(CodeKey.of(key) == Array(key.utf8))
  }

  @Test func `bytes that are no UTF-8 are trimmed without a trap`() {
    var random = SeededGenerator(for: "bytes that are no UTF-8 are trimmed without a trap")
    let alphabet: [UInt8] = [0xC2, 0xA0, 0xEF, 0xBB, 0xBF, 0xE2, 0x80, 0x8B, 0x20, 0x41, 0x61, 0x1D, 0x00]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0..<9, using: &random)).map { _ in
        alphabet.randomElement(using: &random)!
      }
      let range = CodeKey.trimmed(text.rawSpan)
      let again = CodeKey.trimmed(Array(text[range]).rawSpan)
      #expect(again.count == range.count)
      var key: [UInt8] = []
      CodeKey.fold(text.rawSpan, into: &key)
      let isFolded = CodeKey.isFolded(text.rawSpan)
      if isFolded { #expect(key == text) }
    }
  }
}
