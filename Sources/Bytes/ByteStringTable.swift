/// Byte strings, each once, with a value for each: a hash table that numbers them from 0 in the order in which they come.
///
/// The strings lie one behind the other in one buffer, so that a new one is no allocation. Open addressing, at most half full. It is
/// public, as this package's hot paths are, to be specialised by other modules.
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
  /// A string's number plus one; 0 for free.
  @usableFromInline var table = [UInt32](repeating: 0, count: 1024)
  @usableFromInline let seed: HashSeed

  @inlinable
  public init(seed: HashSeed) { self.seed = seed }

  /// Strings in the table.
  @inlinable @inline(__always)
  public var count: Int { entries.count }

  /// Bytes of all strings.
  @inlinable @inline(__always)
  public var byteCount: Int { bytes.count }

  /// The value of string number `number`.
  @inlinable
  public subscript(number: Int) -> Value {
    @inline(__always) get { entries[number].value }
    @inline(__always) _modify { yield &entries[number].value }
  }

  /// Whether string number `number` is `text`.
  @inlinable @inline(__always)
  public func isText(_ number: Int, _ text: RawSpan) -> Bool {
    let entries = entries.span
    let (start, count) = (entries[number].start, entries[number].count)
    return bytes.rawSpan.slice(Int(start), Int(count)).hasSameBytes(as: text)
  }

  /// String number `number`.
  @inlinable
  @_lifetime(borrow self)
  public func text(_ number: Int) -> RawSpan {
    bytes.rawSpan.slice(Int(entries[number].start), Int(entries[number].count))
  }

  /// The number of `text`; `nil` if it is not in the table. Complexity: one hash.
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

  /// The number of `text`, which gets `value` if it is new.
  @inlinable
  public mutating func number(of text: RawSpan, new value: Value) -> Int {
    let hash = KeyHash.of(text, seed)
    return find(text, hash) ?? append(text, hash, value)
  }

  /// Adds `text`, which is not in the table. Returns its number.
  @inlinable @discardableResult
  public mutating func insert(_ text: RawSpan, _ value: Value) -> Int {
    append(text, KeyHash.of(text, seed), value)
  }

  @inlinable
  mutating func append(_ text: RawSpan, _ hash: UInt64, _ value: Value) -> Int {
    if 2 * (entries.count + 1) > table.count { grow() }
    entries.append(
      Entry(hash: hash, start: UInt32(bytes.count), count: UInt32(text.byteCount), value: value))
    bytes.append(text)
    place(entries.count)
    return entries.count - 1
  }

  @inlinable
  mutating func grow() {
    table = [UInt32](repeating: 0, count: 2 * table.count)
    for number in entries.indices { place(number + 1) }
  }

  @inlinable
  mutating func place(_ number: Int) {
    var slot = Int(truncatingIfNeeded: entries[number - 1].hash) & (table.count - 1)
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    table[slot] = UInt32(number)
  }
}
