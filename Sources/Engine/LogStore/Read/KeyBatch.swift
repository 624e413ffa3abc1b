import Bytes

/// A batch of keys that are looked up together, stored contiguously in one buffer.
///
/// Independent lookups spend most of their time waiting for memory. In a batch, the cache lines of many keys are
/// prefetched before the first of them is needed; see ``Snapshot/forEachRecord(_:of:_:)``.
public struct KeyBatch: Sendable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  /// Creates an empty batch.
  public init() {}

  /// Reserves space for `count` keys with a total of `byteCount` bytes.
  public mutating func reserveCapacity(_ count: Int, byteCount: Int) {
    ends.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  /// Appends a key.
  public mutating func append(_ key: RawSpan) {
    bytes.append(key)
    ends.append(bytes.count)
  }

  /// Removes all keys and keeps the capacity of the buffers.
  public mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  /// The number of keys in the batch.
  public var count: Int { ends.count }

  /// Returns the key at `index`, in the order in which the keys were appended.
  @_lifetime(borrow self)
  public func key(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : ends[index - 1]
    return bytes.rawSpan.extracting(start..<ends[index])
  }
}
