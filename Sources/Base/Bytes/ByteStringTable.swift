/// A hash table of byte strings, each stored once with a value and numbered from 0 in insertion order.
///
/// The strings are stored contiguously in one buffer, so inserting one needs no separate allocation. The table uses
/// open addressing and is at most half full. It is public, like the other hot paths of this package, so that other
/// modules can specialize it.
@frozen
public struct ByteStringTable<Value: BitwiseCopyable & Sendable>: Sendable {
  @frozen @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var hash: UInt64
    @usableFromInline var start: UInt32
    @usableFromInline var count: UInt32
    @usableFromInline var value: Value

    @inlinable
    init(hash: UInt64, start: UInt32, count: UInt32, value: Value) {
      self.hash = hash
      self.start = start
      self.count = count
      self.value = value
    }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var bytes: [UInt8] = []
  /// The index of a string plus one; 0 for an empty slot.
  @usableFromInline var table = [UInt32](repeating: 0, count: 1024)
  @usableFromInline let seed: HashSeed

  /// Creates an empty table whose hash function has the given seed.
  @inlinable
  public init(seed: HashSeed) { self.seed = seed }

  /// The number of strings in the table.
  @inlinable @inline(__always)
  public var count: Int { entries.count }

  /// The total size of all strings in bytes.
  @inlinable @inline(__always)
  public var byteCount: Int { bytes.count }

  /// Accesses the value of the string with index `number`.
  @inlinable
  public subscript(number: Int) -> Value {
    @inline(__always) get { entries[number].value }
    @inline(__always) _modify { yield &entries[number].value }
  }

  /// Returns whether the string with index `number` is `text`.
  @inlinable @inline(__always)
  public func isText(_ number: Int, _ text: RawSpan) -> Bool {
    let entries = entries.span
    let (start, count) = (entries[number].start, entries[number].count)
    return bytes.rawSpan.slice(Int(start), Int(count)).hasSameBytes(as: text)
  }

  /// Returns the string with index `number`.
  @inlinable
  @_lifetime(borrow self)
  public func text(_ number: Int) -> RawSpan {
    bytes.rawSpan.slice(Int(entries[number].start), Int(entries[number].count))
  }

  /// Returns the index of `text`; `nil` if it is not in the table.
  ///
  /// - Complexity: One hash.
  @inlinable
  public func find(_ text: RawSpan) -> Int? { find(text, KeyHash.of(text, seed)) }

  @inlinable @inline(__always)
  func find(_ text: RawSpan, _ hash: UInt64) -> Int? {
    let (table, entries, bytes) = (table.span, entries.span, bytes.rawSpan)
    let mask = table.count &- 1
    var slot = Int(truncatingIfNeeded: hash) & mask
    while table[slot] != 0 {
      let number = Int(table[slot]) &- 1
      if entries[number].hash == hash,
        bytes.slice(Int(entries[number].start), Int(entries[number].count)).hasSameBytes(as: text)
      {
        return number
      }
      slot = (slot &+ 1) & mask
    }
    return nil
  }

  /// Returns the index of `text`, inserting it with `value` if it is not in the table.
  @inlinable
  public mutating func number(of text: RawSpan, new value: Value) -> Int {
    let hash = KeyHash.of(text, seed)
    return find(text, hash) ?? append(text, hash, value)
  }

  /// Inserts `text`, which is not in the table, and returns its index.
  @inlinable @discardableResult
  public mutating func insert(_ text: RawSpan, _ value: Value) -> Int {
    append(text, KeyHash.of(text, seed), value)
  }

  /// Removes all strings and keeps the capacity of the buffers.
  public mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    table = [UInt32](repeating: 0, count: table.count)
  }

  /// Appends `text` without entering it into the hash table, so that it is not found, and returns its index. Nothing
  /// may be inserted after that, until all are removed.
  @inlinable @discardableResult
  public mutating func append(unlisted text: RawSpan, _ value: Value) -> Int {
    entries.append(Entry(hash: 0, start: UInt32(bytes.count), count: UInt32(text.byteCount), value: value))
    bytes.append(text)
    return entries.count - 1
  }

  @inlinable
  mutating func append(_ text: RawSpan, _ hash: UInt64, _ value: Value) -> Int {
    if 2 * (entries.count + 1) > table.count { grow() }
    entries.append(
      Entry(hash: hash, start: UInt32(bytes.count), count: UInt32(text.byteCount), value: value))
    bytes.append(text)
    fillSlot(entries.count)
    return entries.count - 1
  }

  @inlinable
  mutating func grow() {
    table = [UInt32](repeating: 0, count: 2 * table.count)
    for number in entries.indices { fillSlot(number + 1) }
  }

  @inlinable
  mutating func fillSlot(_ number: Int) {
    var slot = Int(truncatingIfNeeded: entries[number - 1].hash) & (table.count - 1)
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    table[slot] = UInt32(number)
  }
}
