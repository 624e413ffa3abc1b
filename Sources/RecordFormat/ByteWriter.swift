/// Builds little-endian bytes: the counterpart of ``ByteReader``.
package struct ByteWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func put<Number: FixedWidthInteger>(_ number: Number) {
    for byte in 0..<(Number.bitWidth / 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte)))
    }
  }

  package mutating func put(_ more: [UInt8]) { bytes.append(contentsOf: more) }

  /// Appends zeros until `count` bytes stand there.
  package mutating func fill(to count: Int) {
    precondition(bytes.count <= count, "a layout is longer than its declared size")
    bytes.append(contentsOf: repeatElement(0, count: count - bytes.count))
  }

  /// Appends the checksum of everything that stands there, starting from `salt`.
  package mutating func putChecksum(salt: UInt32 = 0) {
    put(Checksum.of(bytes, from: salt))
  }
}
