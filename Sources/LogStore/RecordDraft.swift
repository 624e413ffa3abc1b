import Bytes
import RecordFormat

/// A row that is about to be written: its keys, shared strings and body. Reused from row to row.
public struct RecordDraft {
  private(set) var shared: [SharedString] = []
  private(set) var keys: [UInt8] = []
  private(set) var keyEnds: [Int] = []
  /// What the application stores behind the keys.
  public var body: [UInt8] = []

  public init() {}

  /// Empties the draft and keeps its buffers.
  public mutating func reset() {
    shared.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    keyEnds.removeAll(keepingCapacity: true)
    body.removeAll(keepingCapacity: true)
  }

  /// Adds the key of the table's next key space, which is none of lists.
  public mutating func addKey(_ key: RawSpan) {
    precondition(keyEnds.count < UInt8.max, "a row has at most 255 keys")
    keys.append(key)
    keyEnds.append(keys.count)
  }

  /// Adds the keys of the table's next key space, which is one of lists: each once.
  ///
  /// - Parameter list: each up to 255 bytes; a longer one is the caller's mistake.
  public mutating func addKeys(_ list: some Sequence<[UInt8]>) {
    precondition(keyEnds.count < UInt8.max, "a row has at most 255 keys")
    for key in list {
      precondition(key.count <= KeyList.maximumKeyLength, "a key in a list has at most 255 bytes")
      keys.append(UInt8(key.count))
      keys.append(contentsOf: key)
    }
    keyEnds.append(keys.count)
  }

  /// Adds the keys of the table's next key space, which is one of lists, as `body` appends them in the form of `KeyList`.
  ///
  /// - Parameter body: appends to what is there; bytes that are no list are the caller's mistake. What it threw, the draft
  ///   must be reset.
  public mutating func addKeys(_ body: (inout [UInt8]) throws -> Void) rethrows {
    precondition(keyEnds.count < UInt8.max, "a row has at most 255 keys")
    let start = keys.count
    try body(&keys)
    precondition(
      KeyList.isValid(keys.rawSpan.slice(start, keys.count - start)), "keys of a list stand behind their lengths")
    keyEnds.append(keys.count)
  }

  /// Adds the next shared string.
  public mutating func addShared(_ string: SharedString) {
    precondition(shared.count < UInt8.max, "a row has at most 255 shared strings")
    shared.append(string)
  }
}

/// A string that stands once in a file, however many rows name it. Only rows of the transaction that shared it may name it.
public struct SharedString: Sendable {
  /// 0 for the empty string.
  let unit: UInt32
  /// The number of the transaction that shared it: in another one, the unit is some other object's, or nobody's.
  let owner: UInt32

  /// Belongs to every transaction.
  public static let empty = SharedString(unit: 0, owner: 0)
}
