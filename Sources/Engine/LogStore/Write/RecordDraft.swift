import Bytes
import RecordFormat

/// A row to be written: its keys, shared strings and body. A draft is reused from row to row.
public struct RecordDraft {
  private(set) var shared: [SharedString] = []
  private(set) var keys: [UInt8] = []
  private(set) var keyEnds: [Int] = []
  /// The application's data, stored after the keys.
  public var body: [UInt8] = []
  /// The keys of the row in the ordered indexes of its table. They are not stored in the record.
  public var orderedKeys = OrderedKeys()

  /// Creates a draft without keys, shared strings and body.
  public init() {}

  /// Empties the draft and keeps the capacity of its buffers.
  public mutating func reset() {
    shared.removeAll(keepingCapacity: true)
    keys.removeAll(keepingCapacity: true)
    keyEnds.removeAll(keepingCapacity: true)
    body.removeAll(keepingCapacity: true)
    orderedKeys.removeAll()
  }

  /// Adds the key of the table's next key space, whose keys are not lists.
  public mutating func addKey(_ key: RawSpan) {
    precondition(keyEnds.count < UInt8.max, "a row has at most 255 keys")
    keys.append(key)
    keyEnds.append(keys.count)
  }

  /// Adds the keys of the table's next key space, whose keys are lists. Duplicates are added once.
  ///
  /// - Parameter list: The keys.
  /// - Precondition: Each key has at most 255 bytes.
  public mutating func addKeys(_ list: some Sequence<[UInt8]>) {
    precondition(keyEnds.count < UInt8.max, "a row has at most 255 keys")
    for key in list {
      precondition(key.count <= KeyList.maximumKeyLength, "a key in a list has at most 255 bytes")
      keys.append(UInt8(key.count))
      keys.append(contentsOf: key)
    }
    keyEnds.append(keys.count)
  }

  /// Adds the keys of the table's next key space, whose keys are lists, as `body` appends them in the format of
  /// `KeyList`.
  ///
  /// - Parameter body: A closure that appends the keys to the buffer. If it throws, the draft must be reset.
  /// - Precondition: The appended bytes are a valid list.
  public mutating func addKeys(_ body: (inout [UInt8]) throws -> Void) rethrows {
    precondition(keyEnds.count < UInt8.max, "a row has at most 255 keys")
    let start = keys.count
    try body(&keys)
    precondition(
      KeyList.isValid(keys.rawSpan.slice(start, keys.count - start)), "each key of a list must follow its length")
    keyEnds.append(keys.count)
  }

  /// Adds the next shared string.
  public mutating func addShared(_ string: SharedString) {
    precondition(shared.count < UInt8.max, "a row has at most 255 shared strings")
    shared.append(string)
  }
}

/// A reference to a string that is stored once in a file, however many rows refer to it. Only rows of the transaction
/// that shared the string may refer to it.
public struct SharedString: Sendable {
  /// The string's unit offset; 0 for the empty string.
  let unit: UInt32
  /// The number of the transaction that shared the string. In another transaction the unit may belong to another object
  /// or to none.
  let owner: UInt32

  /// The empty string, which is valid in every transaction.
  public static let empty = SharedString(unit: 0, owner: 0)
}
