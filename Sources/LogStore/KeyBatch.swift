import Bytes

/// Keys that are looked up together, one behind the other in one buffer.
///
/// Independent lookups spend most of their time waiting for memory. Of a batch, the lines of many keys are asked for
/// before the first of them is needed: see ``Snapshot/forEachRecord(_:of:_:)``.
public struct KeyBatch: Sendable {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  public init() {}

  /// Makes room for `count` keys of together `byteCount` bytes.
  public mutating func reserveCapacity(_ count: Int, byteCount: Int) {
    ends.reserveCapacity(count)
    bytes.reserveCapacity(byteCount)
  }

  /// Adds a key.
  public mutating func append(_ key: RawSpan) {
    bytes.append(key)
    ends.append(bytes.count)
  }

  /// Takes all keys out and keeps the buffers.
  public mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  /// Keys in the batch.
  public var count: Int { ends.count }

  /// The key number `index`, counted from 0 in the order in which they were added.
  @_lifetime(borrow self)
  public func key(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : ends[index - 1]
    return bytes.rawSpan.extracting(start..<ends[index])
  }
}
