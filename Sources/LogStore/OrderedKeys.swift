import Bytes
import RecordFormat

/// The keys of one row in the ordered indexes of its table.
public struct OrderedKeys {
  /// The maximum length of a key in bytes.
  public static var maximumKeyLength: Int { OrderedPage.maximumKeyLength }

  /// For each key: the number of its index, its length, and its bytes.
  private var bytes: [UInt8] = []

  /// Creates an empty list.
  public init() {}

  var isEmpty: Bool { bytes.isEmpty }
  var byteCount: Int { bytes.count }

  /// Removes all keys and keeps the capacity of the buffer.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Adds a key. A key that the row already has in this index is ignored.
  ///
  /// - Parameters:
  ///   - index: The number of the ordered index: its position in `Transaction.orderedIndexes(of:)`.
  ///   - key: The key. Of a longer one, the first 255 bytes count.
  public mutating func add(_ index: Int, _ key: RawSpan) {
    let count = min(key.byteCount, Self.maximumKeyLength)
    bytes.append(UInt8(index))
    bytes.append(UInt8(count))
    bytes.append(key.slice(0, count))
  }

  /// Calls `body` with each key and the number of its index.
  @inline(__always)
  func forEach(_ body: (Int, RawSpan) throws(StoreError) -> Void) throws(StoreError) {
    let all = bytes.rawSpan
    var offset = 0
    while offset < all.byteCount {
      let count = Int(all.u8(at: offset + 1))
      try body(Int(all.u8(at: offset)), all.slice(offset + 2, count))
      offset += 2 + count
    }
  }
}
