import Bytes
import Platform
import RecordFormat
import Storage

/// A writer of one segment: objects as they are appended, then blocks, manifest and footer.
///
/// A small segment is kept in memory and written at once. A large segment is written in parts as it grows, but without
/// its header, so that it does not count before the rest is durable.
///
/// Invariants: `buffer` contains the bytes from `bufferStart` to `position`; all earlier bytes were written; the first
/// 64 bytes of the segment are reserved for its header and are not written before ``finish``.
struct SegmentBuilder {
  /// The default number of buffered bytes after which a segment is written in parts.
  static let flushLimit = 8 << 20
  /// The number of buffered bytes after which a further part is written in the background. There are up to four buffers
  /// then: one that is filled, two that wait, and one that is being written.
  static let partLimit = 1 << 20

  /// The offset of the segment in the file.
  let start: Int
  private let file: any StorageFile
  /// The number of buffered bytes after which the next part is written.
  private var flushLimit: Int
  private var buffer: SegmentBuffer
  private var bufferStart: Int
  private var bodyChecksum: UInt32 = 0
  /// The background writer for buffers that are full before the segment is finished; `nil` if writing in the background
  /// is not allowed.
  private let writeBehind: WriteBehind?
  private let process = getpid()
  /// A closure that throws unless the file may be written; `nil` for a new file. It is called before each part.
  private let checkFile: FileCheck?
  typealias FileCheck = @Sendable () throws(StoreError) -> Void
  /// Whether a part of the segment was already written.
  private(set) var isLarge = false

  /// The seed of the hashes in this segment's blocks.
  let seed: HashSeed
  /// What seals the segment; `nil` in a clear log.
  private(set) var sealing: SegmentSealing?
  /// By how much an object is longer than its contents and header.
  let objectOverhead: Int

  /// Creates a builder.
  ///
  /// - Parameters:
  ///   - isNewFile: Whether nothing else uses the file yet, so that a second thread may write it.
  ///   - checkFile: A closure that is called before each part of a large segment is written, and throws if the file is
  ///     no longer the one that the segment continues.
  init(
    at start: Int, in file: any StorageFile, seed: HashSeed, flushLimit: Int = Self.flushLimit, isNewFile: Bool = false,
    sealing: SegmentSealing? = nil, checkFile: FileCheck? = nil
  ) {
    self.sealing = sealing
    objectOverhead = sealing?.objectOverhead ?? 0
    self.checkFile = checkFile
    writeBehind = isNewFile && file.canWriteBehind ? WriteBehind(file) : nil
    self.flushLimit = flushLimit
    self.start = start
    self.seed = seed
    self.file = file
    buffer = SegmentBuffer(zeros: SegmentHeader.byteCount)
    bufferStart = start
  }

  /// The offset of the next byte.
  var position: Int { bufferStart + buffer.count }

  /// Appends an object with `count` bytes of contents after its header and returns its offset. `fill` must set all of
  /// the contents.
  ///
  /// - Throws: `StoreError.tooLarge`, `.full`; the error of a failed write.
  @inline(__always)
  mutating func append(
    _ kind: ObjectKind, _ what: @autoclosure () -> String, _ count: Int, _ fill: (inout MutableRawSpan) -> Void
  ) throws(StoreError) -> UnitOffset {
    try checkRoom(for: ObjectHeader.maximumLength)
    let length = ObjectHeader.byteCount &+ count &+ objectOverhead
    guard count <= ObjectHeader.maximumLength - ObjectHeader.byteCount - objectOverhead else {
      throw .tooLarge(what: what(), byteCount: length, limit: ObjectHeader.maximumLength)
    }
    let unit = UnitOffset(byteOffset: position)
    let padded = ObjectHeader.padded(length)
    buffer.append(padded) { bytes in
      // The last word is partly padding, which nothing else sets.
      bytes.put(0 as UInt64, at: padded &- 8)
      bytes.put(UInt32(truncatingIfNeeded: length) | UInt32(kind.rawValue) << 24, at: 4)
      if sealing == nil {
        var contents = bytes._mutatingExtracting(ObjectHeader.byteCount..<length)
        fill(&contents)
      } else {
        sealing?.fillAndSeal(&bytes, length, count, at: unit, fill)
      }
      let checksum = Checksum.of(bytes.bytes.slice(4, length &- 4), from: Checksum.salt(unit))
      bytes.put(checksum, at: 0)
    }
    if buffer.count > flushLimit { try flush() }
    return unit
  }

  /// Appends a copy of an object in which the integers from `offset` on are replaced by `words`.
  ///
  /// - Throws: `StoreError.full`; the error of a failed write.
  mutating func append(
    copyOf object: RawSpan, naming words: [UInt32], at offset: Int
  ) throws(StoreError) -> UnitOffset {
    try checkRoom(for: ObjectHeader.maximumLength)
    if sealing != nil {
      let count = object.byteCount - ObjectHeader.byteCount
      let contents = object.slice(ObjectHeader.byteCount, count)
      return try append(ObjectHeader.kind(object.u32(at: 4)), "a row", count) { bytes in
        bytes.put(contents, at: 0)
        for index in words.indices { bytes.put(words[index], at: offset - ObjectHeader.byteCount + 4 * index) }
      }
    }
    let unit = UnitOffset(byteOffset: position)
    let length = object.byteCount
    let padded = ObjectHeader.padded(length)
    buffer.append(padded) { bytes in
      // The kind and the length, as the source may be a sealed log.
      // The last word is partly padding, which nothing else sets.
      bytes.put(0 as UInt64, at: padded &- 8)
      bytes.put(object, at: 0)
      for index in words.indices { bytes.put(words[index], at: offset &+ 4 &* index) }
      let checksum = Checksum.of(bytes.bytes.slice(4, length &- 4), from: Checksum.salt(unit))
      bytes.put(checksum, at: 0)
    }
    if buffer.count > flushLimit { try flush() }
    return unit
  }

  /// Appends an object with the given contents.
  mutating func append(
    _ kind: ObjectKind, _ what: @autoclosure () -> String, _ contents: [UInt8]
  ) throws(StoreError) -> UnitOffset {
    try append(kind, what(), contents.count) { $0.put(contents.rawSpan, at: 0) }
  }

  /// Checks that `count` more bytes can be addressed.
  ///
  /// - Throws: `StoreError.full` if they would exceed the largest offset.
  func checkRoom(for count: Int) throws(StoreError) {
    if position + count > UnitOffset.fileLimit { throw .full(path: path, limit: UnitOffset.fileLimit) }
  }

  var path: String { file.path }

  /// Returns the plain form of an object of this segment.
  private func opened(_ stored: [UInt8], _ unit: UnitOffset) throws(StoreError) -> [UInt8] {
    guard let sealing else { return stored }
    guard let plain = sealing.keys.opened(stored, at: unit, inBase: sealing.isBase) else {
      throw .damaged(path: path, offset: unit.byteOffset, what: "an object that was just written")
    }
    return plain
  }

  /// Reads an object of this segment back from memory or from the file.
  func read(_ unit: UnitOffset) throws(StoreError) -> [UInt8] {
    try opened(readStored(unit), unit)
  }

  private func readStored(_ unit: UnitOffset) throws(StoreError) -> [UInt8] {
    let offset = unit.byteOffset
    if offset >= bufferStart {
      let first = offset - bufferStart
      let length = ObjectHeader.length(buffer.bytes(first, ObjectHeader.byteCount).u32(at: 4))
      return buffer.bytes(first, length).copied()
    }
    return try storage { () throws(StorageError) in
      try writeBehind?.finish()
      let head = try file.read(ObjectHeader.byteCount, at: offset)
      return try file.read(ObjectHeader.length(head.rawSpan.u32(at: 4)), at: offset)
    }
  }

  /// Calls `body` with an object of this segment that is still in memory. Returns whether it is.
  func withBuffered(
    _ unit: UnitOffset, _ body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    let first = unit.byteOffset - bufferStart
    guard first >= 0 else { return false }
    let length = ObjectHeader.length(buffer.bytes(first, ObjectHeader.byteCount).u32(at: 4))
    if sealing != nil {
      let plain = try opened(buffer.bytes(first, length).copied(), unit)
      try body(plain.rawSpan)
      return true
    }
    try body(buffer.bytes(first, length))
    return true
  }

  /// The number of bytes to read at once when the next object is near.
  private static let windowByteCount = 64 << 10
  /// The number of bytes to read for a single object. Most objects are shorter.
  private static let usualObjectByteCount = 512

  /// Reads an object back, in file order. `window` keeps the bytes that were read after the object.
  ///
  /// - Parameter next: The offset of the next object to read, or `unit` if it is the last. If it is near, one read
  ///   fetches both.
  func read(
    _ unit: UnitOffset, before next: UnitOffset, through window: inout FileWindow
  ) throws(StoreError) -> [UInt8] {
    let offset = unit.byteOffset
    if offset >= bufferStart { return try read(unit) }
    if let object = window.object(at: offset) { return try opened(object, unit) }
    let isNear = next.byteOffset > offset && next.byteOffset - offset < Self.windowByteCount / 4
    window = try storage { () throws(StorageError) in
      try writeBehind?.finish()
      let count = min(isNear ? Self.windowByteCount : Self.usualObjectByteCount, bufferStart - offset)
      return FileWindow(try file.read(count, at: offset), at: offset)
    }
    return if let object = window.object(at: offset) { try opened(object, unit) } else { try read(unit) }
  }

  /// Appends zeros up to a multiple of `alignment`.
  mutating func align(to alignment: Int) {
    buffer.append(zeros: (alignment - position % alignment) % alignment)
  }

  /// Appends bytes of a block.
  mutating func append(_ bytes: [UInt8]) throws(StoreError) {
    try checkRoom(for: bytes.count)
    var offset = 0
    while offset < bytes.count {
      let count = min(bytes.count - offset, Self.partLimit)
      buffer.append(count) { $0.put(bytes.rawSpan.slice(offset, count), at: 0) }
      offset += count
      if buffer.count > flushLimit { try flush() }
    }
  }

  private mutating func flush() throws(StoreError) {
    // A forked child has a copy of what its parent is about to write, but the file belongs to the parent.
    if getpid() != process { throw .forked(path: path) }
    try checkFile?()
    let skipped = isLarge ? 0 : SegmentHeader.byteCount
    let count = buffer.count - skipped
    bodyChecksum = Checksum.of(buffer.bytes(skipped, count), from: bodyChecksum)
    let written = buffer.count
    if let writeBehind {
      do { buffer = try writeBehind.write(buffer, from: skipped, at: bufferStart + skipped) } catch { throw .io(error) }
      flushLimit = min(flushLimit, Self.partLimit)
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

  /// The properties of a commit that the builder does not know.
  struct Identity {
    var storeID: StoreID
    var sequence: UInt64
    var generation: UInt64
    var previous: SegmentFooter?
    var time: Int64
  }

  /// Appends the manifest and footer, writes the remaining bytes and syncs. The commit is durable on return.
  mutating func finish(
    _ manifest: Manifest, objectEnd: Int, _ identity: Identity
  ) throws(StoreError) -> SegmentFooter {
    let manifest = encoded(manifest, identity)
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
      try storage { () throws(StorageError) in try writeBehind?.finish() }
      // Everything except the header and footer is written first, so that a valid footer implies a complete body.
      try checkFile?()
      try write(from: 0, buffer.count, at: bufferStart)
      try sync()
      try checkFile?()
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

  /// Returns the bytes of the manifest.
  private mutating func encoded(_ manifest: Manifest, _ identity: Identity) -> [UInt8] {
    guard let keys = sealing?.keys, let nonce = sealing?.nonces.next() else { return manifest.encoded() }
    let place = ManifestPlace(
      sequence: identity.sequence, segmentOffset: UInt64(start), previousChain: identity.previous?.chain ?? 0)
    return manifest.encoded { (clear, secret) in
      keys.sealed(manifest: secret, clear: clear + place.bytes, nonce: nonce)
    }
  }

  /// Seals a page of an ordered block, whose last bytes are free; does nothing in a clear log.
  mutating func seal(page: inout MutableRawSpan, at unit: UnitOffset) {
    if let nonce = sealing?.nonces.next() { sealing?.keys.seal(page: &page, at: unit, nonce: nonce) }
  }

  /// Appends the manifest and zeros, so that `padding` more bytes end on a page boundary.
  private mutating func append(_ manifest: [UInt8], padding: Int) throws(StoreError) {
    try checkRoom(for: manifest.count + SegmentHeader.alignment)
    buffer.append(manifest)
    let rest = (position + padding) % SegmentHeader.alignment
    buffer.append(zeros: (SegmentHeader.alignment - rest) % SegmentHeader.alignment)
  }
}
