import Bytes

/// The index entries of a transaction in one key space, in parts that are sorted by their hashes.
///
/// Entries are collected in memory. A new generation, which may have any number of them, writes them to a temporary
/// file when there are many, distributed over parts by the first bits of their hashes. All entries with one hash are in
/// the same part. So the parts can be sorted and searched for equal keys one at a time, and in memory there is only one
/// part.
struct NewEntries {
  /// The hash and the offset of an entry in the file.
  static let entryByteCount = 12
  private static let partBits: UInt64 = 8
  private static let partCount = 1 << partBits

  /// The entries in memory: all of them, or those that are not in the file yet.
  private(set) var inMemory: [IndexEntry]
  /// The temporary files for what does not fit memory; `nil` if all entries are kept in memory.
  private let space: SpillSpace?
  /// The number of entries that are kept in memory.
  private let limit: Int
  private var file: SpillFile?
  /// The offset at which each part begins in each chunk of the file, and then the end of the chunk.
  private var chunks: [[Int]] = []
  private var spilledCount = 0

  /// - Parameters:
  ///   - entries: The first entries.
  ///   - space: The temporary files for what does not fit memory; `nil` to keep all entries in memory.
  init(_ entries: [IndexEntry] = [], _ space: SpillSpace? = nil) {
    inMemory = entries
    self.space = space
    limit = space.map { $0.byteLimit / MemoryLayout<IndexEntry>.stride } ?? .max
  }

  var count: Int { inMemory.count + spilledCount }
  var isEmpty: Bool { count == 0 }

  mutating func reserve(_ count: Int) { inMemory.reserveCapacity(min(count, limit)) }

  @inline(__always)
  mutating func append(_ entry: IndexEntry) { inMemory.append(entry) }

  /// Writes the entries in memory to the file if there are too many.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  @inline(__always)
  mutating func spillIfLarge() throws(StoreError) {
    if inMemory.count >= limit { try spill() }
  }

  private mutating func spill() throws(StoreError) {
    guard let space else { return }
    if file == nil { file = try space.makeFile() }
    guard let file else { return }
    var entries: [IndexEntry] = []
    swap(&entries, &inMemory)
    let start = file.byteCount
    // First the number of entries in each part, then where the next one of them goes.
    var next = [Int](repeating: 0, count: Self.partCount + 1)
    for entry in entries { next[Self.part(entry) + 1] += 1 }
    for part in 1...Self.partCount { next[part] += next[part - 1] }
    chunks.append(next.map { start + Self.entryByteCount * $0 })
    var bytes = [UInt8](repeating: 0, count: Self.entryByteCount * entries.count)
    bytes.change(0, bytes.count) { bytes in
      for entry in entries {
        let part = Self.part(entry)
        let offset = Self.entryByteCount &* next[part]
        next[part] += 1
        bytes.put(entry.hash, at: offset)
        bytes.put(entry.offset, at: offset + 8)
      }
    }
    try file.append(bytes.span)
    spilledCount += entries.count
    entries.removeAll(keepingCapacity: true)
    inMemory = entries
  }

  @inline(__always)
  private static func part(_ entry: IndexEntry) -> Int { Int(truncatingIfNeeded: entry.hash >> (64 - partBits)) }

  /// Calls `body` with the entries of each part, which it may change. Entries of a later part have greater hashes.
  ///
  /// - Throws: `StoreError.io`, including for a full device; any error of `body`.
  mutating func update(_ body: (inout [IndexEntry]) throws(StoreError) -> Void) throws(StoreError) {
    guard let space, file != nil else { return try body(&inMemory) }
    if !inMemory.isEmpty { try spill() }
    inMemory = []
    let updated = try space.makeFile()
    var starts = [0]
    var count = 0
    for part in 0..<Self.partCount {
      var entries = try entries(of: part)
      try body(&entries)
      var bytes: [UInt8] = []
      bytes.reserveCapacity(Self.entryByteCount * entries.count)
      for entry in entries {
        bytes.put(entry.hash)
        bytes.put(entry.offset)
      }
      try updated.append(bytes.span)
      starts.append(updated.byteCount)
      count += entries.count
    }
    file = updated
    chunks = [starts]
    spilledCount = count
  }

  /// Calls `body` with the entries of each part, as the last ``update(_:)`` left them.
  ///
  /// - Throws: `StoreError.io`; any error of `body`.
  func forEachPart(_ body: ([IndexEntry]) throws(StoreError) -> Void) throws(StoreError) {
    if file == nil { return try body(inMemory) }
    for part in 0..<Self.partCount { try body(entries(of: part)) }
  }

  /// The entries of a part, in the order in which they were appended or as the last update left them.
  private func entries(of part: Int) throws(StoreError) -> [IndexEntry] {
    guard let file else { return [] }
    var entries: [IndexEntry] = []
    entries.reserveCapacity(spilledCount / Self.partCount * 5 / 4)
    for chunk in chunks {
      var bytes: [UInt8] = []
      while chunk[part] + bytes.count < chunk[part + 1] {
        bytes += try file.read(at: chunk[part] + bytes.count, upTo: chunk[part + 1] - chunk[part] - bytes.count)
      }
      let span = bytes.rawSpan
      for offset in stride(from: 0, to: span.byteCount, by: Self.entryByteCount) {
        entries.append(IndexEntry(hash: span.u64(at: offset), offset: span.u32(at: offset + 8)))
      }
    }
    return entries
  }
}
