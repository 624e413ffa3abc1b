/// The first page of a log, written once.
///
///     0 magic · 8 major · 10 minor · 12 header length · 16 compatible · 24 read-only compatible
///     32 incompatible · 40 store id · 56 hash seed · 72 created · 80 generation · 88 sealing key id
///     104 shared base: end, sequence, chain · 4092 crc
package struct FileHeader: Equatable, Sendable {
  package static let byteCount = 4096
  package static let magic = "SHELFLOG"
  package static let majorVersion: UInt16 = 1
  package static let minorVersion: UInt16 = 0
  /// The incompatible feature "the file is a tail log: what lies before it is in a shared base". Bit 0 is reserved for
  /// sealed blocks.
  package static let sharedBaseFeature: UInt64 = 1 << 1
  /// Incompatible features that this program knows.
  package static let knownIncompatible = sharedBaseFeature
  /// Features without which a program may read but not write, that this one knows: none.
  package static let knownReadOnlyCompatible: UInt64 = 0

  package var readOnlyCompatible: UInt64 = 0
  package var storeID: StoreID
  package var seed: HashSeed
  /// Microseconds since 1970 UTC.
  package var created: Int64
  package var generation: UInt64
  /// Where the history before this file's own segments lies; `nil` in a file that holds all of it.
  package var base: BaseReference?

  package init(storeID: StoreID, seed: HashSeed, created: Int64, generation: UInt64) {
    self.storeID = storeID
    self.seed = seed
    self.created = created
    self.generation = generation
  }

  /// Whether this program may append to a file with this header.
  package var isWritable: Bool { readOnlyCompatible & ~Self.knownReadOnlyCompatible == 0 }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(Self.majorVersion)
    writer.put(Self.minorVersion)
    writer.put(UInt32(Self.byteCount))
    writer.put(UInt64(0))
    writer.put(readOnlyCompatible)
    writer.put(base == nil ? 0 : Self.sharedBaseFeature)
    writer.put(storeID.words.0)
    writer.put(storeID.words.1)
    writer.put(seed.words.0)
    writer.put(seed.words.1)
    writer.put(created)
    writer.put(generation)
    if let base {
      writer.fill(to: BaseReference.offset)
      base.encode(to: &writer)
    }
    writer.fill(to: Self.byteCount - 4)
    writer.putChecksum()
    return writer.bytes
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    guard span.byteCount >= Self.byteCount else {
      throw .short(expected: Self.byteCount, found: span.byteCount)
    }
    // A later version keeps magic, version and checksum where they are: without a fitting checksum a strange
    // version is damage.
    for (offset, byte) in Self.magic.utf8.enumerated() where span.u8(at: offset) != byte {
      throw .magic(expected: Self.magic)
    }
    let major = span.u16(at: 8)
    if major != Self.majorVersion, span.u32(at: Self.byteCount - 4) == Checksum.of(span.slice(0, 4092)) {
      throw .majorVersion(major)
    }
    try span.check(Self.magic, byteCount: Self.byteCount)
    // What a later minor version stores in the reserved bytes may be ignored, or its feature bits say otherwise.
    guard span.u32(at: 12) == UInt32(Self.byteCount) else {
      throw .field("header length", UInt64(span.u32(at: 12)))
    }
    let incompatible = span.u64(at: 32)
    guard incompatible & ~Self.knownIncompatible == 0 else { throw .features(incompatible) }
    let isTail = incompatible & Self.sharedBaseFeature != 0
    if span.u16(at: 10) <= Self.minorVersion {
      try span.checkReserved(BaseReference.offset + (isTail ? BaseReference.byteCount : 0)..<4092)
    }
    readOnlyCompatible = span.u64(at: 24)
    storeID = StoreID(span.u64(at: 40), span.u64(at: 48))
    seed = HashSeed(span.u64(at: 56), span.u64(at: 64))
    created = Int64(bitPattern: span.u64(at: 72))
    generation = span.u64(at: 80)
    base = isTail ? try BaseReference(span.slice(BaseReference.offset, BaseReference.byteCount)) : nil
  }
}
