import RandomTestSupport
import Testing
import Zstd

@Suite struct ZstdTests {
  /// Texts that resemble each other, such as rows of products.
  private func rows(_ count: Int, _ generator: inout SeededGenerator) -> [[UInt8]] {
    (0..<count).map { index in
      let price = Int.random(in: 1...9_999, using: &generator)
      let kind = ["drill", "saw", "hammer", "screwdriver"][Int.random(in: 0..<4, using: &generator)]
      let unit = ["piece", "box of ten", "set"][Int.random(in: 0..<3, using: &generator)]
      return Array(#"{"id":"\#(100_000 + index)","name":"cordless \#(kind)","unit":"\#(unit)","price":\#(price)}"#.utf8)
    }
  }

  private func decompress(_ frame: [UInt8], dictionary: [UInt8] = [], limit: Int = 1 << 20) throws -> [UInt8] {
    try ZstdDecompressor(dictionary: dictionary).decompress(frame, limit: limit)
  }

  @Test func `what is compressed decompresses to what it was`() throws {
    var generator = SeededGenerator(for: "zstd")
    let decompressor = try ZstdDecompressor()
    for level in [1, 3, 19] {
      let compressor = try ZstdCompressor(level: level)
      for size in [0, 1, 2, 255, 256, 257, 65_791, 65_792, 200_000] {
        let bytes = (0..<size).map { _ in UInt8.random(in: 0...7, using: &generator) }
        let frame = try compressor.compress(bytes)
        #expect(try decompressor.decompress(frame, limit: size) == bytes, "\(generator), level \(level)")
        #expect(try compressor.compress(bytes) == frame, "the same bytes give the same frame")
      }
    }
  }

  @Test func `a dictionary makes small texts smaller, and both sides need it`() throws {
    var generator = SeededGenerator(for: "zstd dictionary")
    let samples = rows(2_000, &generator)
    let dictionary = try ZstdDictionary.train(on: samples, byteCount: 4_096)
    #expect(!dictionary.isEmpty && dictionary.count <= 4_096)
    #expect(try ZstdDictionary.train(on: samples, byteCount: 4_096) == dictionary, "training is deterministic")
    let plain = try ZstdCompressor(level: 19)
    let compressor = try ZstdCompressor(level: 19, dictionary: dictionary)
    let decompressor = try ZstdDecompressor(dictionary: dictionary)
    for row in rows(50, &generator) {
      let frame = try compressor.compress(row)
      #expect(try frame.count * 3 < plain.compress(row).count * 2)
      #expect(try decompressor.decompress(frame, limit: row.count) == row)
      #expect(throws: ZstdError.self) { try decompress(frame) }
    }
    // A frame without a dictionary needs none, and an empty text neither.
    #expect(try decompressor.decompress(plain.compress(samples[0]), limit: 200) == samples[0])
    #expect(try decompressor.decompress(compressor.compress([]), limit: 0) == [])
  }

  @Test func `a dictionary may be any text`() throws {
    let text = Array(repeatElement("a text that comes again and again; ", count: 10).joined().utf8)
    let frame = try ZstdCompressor(level: 5, dictionary: text).compress(text)
    #expect(try decompress(frame, dictionary: text) == text)
    // Another dictionary gives other bytes, which the checksum shows.
    #expect(throws: ZstdError.self) { try decompress(frame, dictionary: text.map { $0 ^ 1 }) }
  }

  @Test func `a damaged dictionary is refused`() throws {
    // The magic number of a trained dictionary, and no tables.
    let damaged: [UInt8] = [0x37, 0xA4, 0x30, 0xEC, 1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
    #expect(throws: ZstdError.invalidDictionary) { try ZstdCompressor(level: 3, dictionary: damaged) }
    #expect(throws: ZstdError.invalidDictionary) { try ZstdDecompressor(dictionary: damaged) }
  }

  @Test func `too few samples train no dictionary`() throws {
    var generator = SeededGenerator(for: "few samples")
    #expect(try ZstdDictionary.train(on: [], byteCount: 4_096) == [])
    #expect(try ZstdDictionary.train(on: [[], []], byteCount: 4_096) == [])
    #expect(try ZstdDictionary.train(on: rows(3, &generator), byteCount: 4_096) == [])
    #expect(try ZstdDictionary.train(on: rows(1_000, &generator), byteCount: 0) == [])
    #expect(try ZstdDictionary.train(on: rows(1_000, &generator), byteCount: 10) == [], "no room for tables")
  }

  @Test func `each byte of a frame is checked`() throws {
    var generator = SeededGenerator(for: "zstd damage")
    let samples = rows(1_000, &generator)
    let dictionary = try ZstdDictionary.train(on: samples, byteCount: 2_048)
    for dictionary in [[], dictionary] {
      let compressor = try ZstdCompressor(level: 19, dictionary: dictionary)
      let decompressor = try ZstdDecompressor(dictionary: dictionary)
      let text = Array(samples[0...3].joined())
      let frame = try compressor.compress(text)
      var refused = 0
      for index in frame.indices {
        for bit in 0..<8 {
          var damaged = frame
          damaged[index] ^= 1 << bit
          do {
            let result = try decompressor.decompress(damaged, limit: 1 << 20)
            #expect(result == text, "bit \(bit) of byte \(index)")
          } catch { refused += 1 }
        }
      }
      // A few bits have no meaning, such as one of the header (RFC 8878, 3.1.1.1.1.3).
      #expect(refused * 20 > frame.count * 8 * 19, "\(refused) of \(frame.count * 8)")
      // It can be used after errors.
      #expect(try decompressor.decompress(frame, limit: text.count) == text)
    }
  }

  @Test func `exactly one whole frame is taken`() throws {
    let compressor = try ZstdCompressor(level: 3)
    for text in [[], Array("a".utf8), Array(repeating: 7, count: 300_000)] {
      let frame = try compressor.compress(text)
      for count in 0..<frame.count {
        #expect(throws: ZstdError.endsEarly(byteCount: count)) { try decompress(Array(frame.prefix(count))) }
      }
      #expect(throws: ZstdError.trailingBytes(offset: frame.count)) { try decompress(frame + [0]) }
      #expect(throws: ZstdError.trailingBytes(offset: frame.count)) { try decompress(frame + frame) }
    }
    #expect(throws: ZstdError.notZstd) { try decompress([0x1F, 0x8B, 8, 0, 0, 0]) }
    #expect(throws: ZstdError.notZstd) { try decompress(Array("<html>".utf8)) }
    // A skippable frame of four bytes.
    let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]
    #expect(throws: ZstdError.notZstd) { try decompress(skippable) }
    #expect(throws: ZstdError.notZstd) { try decompress(skippable + compressor.compress([1])) }
  }

  @Test func `the limit holds before anything is allocated`() throws {
    let bomb = try ZstdCompressor(level: 1).compress([UInt8](repeating: 0, count: 64 << 20))
    #expect(bomb.count < 10_000)
    #expect(throws: ZstdError.tooLarge(byteCount: 64 << 20, limit: (64 << 20) - 1)) {
      try decompress(bomb, limit: (64 << 20) - 1)
    }
    #expect(try decompress(bomb, limit: 64 << 20).count == 64 << 20)
    #expect(throws: ZstdError.tooLarge(byteCount: 1, limit: 0)) {
      try decompress(ZstdCompressor(level: 1).compress([0]), limit: 0)
    }
    // A header that claims more than any memory has: 8 bytes of size, a window of 1 KiB, an empty last block.
    let claim: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0x00] + [UInt8](repeating: 0xF0, count: 8) + [1, 0, 0]
    #expect(throws: ZstdError.tooLarge(byteCount: 0xF0F0_F0F0_F0F0_F0F0, limit: .max)) {
      try decompress(claim, limit: .max)
    }
  }

  @Test func `a frame must say its size, and keep to it`() throws {
    // Without a size: a window of 128 MiB, 128 KiB of one byte.
    let unknown: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x88, 0x03, 0x00, 0x10, 0x61]
    #expect(throws: ZstdError.unknownSize) { try decompress(unknown) }
    // The same block in a frame that says 128 KiB, which is right, and one byte more and less, which is wrong.
    for (difference, isRight) in [(0, true), (1, false), (-1, false)] {
      let size = (128 << 10) + difference
      let frame: [UInt8] =
        [0x28, 0xB5, 0x2F, 0xFD, 0x80, 0x88] + (0..<4).map { UInt8(truncatingIfNeeded: size >> ($0 * 8)) }
        + [0x03, 0x00, 0x10, 0x61]
      let result = try? decompress(frame)
      #expect((result == [UInt8](repeating: 0x61, count: 128 << 10)) == isRight, "\(difference)")
      #expect((result == nil) == !isRight, "\(difference)")
    }
  }

  @Test func `what is decompressed as it arrives is the same`() throws {
    var generator = SeededGenerator(for: "zstd stream")
    let texts = [rows(5_000, &generator).flatMap(\.self), [], rows(1, &generator)[0]]
    let compressor = try ZstdCompressor(level: 3)
    let packed = try texts.flatMap { try compressor.compress($0) }
    for step in [1, 100, 1 << 20] {
      var inflater = try ZstdInflater()
      var unpacked: [UInt8] = []
      for start in stride(from: 0, to: packed.count, by: step) {
        let piece = Array(packed[start..<min(start + step, packed.count)])
        var hasMore = try inflater.unpack(piece, into: &unpacked)
        while hasMore { hasMore = try inflater.unpack([], into: &unpacked) }
      }
      let isAtEnd = inflater.isAtEndOfFrame
      let count = inflater.unpackedByteCount
      #expect(isAtEnd && count == unpacked.count)
      #expect(unpacked == texts.flatMap(\.self), "\(generator)")
    }
    var inflater = try ZstdInflater()
    var unpacked: [UInt8] = []
    var damaged = packed
    damaged[0] = 0
    let error = #expect(throws: ZstdError.self) { _ = try inflater.unpack(damaged, into: &unpacked) }
    #expect(error?.description.contains("damaged") == true)
  }
}
