package import Bytes

/// The first page of a log, written once.
///
///     0 magic · 8 major · 10 minor · 12 header length · 16 compatible · 24 read-only compatible
///     32 incompatible · 40 store id · 56 hash seed · 72 created · 80 generation · 88 sealing key id
///     104 shared base: end, sequence, chain · 124 sealing algorithm · 4092 crc
package struct FileHeader: Equatable, Sendable {
  package static let byteCount = 4096
  package static let magic = "SHELFLOG"

  /// The offset of each field, which is the end of the previous field.
  private enum Offset {
    static let majorVersion = 8
    static let minorVersion = majorVersion + 2
    static let headerLength = minorVersion + 2
    static let compatible = headerLength + 4
    static let readOnlyCompatible = compatible + 8
    static let incompatible = readOnlyCompatible + 8
    static let storeID = incompatible + 8
    static let seed = storeID + 16
    static let created = seed + 16
    static let generation = created + 8
    static let sealingKey = generation + 8
    static let base = sealingKey + SealingParameters.keyIDByteCount
    static let algorithm = base + BaseReference.byteCount
    static let reserved = algorithm + 1
    static let checksum = reserved + 3967
    static let total = checksum + 4
  }

  package static let majorVersion: UInt16 = 1
  package static let minorVersion: UInt16 = 0
  /// The incompatible feature of a sealed log: its objects, its ordered pages and what its manifests name are sealed.
  package static let sealedFeature: UInt64 = 1 << 0
  /// The incompatible feature of a tail log: the bytes before its own segments are in a shared base.
  package static let sharedBaseFeature: UInt64 = 1 << 1
  /// The incompatible features that this program supports.
  package static let supportedIncompatible = sealedFeature | sharedBaseFeature
  /// The features, among those without which a program may read but not write, that this program supports: none.
  package static let supportedReadOnlyCompatible: UInt64 = 0

  package var readOnlyCompatible: UInt64 = 0
  package var storeID: StoreID
  package var seed: HashSeed
  /// The creation time, in microseconds since 1970 UTC.
  package var created: Int64
  package var generation: UInt64
  /// The shared base that contains the history before this file's own segments; `nil` in a file that contains its
  /// complete history.
  package var base: BaseReference?
  /// How the file is sealed; `nil` in a clear file. A sealed file has no shared base.
  package var sealing: SealingParameters?

  package init(storeID: StoreID, seed: HashSeed, created: Int64, generation: UInt64) {
    self.storeID = storeID
    self.seed = seed
    self.created = created
    self.generation = generation
  }

  /// Whether this program may append to a file with this header.
  package var isWritable: Bool { readOnlyCompatible & ~Self.supportedReadOnlyCompatible == 0 }

  package func encoded() -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(Self.magic.utf8))
    writer.put(Self.majorVersion, at: Offset.majorVersion)
    writer.put(Self.minorVersion, at: Offset.minorVersion)
    writer.put(UInt32(Self.byteCount), at: Offset.headerLength)
    writer.put(UInt64(0), at: Offset.compatible)
    writer.put(readOnlyCompatible, at: Offset.readOnlyCompatible)
    writer.put(
      (base == nil ? 0 : Self.sharedBaseFeature) | (sealing == nil ? 0 : Self.sealedFeature), at: Offset.incompatible)
    writer.put(storeID.words.0, at: Offset.storeID)
    writer.put(storeID.words.1)
    writer.put(seed.words.0, at: Offset.seed)
    writer.put(seed.words.1)
    writer.put(created, at: Offset.created)
    writer.put(generation, at: Offset.generation)
    if let sealing {
      writer.put(sealing.keyID)
      writer.fill(to: Offset.algorithm)
      writer.put(sealing.algorithm, at: Offset.algorithm)
    }
    if let base {
      writer.fill(to: Offset.base)
      base.encode(to: &writer)
    }
    writer.putChecksum(at: Offset.checksum)
    assert(Offset.total == Self.byteCount, "the fields fill the layout")
    return writer.bytes(ofLayout: Self.byteCount)
  }

  package init(_ span: RawSpan) throws(FormatFault) {
    // A later version keeps the offsets of magic, version and checksum, so an unknown version without a valid checksum
    // is damage.
    try span.check(Self.magic, byteCount: Self.byteCount)
    let major = span.u16(at: Offset.majorVersion)
    if major != Self.majorVersion { throw .majorVersion(major) }
    // Unknown features may change the meaning of everything after them, such as the length.
    let incompatible = span.u64(at: Offset.incompatible)
    guard incompatible & ~Self.supportedIncompatible == 0 else { throw .features(incompatible) }
    // The contents of reserved bytes in a later minor version may be ignored, unless feature bits state otherwise.
    guard span.u32(at: Offset.headerLength) == UInt32(Self.byteCount) else {
      throw .field("header length", UInt64(span.u32(at: Offset.headerLength)))
    }
    let isTail = incompatible & Self.sharedBaseFeature != 0
    let isSealed = incompatible & Self.sealedFeature != 0
    if isTail, isSealed { throw .field("features", incompatible) }
    if span.u16(at: Offset.minorVersion) <= Self.minorVersion {
      if !isSealed { try span.checkReserved(Offset.sealingKey..<Offset.base) }
      if !isTail { try span.checkReserved(Offset.base..<Offset.algorithm) }
      if !isSealed { try span.checkReserved(Offset.algorithm..<Offset.reserved) }
      try span.checkReserved(Offset.reserved..<Offset.checksum)
    }
    readOnlyCompatible = span.u64(at: Offset.readOnlyCompatible)
    storeID = StoreID(span, at: Offset.storeID)
    seed = HashSeed(span.u64(at: Offset.seed), span.u64(at: Offset.seed + 8))
    created = Int64(bitPattern: span.u64(at: Offset.created))
    generation = span.u64(at: Offset.generation)
    base = isTail ? try BaseReference(span.slice(Offset.base, BaseReference.byteCount)) : nil
    if isSealed {
      sealing = SealingParameters(
        keyID: span.slice(Offset.sealingKey, SealingParameters.keyIDByteCount).copied(),
        algorithm: span.u8(at: Offset.algorithm))
    }
  }
}
