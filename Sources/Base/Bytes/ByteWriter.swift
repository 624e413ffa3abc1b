/// A builder of little-endian bytes: the counterpart of ``ByteReader``.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Appends an integer of at most 64 bits.
  @inlinable
  package mutating func put<Number: FixedWidthInteger>(_ number: Number) {
    put(UInt64(truncatingIfNeeded: number), byteCount: Number.bitWidth / 8)
  }

  /// Not generic, as what is generic is slow in other modules.
  @usableFromInline
  mutating func put(_ word: UInt64, byteCount: Int) {
    precondition(byteCount <= 8, "an integer has at most 64 bits")
    var rest = word
    for _ in 0..<byteCount {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  package mutating func put(_ more: [UInt8]) { bytes.append(contentsOf: more) }

  /// Appends an integer as the field at `offset` of a layout. The bytes so far must end at `offset`.
  package mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    precondition(bytes.count == offset, "the fields of a layout follow one another")
    put(number)
  }

  /// Appends zeros until there are `count` bytes.
  package mutating func fill(to count: Int) {
    precondition(bytes.count <= count, "a layout is longer than its declared size")
    bytes.appendZeros(count - bytes.count)
  }

  /// Appends zeros up to `offset`, and then the checksum of all bytes before it, continued from `salt`.
  package mutating func putChecksum(at offset: Int, salt: UInt32 = 0) {
    fill(to: offset)
    put(Checksum.of(bytes, from: salt))
  }

  /// Returns the bytes, whose number must be the size of the layout.
  package func bytes(ofLayout byteCount: Int) -> [UInt8] {
    precondition(bytes.count == byteCount, "a layout has its declared size")
    return bytes
  }
}
