import Bytes
import RecordFormat
import StoreTestSupport
import Testing

/// The structures with a fixed size: what is written is read, and whatever was changed is refused.
@Suite struct StructureTests {
  private static let id = StoreID(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210)
  private static let unit = UnitOffset(rawValue: 77)

  static let header = FileHeader(storeID: id, seed: HashSeed(3, 4), created: -5, generation: 6)
  static let slot = AcknowledgementSlot(
    storeID: id, sequence: 1, generation: 2, footerOffset: 3, end: 4, chain: 5, isSuperseded: true)
  static let segment = SegmentHeader(storeID: id, sequence: 1, offset: 12_288, length: 4096, previousChain: 9)
  static let footer = SegmentFooter(
    storeID: id, sequence: 1, generation: 2, segmentOffset: 12_288, segmentLength: 8192,
    manifestOffset: 16_000,
    manifestLength: 100, manifestChecksum: 7, previousFooterOffset: 8, previousChain: 9, bodyWasSynced: true,
    time: -10, bodyChecksum: 11, objectEnd: 12_360)
  static let block = BlockHeader(
    kind: .dead, keySpace: 3, longestDisplacement: 4, bucketCount: 5, entryCount: 6)

  /// A structure's bytes, how it is read, and where its reserved bytes and checksum stand.
  struct Structure: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let reserved: Range<Int>
    var salt: UInt32 = 0
    let read: @Sendable ([UInt8]) throws -> Bool

    var testDescription: String { name }

    /// The bytes with `change` made to them and a checksum that fits again.
    func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
      var changed = bytes
      change(&changed)
      let place = bytes.count - 4
      let checksum = Checksum.of(Array(changed[..<place]), from: salt)
      for byte in 0..<4 { changed[place + byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte)) }
      return changed
    }
  }

  static let all = [
    Structure(name: "file header", bytes: header.encoded(), reserved: 104..<4092) {
      try FileHeader($0.rawSpan) == header
    },
    Structure(name: "slot", bytes: slot.encoded(), reserved: 64..<4092) {
      try AcknowledgementSlot($0.rawSpan) == slot
    },
    Structure(name: "segment header", bytes: segment.encoded(), reserved: 52..<60) {
      try SegmentHeader($0.rawSpan) == segment
    },
    Structure(name: "footer", bytes: footer.encoded(), reserved: 108..<124) {
      try SegmentFooter($0.rawSpan) == footer
    },
    Structure(
      name: "block header", bytes: block.encoded(at: unit), reserved: 20..<60, salt: Checksum.salt(unit)
    ) {
      try BlockHeader($0.rawSpan, at: unit) == block
    },
  ]

  @Test(arguments: all)
  func `what is written is read`(_ structure: Structure) throws {
    #expect(try structure.read(structure.bytes))
    #expect(try structure.read(structure.bytes + [1, 2, 3]))
  }

  @Test(arguments: all)
  func `every flipped bit is refused`(_ structure: Structure) {
    var bytes = structure.bytes
    // Each bit of what has a meaning, and one bit of each reserved byte.
    for offset in bytes.indices {
      for bit in structure.reserved.contains(offset) ? [offset % 8] : Array(0..<8) {
        bytes[offset] ^= 1 << UInt8(bit)
        #expect(throws: FormatFault.self) { try structure.read(bytes) }
        bytes[offset] ^= 1 << UInt8(bit)
      }
    }
  }

  @Test(arguments: all)
  func `every shorter input is refused`(_ structure: Structure) {
    for count in stride(from: 0, to: structure.bytes.count, by: structure.bytes.count > 1000 ? 37 : 1) {
      #expect(throws: FormatFault.self) { try structure.read(Array(structure.bytes.prefix(count))) }
    }
  }

  @Test(arguments: all)
  func `reserved bytes have to be zero`(_ structure: Structure) {
    for offset in [structure.reserved.lowerBound, structure.reserved.upperBound - 1] {
      #expect(throws: FormatFault.reserved) { try structure.read(structure.changed { $0[offset] = 1 }) }
    }
  }

  @Test(arguments: [(1, 60), (3, 84)])
  func `flags without a meaning have to be zero`(_ index: Int, _ offset: Int) {
    #expect(throws: FormatFault.reserved) {
      try Self.all[index].read(Self.all[index].changed { $0[offset] |= 2 })
    }
    #expect(throws: FormatFault.reserved) {
      try Self.all[index].read(Self.all[index].changed { $0[offset + 3] |= 0x80 })
    }
  }

  @Test func `an unknown major version is refused, and an unknown minor one read`() throws {
    let header = Self.all[0]
    #expect(throws: FormatFault.majorVersion(2)) { try header.read(header.changed { $0[8] = 2 }) }
    #expect(throws: FormatFault.majorVersion(0)) { try header.read(header.changed { $0[8] = 0 }) }
    #expect(try header.read(header.changed { $0[10] = 1 }))
    // A later minor version may use what is reserved now.
    #expect(
      try header.read(
        header.changed {
          $0[10] = 1
          $0[200] = 7
        }))
  }

  @Test func `the header of a tail log says what it shares, and nothing that no writer stores`() throws {
    let footer = SegmentFooter(
      storeID: Self.id, sequence: 9, generation: 6, segmentOffset: 12_288, segmentLength: 8192, manifestOffset: 12_352,
      manifestLength: 0, manifestChecksum: 0, previousFooterOffset: 0, previousChain: 0, bodyWasSynced: true, time: 1,
      bodyChecksum: 0, objectEnd: 12_352)
    var header = Self.header
    header.base = BaseReference(footer)
    let bytes = header.encoded()
    let span = bytes.rawSpan
    #expect(span.u64(at: 32) == 2 && span.u64(at: 104) == 20_480 && span.u64(at: 112) == 9)
    #expect(span.u32(at: 120) == footer.chain)
    #expect(try FileHeader(span) == header)
    #expect(try FileHeader(span).base?.names(footer) == true)
    for (offset, value) in [(104, 12_288), (104, 20_481), (104, 1 << 60), (112, 0), (112, 1 << 62), (124, 1)]
      as [(Int, UInt64)]
    {
      var changed = bytes
      changed.store(UInt32(truncatingIfNeeded: value), at: offset)
      changed.store(UInt32(truncatingIfNeeded: value >> 32), at: offset + 4)
      changed.store(Checksum.of(changed.rawSpan.slice(0, 4092)), at: 4092)
      #expect(throws: FormatFault.self, "\(value) at \(offset)") { try FileHeader(changed.rawSpan) }
    }
    // Without the bit these bytes are reserved.
    var plain = bytes
    plain[32] = 0
    plain.store(Checksum.of(plain.rawSpan.slice(0, 4092)), at: 4092)
    #expect(throws: FormatFault.reserved) { try FileHeader(plain.rawSpan) }
  }

  @Test func `feature bits are refused, tolerated or ignored, as their word says`() throws {
    let header = Self.all[0]
    for bit in 0..<64 {
      let byte = bit / 8
      let mask = UInt8(1) << UInt8(bit % 8)
      if FileHeader.supportedIncompatible & UInt64(1) << UInt64(bit) != 0 { continue }
      #expect(try header.read(header.changed { $0[16 + byte] = mask }))
      let readable = try FileHeader(header.changed { $0[24 + byte] = mask }.rawSpan)
      #expect(!readable.isWritable)
      #expect(throws: FormatFault.features(1 << UInt64(bit))) {
        try header.read(header.changed { $0[32 + byte] = mask })
      }
    }
    #expect(Self.header.isWritable)
  }

  @Test func `another header length is refused`() {
    let header = Self.all[0]
    #expect(throws: FormatFault.self) { try header.read(header.changed { $0[13] = 0x20 }) }
  }

  @Test func `a block that stands elsewhere than it says is refused`() {
    #expect(throws: FormatFault.self) {
      try BlockHeader(Self.block.encoded(at: Self.unit).rawSpan, at: UnitOffset(rawValue: 78))
    }
    #expect(throws: FormatFault.field("block kind", 2)) {
      try Self.all[4].read(Self.all[4].changed { $0[8] = 2 })
    }
  }

  /// Field offset and an 8-byte value that no writer stores there.
  @Test(
    arguments: [
      (24, 0), (24, .max), (32, 0), (32, .max), (40, 0), (40, 8192), (40, 12_289), (40, UInt64.max & ~4095),
      (48, 0), (48, 100),
      (48, UInt64.max & ~4095), (48, 1 << 35), (56, 100), (56, .max), (56, 20_400), (100, 12_288),
      (100, 12_361),
      (100, 16_008), (100, .max),
    ] as [(Int, UInt64)])
  func `a footer whose parts do not stand in order is refused`(_ offset: Int, _ value: UInt64) {
    let lie = Self.all[3].changed { bytes in
      for byte in 0..<8 { bytes[offset + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte)) }
    }
    #expect {
      try SegmentFooter(lie.rawSpan)
    } throws: { error in
      guard case FormatFault.field = error else { return false }
      return true
    }
  }
}
