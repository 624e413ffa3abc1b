import Bytes
import RecordFormat
import Testing
@testable import LogStore

/// A page that cannot be read shows zeros (``MappingGuard``). No structure of the format passes as zeros.
@Suite struct ZeroPageTests {
  private let zeros = [UInt8](repeating: 0, count: 4096)

  private func checksum(at unit: UInt32) -> UInt32 {
    Checksum.of(zeros.rawSpan.slice(4, 60), from: Checksum.salt(UnitOffset(rawValue: unit)))
  }

  @Test func `a bucket of zeros passes at no place where a bucket can stand`() {
    // The checksum of sixty zeros is an affine function of the 32 bits of the unit offset, and one to one: there is
    // exactly one unit at which it is zero. It is no multiple of eight, as that of each bucket is.
    let constant = checksum(at: 0)
    let columns = (0..<32).map { checksum(at: 1 << $0) ^ constant }
    for unit: UInt32 in [3, 0xFFFF_FFFF, 0x1234_5678] {
      let sum = (0..<32).reduce(constant) { unit & 1 << $1 == 0 ? $0 : $0 ^ columns[$1] }
      #expect(checksum(at: unit) == sum)
    }
    // Elimination: each column as the sum of basis vectors, and which columns make up each of these.
    var basis: [(vector: UInt32, units: UInt32)?] = Array(repeating: nil, count: 32)
    func reduced(_ vector: UInt32, _ units: UInt32) -> (vector: UInt32, units: UInt32) {
      var (vector, units) = (vector, units)
      while vector != 0, let element = basis[31 - vector.leadingZeroBitCount] {
        vector ^= element.vector
        units ^= element.units
      }
      return (vector, units)
    }
    for (bit, column) in columns.enumerated() {
      let rest = reduced(column, 1 << UInt32(bit))
      #expect(rest.vector != 0)
      if rest.vector != 0 { basis[31 - rest.vector.leadingZeroBitCount] = rest }
    }
    let unit = reduced(constant, 0).units
    #expect(checksum(at: unit) == 0)
    #expect(unit == 0x94EE_A159)
    #expect(unit % UInt32(Bucket.byteCount / UnitOffset.byteCount) != 0)
  }

  @Test func `an object, slot, header or footer of zeros is none`() {
    #expect(ObjectHeader.length(zeros.rawSpan.u32(at: 4)) < ObjectHeader.byteCount)
    #expect(throws: FormatFault.self) { _ = try AcknowledgementSlot(zeros.rawSpan) }
    #expect(throws: FormatFault.self) { _ = try FileHeader(zeros.rawSpan) }
    #expect(throws: FormatFault.self) { _ = try SegmentHeader(zeros.rawSpan.slice(0, SegmentHeader.byteCount)) }
    #expect(throws: FormatFault.self) { _ = try SegmentFooter(zeros.rawSpan.slice(0, SegmentFooter.byteCount)) }
  }
}
