import Bytes

/// A sorted run of an external merge sort: keys in ascending order, each with its rows. It is in memory or a part of a
/// temporary file, and never in a store, so that its layout is free to change.
///
///     1 number of bytes that the key shares with the key before · 1 number of further bytes · these
///     number of rows · first row · what each further row adds, as LEB128
///
/// Invariant: `bytes` has what was read of the run, from `position` on not yet decoded.
struct KeyRun {
  /// The number of bytes of a run that are read at once.
  private static let partByteCount = 16 << 10
  /// The maximum size of a number.
  private static let numberByteCount = 5

  /// The file; `nil` if the whole run is in memory.
  private let file: SpillFile?
  private var offset: Int
  private let end: Int
  private var bytes: [UInt8]
  private var position = 0

  /// A run in memory.
  init(_ bytes: [UInt8]) {
    file = nil
    (offset, end) = (bytes.count, bytes.count)
    self.bytes = bytes
  }

  /// A run in a part of a file.
  init(_ file: SpillFile, _ range: Range<Int>) {
    self.file = file
    (offset, end) = (range.lowerBound, range.upperBound)
    bytes = []
  }

  /// Reads the next key, whose rows must be taken before the one after it.
  ///
  /// - Parameters:
  ///   - keys: The bytes in which the key before is at `start`, followed by room for the longest key.
  ///   - start: The offset at which the next key is stored.
  /// - Returns: The length of the key; `nil` at the end of the run.
  /// - Throws: `StoreError.io`.
  mutating func nextKey(in keys: inout [UInt8], at start: Int) throws(StoreError) -> Int? {
    try prepare(2 + OrderedKeys.maximumKeyLength + 2 * Self.numberByteCount)
    if position == bytes.count { return nil }
    let shared = Int(bytes[position])
    let more = Int(bytes[position + 1])
    keys.put(bytes.rawSpan.slice(position + 2, more), at: start + shared)
    position += 2 + more
    return shared + more
  }

  /// Appends the rows of the key that was read to `rows`, which may end with the first one of them.
  ///
  /// - Throws: `StoreError.io`.
  mutating func takeRows(_ rows: inout [UInt32]) throws(StoreError) {
    var rest = number()
    var row = number()
    if rows.last != row { rows.append(row) }
    while rest > 1 {
      if bytes.count - position < Self.numberByteCount { try prepare(Self.numberByteCount) }
      row += number()
      rows.append(row)
      rest -= 1
    }
  }

  /// Decodes a number. Traps if the run ends inside it: only this process can write the file.
  @inline(__always)
  private mutating func number() -> UInt32 {
    var value: UInt32 = 0
    var shift: UInt32 = 0
    while true {
      let byte = bytes[position]
      position += 1
      value |= UInt32(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  /// Reads on until `count` bytes are there, or the end of the run.
  @inline(__always)
  private mutating func prepare(_ count: Int) throws(StoreError) {
    if bytes.count - position < count, offset < end { try read(count) }
  }

  private mutating func read(_ count: Int) throws(StoreError) {
    guard let file else { return }
    bytes.removeFirst(position)
    position = 0
    while bytes.count < count, offset < end {
      let part = try file.read(at: offset, upTo: min(Self.partByteCount, end - offset))
      bytes += part
      offset += part.count
    }
  }
}

/// A writer of a ``KeyRun``.
struct KeyRunWriter {
  /// The bytes that were written and are not in a file.
  private(set) var bytes: [UInt8] = []
  private var lastKey = [UInt8](repeating: 0, count: OrderedKeys.maximumKeyLength)
  private var lastKeyByteCount = 0

  /// Appends a key with its rows, which ascend. The key follows all that were appended before.
  mutating func append(_ key: RawSpan, _ rows: Span<UInt32>) {
    let shared = key.commonPrefixByteCount(with: lastKey.rawSpan.slice(0, lastKeyByteCount))
    let more = key.slice(shared, key.byteCount - shared)
    bytes.append(UInt8(shared))
    bytes.append(UInt8(more.byteCount))
    bytes.append(more)
    lastKey.put(more, at: shared)
    lastKeyByteCount = key.byteCount
    append(UInt32(rows.count))
    var last: UInt32 = 0
    for index in rows.indices {
      append(rows[index] - last)
      last = rows[index]
    }
  }

  private mutating func append(_ number: UInt32) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// The sorted runs of one index, in a temporary file.
struct SpilledRuns {
  private let space: SpillSpace
  /// The number of bytes to collect in memory for a run.
  let byteLimit: Int
  private var file: SpillFile?
  private var ends: [Int] = []

  init(_ space: SpillSpace) {
    self.space = space
    byteLimit = space.byteLimit
  }

  var isEmpty: Bool { ends.isEmpty }

  /// Appends a run whose rows do not lie before those of the runs before it.
  ///
  /// - Throws: `StoreError.io`, including for a full device.
  mutating func append(_ run: KeyRunWriter) throws(StoreError) {
    if file == nil { file = try space.makeFile() }
    try file?.append(run.bytes.span)
    ends.append(file?.byteCount ?? 0)
  }

  /// The runs in the order in which they were appended.
  var runs: [KeyRun] {
    guard let file else { return [] }
    return ends.indices.map { KeyRun(file, ($0 == 0 ? 0 : ends[$0 - 1])..<ends[$0]) }
  }
}
