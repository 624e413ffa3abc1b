import Gzip
import RandomTestSupport
import Testing

@Suite struct GzipTests {
  /// The bytes as one gzip member.
  private func pack(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    GzipDeflater(level: -1).consume(bytes.span, isLast: true) { piece in
      for index in piece.indices { packed.append(piece[index]) }
    }
    return packed
  }

  /// What a packed member unpacks to, with room for a few bytes at a time.
  private func unpacked(_ packed: [UInt8], room: Int = 100) throws -> [UInt8] {
    var inflater = try Inflater()
    var output = [UInt8](repeating: 0, count: room)
    var bytes: [UInt8] = []
    var offset = 0
    while true {
      let step = inflater.run(packed.span.extracting(offset..<packed.count), into: &output)
      offset += step.consumed
      bytes += output[..<step.produced]
      guard case .unfinished = step.status else { break }
      if step.consumed == 0, step.produced == 0 { break }
    }
    return bytes
  }

  @Test func `what is packed unpacks to what it was`() throws {
    var generator = SeededGenerator(for: "gzip")
    for _ in 0..<20 * depth {
      let count = Int.random(in: 0...200_000, using: &generator)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...7, using: &generator) }
      #expect(try unpacked(pack(bytes), room: 1 << 16) == bytes, "\(generator)")
    }
  }

  @Test func `pieces are packed into one member`() throws {
    let deflater = GzipDeflater(level: 9)
    var packed: [UInt8] = []
    for piece in ["one ", "", "two"] {
      deflater.consume(Array(piece.utf8).span, isLast: piece == "two") { bytes in
        for index in bytes.indices { packed.append(bytes[index]) }
      }
    }
    #expect(packed.prefix(2) == [0x1F, 0x8B])
    #expect(try unpacked(packed, room: 3) == Array("one two".utf8))
  }

  @Test func `damage is told`() throws {
    var packed = pack(Array("some text that is packed".utf8))
    packed[packed.count - 6] ^= 1
    var inflater = try Inflater()
    var output = [UInt8](repeating: 0, count: 100)
    let step = inflater.run(packed.span, into: &output)
    guard case .damaged(let reason) = step.status else {
      Issue.record("the checksum is wrong, and the status is \(step.status)")
      return
    }
    #expect(!reason.isEmpty)
  }
}
