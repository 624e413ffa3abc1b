import Gzip
import Testing
@testable import RowFiles
@testable import ServerAnswers

@Suite struct OptionalGzipTests {
  /// The bytes as one gzip member.
  private func pack(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    GzipDeflater(level: -1).consume(bytes.span, isLast: true) { piece in
      for index in piece.indices { packed.append(piece[index]) }
    }
    return packed
  }

  private func text(_ bytes: [UInt8], pieces size: Int, limits: WireLimits = WireLimits()) throws(RowFileError)
    -> [UInt8]
  {
    var unpacker = OptionalGzip(limits: limits)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      text += try unpacker.unpack(Array(bytes[start..<min(bytes.count, start + size)]))
    }
    return try text + unpacker.finish()
  }

  @Test(arguments: [1, 2, 3, 1000]) func `the first two bytes tell, whatever the pieces`(size: Int) throws {
    let plain = Array("id,name\n1,a\n".utf8)
    let packed = pack(plain)
    #expect(try text(packed, pieces: size) == plain)
    #expect(try text(packed + packed, pieces: size) == plain + plain)
    for bytes in [plain, [], [0x1F], [0x1F, 0x20], [0x8B, 0x1F]] as [[UInt8]] {
      #expect(try text(bytes, pieces: size) == bytes)
    }
  }

  @Test func `gzip that is cut, damaged or a bomb is refused`() {
    let packed = pack(Array(repeating: UInt8(ascii: "a"), count: 100_000))
    #expect(throws: RowFileError.self) { try text(Array(packed.dropLast()), pieces: 100) }
    #expect(throws: RowFileError.self) { try text(Array(packed.prefix(2)), pieces: 100) }
    let limits = WireLimits(unpackedByteCount: 1000, unpackedRatio: 1, absoluteByteCount: 1000)
    let error = #expect(throws: RowFileError.self) { try text(packed, pieces: 100, limits: limits) }
    #expect(error?.description.contains("--max-unpacked") == true)
  }

  @Test func `what is wrong is told of a file, whose bytes no server sent`() throws {
    let packed = pack(Array(repeating: UInt8(ascii: "a"), count: 100_000))
    var damaged = packed
    damaged[packed.count - 6] ^= 1
    for bytes in [Array(packed.dropLast()), Array(packed.prefix(2)), damaged, packed + [1, 2]] {
      let error = try #require(throws: RowFileError.self) { try text(bytes, pieces: 100) }
      guard case .notUnpacked = error else {
        Issue.record("\(error)")
        continue
      }
      #expect("\(error)".hasPrefix("The file is gzip") && !"\(error)".lowercased().contains("ask"), "\(error)")
    }
  }
}
