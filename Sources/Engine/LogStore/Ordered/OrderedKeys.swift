import Bytes
import RecordFormat

/// The keys of one row in the ordered indexes of its table.
public struct OrderedKeys {
  /// The maximum length of a key in bytes.
  public static var maximumKeyLength: Int { OrderedPage.maximumKeyLength }

  /// For each key: the number of its index, its length, and its bytes; then room for more.
  private var bytes: [UInt8] = []
  private(set) var byteCount = 0

  /// Creates an empty list.
  public init() {}

  var isEmpty: Bool { byteCount == 0 }

  /// Removes all keys and keeps the capacity of the buffer.
  public mutating func removeAll() { byteCount = 0 }

  /// Adds a key. A key that the row already has in this index is ignored.
  ///
  /// - Parameters:
  ///   - index: The number of the ordered index: its position in `Transaction.orderedIndexes(of:)`.
  ///   - key: The key. Of a longer one, the first 255 bytes count.
  public mutating func add(_ index: Int, _ key: RawSpan) {
    let count = min(key.byteCount, Self.maximumKeyLength)
    if bytes.count - byteCount < 2 + Self.maximumKeyLength {
      bytes.appendZeros(max(1024, bytes.count))
    }
    bytes[byteCount] = UInt8(index)
    bytes[byteCount + 1] = UInt8(count)
    bytes.put(key.slice(0, count), at: byteCount + 2)
    byteCount += 2 + count
  }

  /// Calls `body` with each key and the number of its index.
  @inline(__always)
  func forEach(_ body: (Int, RawSpan) -> Void) {
    let all = bytes.rawSpan.slice(0, byteCount)
    var offset = 0
    while offset < all.byteCount {
      let count = Int(all.u8(at: offset + 1))
      body(Int(all.u8(at: offset)), all.slice(offset + 2, count))
      offset += 2 + count
    }
  }
}
