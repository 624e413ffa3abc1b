import CatalogRows
import Foundation
import RandomTestSupport
import RowTestSupport
import ServerAnswers
import Testing

@Suite struct ResponseDecoderTests {
  static let row = "{\"id\":\"a\"}"
  static let text = "{\"appProductVOList\":[\(row)],\"appProductRelVOList\":[],\"updateTime\":\"t\"}"
  private static let data = base64(GzipMaker.pack(Array(text.utf8)))

  private func decode(_ json: String, allowsBarePayload: Bool = false) -> Outcome {
    let bytes = Array(json.utf8)
    let whole = Outcome(bytes, allowsBarePayload: allowsBarePayload)
    #expect(Outcome(bytes, chunks: [1], allowsBarePayload: allowsBarePayload) == whole)
    return whole
  }

  // MARK: - Envelope

  @Test(arguments: ["1000", "1000.0", "1e3", "10.00E2"]) func `code is the number 1000`(code: String) {
    #expect(decode("{\"code\":\(code),\"data\":\"\(Self.data)\"}").summary?.products == 1)
  }

  @Test(arguments: ["1001", "1000.5", "\"1000\"", "null", "true", "[1000]", "{\"code\":1000}", "-1000"])
  func `any other code is refused`(code: String) {
    for json in [
      "{\"code\":\(code),\"data\":\"\(Self.data)\",\"message\":\"no such user\"}",
      "{\"message\":\"no such user\",\"data\":\"\(Self.data)\",\"code\":\(code)}",
    ] {
      let outcome = decode(json)
      #expect(outcome.failure?.contains("refused the request") == true)
      #expect(outcome.failure?.contains("no such user") == true)
    }
  }

  @Test func `the data of a refused request is not decoded when the code comes first`() {
    #expect(decode("{\"code\":500,\"data\":\"\(Self.data)\"}").lines.isEmpty)
    #expect(decode("{\"code\":500,\"data\":\"!\"}").failure?.contains("code 500") == true)
  }

  @Test func `the keys come in any order and rows may come before a bad code`() {
    #expect(decode("{\"data\":\"\(Self.data)\",\"code\":1000}").summary?.products == 1)
    let outcome = decode("{\"data\":\"\(Self.data)\",\"code\":1}")
    #expect(outcome.lines.count == 1)
    #expect(outcome.failure != nil)
  }

  @Test func `of duplicate keys in the envelope the first counts`() {
    #expect(decode("{\"code\":1000,\"code\":5,\"data\":\"\(Self.data)\",\"data\":7}").summary?.products == 1)
    #expect(decode("{\"code\":5,\"code\":1000,\"data\":\"\(Self.data)\"}").failure != nil)
    #expect(
      decode("{\"code\":1000,\"data\":7,\"data\":\"\(Self.data)\"}").failure?.contains("a number") == true)
  }

  @Test func `unknown keys are skipped and keys may be escaped`() {
    let json =
      "{\"x\":{\"data\":\"no\",\"code\":[1]},\"c\\u006fde\":1000,\"y\":[[\"data\"]],\"data\":\"\(Self.data)\"}"
    #expect(decode(json).summary?.products == 1)
  }

  @Test func `an envelope without data is refused`() {
    #expect(decode("{\"code\":1000}").failure?.contains("no data") == true)
    #expect(decode("{\"code\":1000,\"data\":{\"a\":1}}").failure?.contains("an object") == true)
  }

  @Test func `only white space may follow the envelope`() {
    let json = "{\"code\":1000,\"data\":\"\(Self.data)\"}"
    #expect(decode(" " + json + " \n").failure == nil)
    #expect(decode(json + "x").failure != nil)
    #expect(decode(json + json).failure != nil)
  }

  // MARK: - Bare payload

  @Test func `a bare payload is taken if that is allowed`() {
    #expect(decode(Self.text, allowsBarePayload: true).summary?.products == 1)
    #expect(
      decode("{\"x\":[\"code\"],\"data2\":1," + Self.text.dropFirst(), allowsBarePayload: true).lines.count
        == 1)
    #expect(decode(Self.text).failure?.contains("bare payload") == true)
    #expect(decode("{}", allowsBarePayload: true).failure?.contains("no code") == true)
    #expect(decode("[]", allowsBarePayload: true).failure?.contains("an array") == true)
    #expect(decode("{\"code\":1000,\"data\":\"\(Self.data)\"}", allowsBarePayload: true).failure == nil)
    #expect(decode(Self.text + "}", allowsBarePayload: true).failure?.contains("payload is not JSON") == true)
  }

  @Test(arguments: [0, 20, 36, 37, 38, 60, 100])
  func `whether a payload is bare does not depend on the chunks, however near its first key is to the limit`(
    blanks: Int
  ) {
    let limits = WireLimits(tokenByteCount: 40)
    let text = "{" + String(repeating: " ", count: blanks) + Self.text.dropFirst()
    let whole = Outcome(Array(text.utf8), limits: limits, allowsBarePayload: true)
    #expect((whole.failure == nil) == (blanks + 1 < 40))
    for size in [1, 2, 7, 39, 40, 41, 80] {
      #expect(Outcome(Array(text.utf8), chunks: [size], limits: limits, allowsBarePayload: true) == whole)
    }
  }

  // MARK: - Base64

  @Test func `characters outside of the alphabet are skipped`() {
    var dirty = "\\n"
    for (index, character) in Self.data.enumerated() {
      if index % 7 == 3 {
        dirty += ["\\r\\n", " ", "-", "\\u00e9", "é", "_", "\\t"][index % 7 == 3 ? index / 7 % 7 : 0]
      }
      dirty.append(character)
    }
    #expect(decode("{\"code\":1000,\"data\":\"\(dirty)\\n \"}").failure == nil)
    let slashes = Self.data.replacingOccurrences(of: "/", with: "\\/").replacingOccurrences(
      of: "A", with: "\\u0041")
    #expect(decode("{\"code\":1000,\"data\":\"\(slashes)\"}").failure == nil)
  }

  @Test(arguments: 0..<6) func `padding is required`(length: Int) {
    let packed = GzipMaker.pack(Array((Self.text + String(repeating: " ", count: length)).utf8))
    let padded = base64(packed)
    let bare = padded.replacingOccurrences(of: "=", with: "")
    #expect(decode("{\"code\":1000,\"data\":\"\(padded)\"}").failure == nil)
    let outcome = decode("{\"code\":1000,\"data\":\"\(bare)\"}")
    #expect((outcome.failure == nil) == (bare == padded))
  }

  @Test func `nothing may follow the padding`() throws {
    let text = Self.text + String(repeating: " ", count: 2)
    let padded = try #require(
      (0..<3).map { base64(GzipMaker.pack(Array((text + String(repeating: " ", count: $0)).utf8))) }
        .first { $0.hasSuffix("=") })
    #expect(decode("{\"code\":1000,\"data\":\"\(padded) \"}").failure == nil)
    #expect(decode("{\"code\":1000,\"data\":\"\(padded)A\"}").failure?.contains("after the padding") == true)
    #expect(
      decode("{\"code\":1000,\"data\":\"\(padded)====\"}").failure?.contains("after the padding") == true)
    #expect(decode("{\"code\":1000,\"data\":\"=\(padded)\"}").failure?.contains("Misplaced '='") == true)
    #expect(decode("{\"code\":1000,\"data\":\"A=\"}").failure?.contains("Misplaced '='") == true)
    #expect(decode("{\"code\":1000,\"data\":\"H4s\"}").failure?.contains("inside a group of four") == true)
  }

  // MARK: - Gzip

  private func unpack(_ packed: [UInt8], limits: WireLimits = WireLimits()) -> Outcome {
    let bytes = envelope(packed: packed)
    let whole = Outcome(bytes, limits: limits)
    #expect(Outcome(bytes, chunks: [1], limits: limits) == whole)
    return whole
  }

  @Test func `several members are one payload`() {
    let bytes = Array(Self.text.utf8)
    let members =
      GzipMaker.pack(Array(bytes[..<20])) + GzipMaker.pack([]) + GzipMaker.pack(Array(bytes[20...]))
    #expect(unpack(members).summary?.products == 1)
  }

  @Test func `what follows the last member must be a member`() {
    let packed = GzipMaker.pack(Array(Self.text.utf8))
    #expect(
      unpack(packed + [0]).failure?.contains("no gzip member follows at packed byte \(packed.count)") == true)
    #expect(
      unpack(packed + [0x1F, 0]).failure?.contains("no gzip member follows at packed byte \(packed.count)")
        == true)
    #expect(unpack(packed + [0x1F]).failure?.contains("ends early") == true)
    #expect(unpack(packed + packed.prefix(15)).failure?.contains("ends early") == true)
  }

  @Test func `gzip that ends early and what is no gzip are told apart`() {
    let packed = GzipMaker.pack(Array(Self.text.utf8))
    for count in 1..<packed.count {
      #expect(unpack(Array(packed[..<count])).failure?.contains("ends early") == true)
    }
    #expect(unpack([]).failure?.contains("data is empty") == true)
    #expect(unpack([0x1F, 0x8C, 8]).failure?.contains("it begins with 1F 8C") == true)
  }

  @Test func `every changed byte of the trailer is found`() {
    let packed = GzipMaker.pack(Array(Self.text.utf8))
    for index in packed.count - 8..<packed.count {
      var damaged = packed
      damaged[index] ^= 0x10
      #expect(unpack(damaged).failure?.contains("damaged") == true)
    }
  }

  @Test func `reserved flags and a wrong header checksum are refused`() {
    let bytes = Array(Self.text.utf8)
    for flag: UInt8 in [0x20, 0x40, 0x80] {
      #expect(unpack(GzipMaker.pack(bytes, flags: flag)).failure?.contains("damaged") == true)
    }
    let header: [UInt8] = [0x1F, 0x8B, 8, 2, 0, 0, 0, 0, 0, 3]
    let checksum = GzipMaker.littleEndian(GzipMaker.crc32(header), count: 2)
    #expect(unpack(GzipMaker.pack(bytes, flags: 2, extra: checksum)).failure == nil)
    #expect(unpack(GzipMaker.pack(bytes, flags: 2, extra: [checksum[0] ^ 1, checksum[1]])).failure != nil)
    // Extra field, name and comment.
    #expect(unpack(GzipMaker.pack(bytes, flags: 0x1C, extra: [2, 0, 7, 7, 65, 0, 66, 0])).failure == nil)
  }

  // MARK: - Limits

  /// A payload of exactly `byteCount` bytes, most of them blanks, packed well.
  private func blanks(_ byteCount: Int) -> (packed: [UInt8], text: [UInt8]) {
    let padded = Array((Self.text + String(repeating: " ", count: byteCount - Self.text.utf8.count)).utf8)
    return (GzipMaker.pack(padded), padded)
  }

  @Test func `a payload at the limit is taken and one byte more is refused`() {
    let limits = WireLimits(unpackedByteCount: 5_000, unpackedRatio: 0)
    #expect(unpack(blanks(5_000).packed, limits: limits).failure == nil)
    #expect(unpack(blanks(5_001).packed, limits: limits).failure?.contains("the limit is 5000") == true)
  }

  @Test func `a payload beyond the limit is taken as long as it is not packed too well`() {
    let (packed, text) = blanks(5_001)
    #expect(packed.count < text.count + 24)
    #expect(unpack(packed, limits: WireLimits(unpackedByteCount: 100, unpackedRatio: 1)).failure == nil)
  }

  @Test func `the absolute limit holds whatever the ratio`() {
    let limits = WireLimits(absoluteByteCount: 5_000)
    #expect(unpack(blanks(5_000).packed, limits: limits).failure == nil)
    #expect(unpack(blanks(5_001).packed, limits: limits).failure?.contains("the limit is 5000") == true)
    let bare = blanks(5_001).text
    #expect(
      Outcome(bare, limits: limits, allowsBarePayload: true).failure?.contains("the limit is 5000") == true)
    #expect(Outcome(Array(bare.dropLast()), limits: limits, allowsBarePayload: true).failure == nil)
  }

  @Test func `a bomb is refused long before its end`() throws {
    let wire = try #require(WireCase.all.first { $0.file.hasPrefix("bomb") })
    let bytes = try wire.bytes()
    var decoder = try ResponseDecoder(limits: WireLimits(unpackedByteCount: 1 << 20))
    var sink = Collector()
    #expect(throws: WireError.self) { try decoder.consume(bytes.span, into: &sink) }
    let progress = decoder.progress
    #expect(progress.bytesUnpacked < 3 << 20)
    #expect(progress.bytesIn <= 64 << 10)
  }

  @Test func `nesting up to the limit is skipped and one level more is refused`() {
    // The payload and the unknown member are one level each.
    func text(_ levels: Int) -> String {
      "{\"x\":" + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1) + ","
        + Self.text.dropFirst()
    }
    #expect(Outcome(envelope(text(512))).failure == nil)
    #expect(Outcome(envelope(text(513))).failure?.contains("more than 512 levels") == true)
  }

  @Test func `a text at the token limit is taken and one byte more is refused`() {
    let limits = WireLimits(tokenByteCount: 100)
    func text(_ count: Int) -> String {
      payload(product: "\"id\":\"" + String(repeating: "x", count: count - 2) + "\"")
    }
    #expect(Outcome(envelope(text(100)), limits: limits).failure == nil)
    #expect(Outcome(envelope(text(101)), limits: limits).failure?.contains("longer than 100 bytes") == true)
  }

  // MARK: - Sink and progress

  @Test func `what the sink throws passes through`() throws {
    var decoder = try ResponseDecoder()
    var sink = Collector(capacity: 0)
    let bytes = envelope(Self.text)
    do {
      try decoder.consume(bytes.span, into: &sink)
      Issue.record("nothing was thrown")
    } catch WireError.sinkFailed(let error, let row) {
      #expect(error is SinkFull)
      #expect(row == RowPosition(list: .products, index: 0, id: "a"))
    }
    // And stays.
    #expect(throws: WireError.self) { _ = try decoder.finish() }
  }

  @Test func `progress counts bytes and rows`() throws {
    var decoder = try ResponseDecoder()
    var sink = Collector()
    let bytes = envelope(Self.text)
    try decoder.consume(bytes.span.extracting(0..<10), into: &sink)
    let before = decoder.progress
    #expect(before.bytesIn == 10)
    #expect(before.rows == 0)
    try decoder.consume(bytes.span.extracting(10..<bytes.count), into: &sink)
    let after = decoder.progress
    #expect(after.bytesIn == bytes.count)
    #expect(after.bytesUnpacked == Self.text.utf8.count)
    #expect(after.rows == 1)
    let summary = try decoder.finish()
    #expect(summary.bytesIn == bytes.count)
    #expect(summary.bytesUnpacked == Self.text.utf8.count)
  }

  // MARK: - Random

  @Test func `damaged answers never trap and do not depend on the chunks`() {
    var random = SeededGenerator(for: "damaged answers")
    let good = [envelope(Self.text), Array(Self.text.utf8)]
    for _ in 0..<3_000 {
      var bytes = good.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = bytes.indices.randomElement(using: &random)!
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(UInt8.random(in: 32..<127, using: &random), at: index)
        }
      }
      let whole = Outcome(bytes, allowsBarePayload: true)
      let cut = Outcome(bytes, chunks: [Int.random(in: 1...9, using: &random)], allowsBarePayload: true)
      guard cut == whole else {
        Issue.record("\(bytes): \(whole) \(cut)")
        return
      }
    }
  }

  @Test func `damaged gzip never traps`() {
    var random = SeededGenerator(for: "damaged gzip")
    let encoder = PayloadEncoder(form: .gzip)
    var rows = RowGenerator(random: random)
    for _ in 0..<20 { encoder.product(rows.product()) }
    encoder.finish(updateTime: "t")
    let good = encoder.takeOutput()
    let whole = Outcome(envelope(packed: good))
    #expect(whole.failure == nil)
    for _ in 0..<2_000 {
      var packed = good
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        packed[packed.indices.randomElement(using: &random)!] = UInt8.random(in: 0...255, using: &random)
      }
      // A header, or the bits that fill up the last byte, may change without harm; the content may not.
      let outcome = Outcome(envelope(packed: packed), chunks: [100])
      if outcome.failure == nil { #expect(outcome.lines == whole.lines) }
    }
  }
}
