import Bytes
import RecordFormat
import Storage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Writes one segment: objects as they come, blocks, manifest and footer at the end.
///
/// A small segment is kept in memory and leaves in one write. A large one is written as it grows, without its header, so
/// that nothing of it counts before the rest is durable.
///
/// Invariants: `buffer` holds the bytes from `bufferStart` to `position`; what lies before was written; the first 64 bytes of
/// the segment are kept for its header and are not written before ``finish``.
struct SegmentBuilder {
  /// What a segment usually grows to before it is written in pieces.
  static let flushLimit = 8 << 20

  /// Where the segment begins in the file.
  let start: Int
  private let file: any StorageFile
  private let flushLimit: Int
  private var buffer: SegmentBuffer
  private var bufferStart: Int
  private var bodyChecksum: UInt32 = 0
  /// Writes what leaves the buffer before the segment is finished, where a second thread may.
  private let behind: WriteBehind?
  private let process = getpid()
  /// Whether some of the body was written already.
  private(set) var isLarge = false

  /// Keys the hashes of this segment's blocks.
  let seed: HashSeed

  /// - Parameter isNewFile: nobody else knows the file yet, so that a second thread may write it.
  init(
    at start: Int, in file: any StorageFile, seed: HashSeed, flushLimit: Int = Self.flushLimit, isNewFile: Bool = false
  ) {
    behind = isNewFile && file.canWriteBehind ? WriteBehind(file) : nil
    self.flushLimit = flushLimit
    self.start = start
    self.seed = seed
    self.file = file
    buffer = SegmentBuffer(zeros: SegmentHeader.byteCount)
    bufferStart = start
  }

  /// Where the next byte goes.
  var position: Int { bufferStart + buffer.count }

  /// Appends an object with `count` bytes of contents behind its header, all of which `fill` has to set, and returns where
  /// it stands.
  ///
  /// - Throws: `StoreError.tooLarge`, `.full`, or what writing throws.
  @inline(__always)
  mutating func append(
    _ kind: ObjectKind, _ what: @autoclosure () -> String, _ count: Int, _ fill: (inout MutableRawSpan) -> Void
  ) throws(StoreError) -> UnitOffset {
    try checkRoom(for: ObjectHeader.maximumLength)
    let length = ObjectHeader.byteCount &+ count
    guard count <= ObjectHeader.maximumLength - ObjectHeader.byteCount else {
      throw .tooLarge(what: what(), byteCount: length, limit: ObjectHeader.maximumLength)
    }
    let unit = UnitOffset(byteOffset: position)
    let padded = ObjectHeader.padded(length)
    buffer.append(padded) { bytes in
      // The last word is in part the padding, which nothing else sets.
      bytes.put(0 as UInt64, at: padded &- 8)
      bytes.put(UInt32(truncatingIfNeeded: length) | UInt32(kind.rawValue) << 24, at: 4)
      var contents = bytes._mutatingExtracting(ObjectHeader.byteCount..<length)
      fill(&contents)
      let checksum = Checksum.of(bytes.bytes.slice(4, length &- 4), from: Checksum.salt(unit))
      bytes.put(checksum, at: 0)
    }
    if buffer.count > flushLimit { try flush() }
    return unit
  }

  /// Appends an object as it stands elsewhere, except for the numbers from byte `place` on, which become `words`.
  ///
  /// - Throws: `StoreError.full`, or what writing throws.
  mutating func append(
    copyOf object: RawSpan, naming words: [UInt32], at place: Int
  ) throws(StoreError) -> UnitOffset {
    try checkRoom(for: ObjectHeader.maximumLength)
    let unit = UnitOffset(byteOffset: position)
    let length = object.byteCount
    let padded = ObjectHeader.padded(length)
    buffer.append(padded) { bytes in
      // The last word is in part the padding, which nothing else sets.
      bytes.put(0 as UInt64, at: padded &- 8)
      bytes.put(object, at: 0)
      for index in words.indices { bytes.put(words[index], at: place &+ 4 &* index) }
      let checksum = Checksum.of(bytes.bytes.slice(4, length &- 4), from: Checksum.salt(unit))
      bytes.put(checksum, at: 0)
    }
    if buffer.count > flushLimit { try flush() }
    return unit
  }

  /// Appends an object with these contents.
  mutating func append(
    _ kind: ObjectKind, _ what: @autoclosure () -> String, _ contents: [UInt8]
  ) throws(StoreError) -> UnitOffset {
    try append(kind, what(), contents.count) { $0.put(contents.rawSpan, at: 0) }
  }

  /// - Throws: `StoreError.full` if `count` more bytes would lie where no offset reaches.
  func checkRoom(for count: Int) throws(StoreError) {
    if position + count > UnitOffset.fileLimit { throw .full(path: path, limit: UnitOffset.fileLimit) }
  }

  var path: String { file.path }

  /// Reads back an object of this segment, from memory or from the file.
  func read(_ unit: UnitOffset) throws(StoreError) -> [UInt8] {
    let offset = unit.byteOffset
    if offset >= bufferStart {
      let first = offset - bufferStart
      let length = ObjectHeader.length(buffer.bytes(first, ObjectHeader.byteCount).u32(at: 4))
      return buffer.bytes(first, length).copied()
    }
    return try storage { () throws(StorageError) in
      try behind?.finish()
      let head = try file.read(ObjectHeader.byteCount, at: offset)
      return try file.read(ObjectHeader.length(head.rawSpan.u32(at: 4)), at: offset)
    }
  }

  /// Bytes that one read brings where objects lie near each other.
  private static let windowByteCount = 64 << 10
  /// Bytes that are read for one object: most are no longer.
  private static let usualObjectByteCount = 512

  /// Reads back an object, in the order of the file: `window` keeps what one read brought after the object.
  ///
  /// - Parameter next: The offset of the object that will be read next, or `unit` if no other follows. If it is near, one
  ///   read brings both.
  func read(
    _ unit: UnitOffset, before next: UnitOffset, through window: inout FileWindow
  ) throws(StoreError) -> [UInt8] {
    let offset = unit.byteOffset
    if offset >= bufferStart { return try read(unit) }
    if let object = window.object(at: offset) { return object }
    let isNear = next.byteOffset > offset && next.byteOffset - offset < Self.windowByteCount / 4
    window = try storage { () throws(StorageError) in
      try behind?.finish()
      let count = min(isNear ? Self.windowByteCount : Self.usualObjectByteCount, bufferStart - offset)
      return FileWindow(try file.read(count, at: offset), at: offset)
    }
    return if let object = window.object(at: offset) { object } else { try read(unit) }
  }

  /// Appends zeros up to a multiple of `alignment`.
  mutating func align(to alignment: Int) {
    buffer.append(zeros: (alignment - position % alignment) % alignment)
  }

  /// Appends bytes of a block.
  mutating func append(_ bytes: [UInt8]) throws(StoreError) {
    try checkRoom(for: bytes.count)
    buffer.append(bytes)
    if buffer.count > flushLimit { try flush() }
  }

  private mutating func flush() throws(StoreError) {
    // A forked child holds a copy of what its parent is about to write; the file is the parent's.
    if getpid() != process { throw .forked(path: path) }
    let skipped = isLarge ? 0 : SegmentHeader.byteCount
    let count = buffer.count - skipped
    bodyChecksum = Checksum.of(buffer.bytes(skipped, count), from: bodyChecksum)
    let written = buffer.count
    if let behind {
      do { buffer = try behind.write(buffer, from: skipped, at: bufferStart + skipped) } catch { throw .io(error) }
    } else {
      try write(from: skipped, count, at: bufferStart + skipped)
      buffer.removeAll()
    }
    bufferStart += written
    isLarge = true
  }

  private func write(from first: Int, _ count: Int, at offset: Int) throws(StoreError) {
    try storage { () throws(StorageError) in
      try file.write(buffer.bytes(first, count), at: offset)
    }
  }

  private func sync() throws(StoreError) {
    try storage { () throws(StorageError) in try file.sync() }
  }

  /// What a commit is called, beside what the builder knows.
  struct Identity {
    var storeID: StoreID
    var sequence: UInt64
    var generation: UInt64
    var previous: SegmentFooter?
    var time: Int64
  }

  /// Appends manifest and footer, writes what was not written, and syncs. When this returns the commit is durable.
  mutating func finish(
    _ manifest: [UInt8], objectEnd: Int, _ identity: Identity
  ) throws(StoreError) -> SegmentFooter {
    let skipped = isLarge ? 0 : SegmentHeader.byteCount
    bodyChecksum = Checksum.of(buffer.bytes(skipped, buffer.count - skipped), from: bodyChecksum)
    let manifestOffset = position
    try append(manifest, padding: SegmentFooter.byteCount)
    let footerOffset = position
    let length = footerOffset + SegmentFooter.byteCount - start
    let first = buffer.count - (footerOffset - manifestOffset)
    let footer = SegmentFooter(
      storeID: identity.storeID, sequence: identity.sequence, generation: identity.generation,
      segmentOffset: UInt64(start), segmentLength: UInt64(length), manifestOffset: UInt64(manifestOffset),
      manifestLength: UInt32(manifest.count),
      manifestChecksum: Checksum.of(buffer.bytes(first, footerOffset - manifestOffset)),
      previousFooterOffset: identity.previous?.offset ?? 0, previousChain: identity.previous?.chain ?? 0,
      bodyWasSynced: isLarge, time: identity.time, bodyChecksum: bodyChecksum, objectEnd: UInt64(objectEnd))
    let header = SegmentHeader(
      storeID: identity.storeID, sequence: identity.sequence, offset: UInt64(start), length: UInt64(length),
      previousChain: footer.previousChain
    ).encoded()
    if isLarge {
      try storage { () throws(StorageError) in try behind?.finish() }
      // Everything but header and footer first: a valid footer then vouches for a body that is there.
      try write(from: 0, buffer.count, at: bufferStart)
      try sync()
      try storage { () throws(StorageError) in
        try file.write(header.rawSpan, at: start)
        try file.write(footer.encoded().rawSpan, at: footerOffset)
      }
    } else {
      buffer.replaceFirst(with: header)
      buffer.append(footer.encoded())
      try write(from: 0, buffer.count, at: start)
    }
    try sync()
    return footer
  }

  /// Appends the manifest and zeros, so that `padding` more bytes end on a page.
  private mutating func append(_ manifest: [UInt8], padding: Int) throws(StoreError) {
    try checkRoom(for: manifest.count + SegmentHeader.alignment)
    buffer.append(manifest)
    let rest = (position + padding) % SegmentHeader.alignment
    buffer.append(zeros: (SegmentHeader.alignment - rest) % SegmentHeader.alignment)
  }
}
