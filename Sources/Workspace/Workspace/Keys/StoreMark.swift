import Bytes
import LogStore
import Sealing

/// The highest commit of a store that was seen: it tells that an older file was restored.
///
///      0 24  name, padded with zeros    24 16  store id    40 8  generation
///     48  8  sequence                   56  8  time        64 8  found         72 16  code
package struct StoreMark: Sendable, Equatable {
  /// The name of the store, such as `catalogue`.
  package var name: String
  /// The id of the store, 16 bytes.
  package var storeID: [UInt8]
  package var generation: UInt64
  package var sequence: UInt64
  /// When the mark was written, in microseconds since 1970 UTC.
  package var time: Int64
  /// The sequence number at which a commit found the store, if it had gone back then. It stays until somebody accepts
  /// that, or all rows are replaced.
  package var found: UInt64?

  package init(
    name: String, storeID: [UInt8], generation: UInt64, sequence: UInt64, time: Int64, found: UInt64? = nil
  ) {
    precondition(storeID.count == Layout.storeIDSize, "the id of a store has 16 bytes")
    (self.name, self.storeID) = (name, storeID)
    (self.generation, self.sequence, self.time) = (generation, sequence, time)
    self.found = found
  }

  /// Returns the mark after a commit.
  ///
  /// Numbers of commits go on from one generation to the next, so a lower one is that of an older file. A commit that
  /// adds to that file does not hide it; one that replaces all rows ends it.
  func after(_ commit: DurableCommit, time: Int64) -> StoreMark {
    var next = StoreMark(
      name: name, storeID: commit.storeID, generation: commit.generation, sequence: commit.sequence, time: time)
    switch commit.kind {
    case .everything: return next
    case .rows where commit.sequence <= sequence:
      next = self
      next.found = found ?? commit.sequence - 1
    case .copy where commit.sequence < sequence:
      next = self
      next.found = found ?? commit.sequence
    case .rows, .copy: next.found = found
    }
    return next
  }

  /// The sequence number at which the store was found, if it has gone back: the present one, or the one before an earlier
  /// commit. `nil` if it has not.
  ///
  /// - Parameter present: The present sequence number of the store, read after the mark.
  package func wentBack(present: UInt64) -> UInt64? { present < sequence ? found ?? present : found }

  enum Layout {
    static let nameSize = 24
    static let storeIDSize = 16
    static let codeOffset = 72
    static let codeSize = 16
    static let size = codeOffset + codeSize
    /// The distance of two marks: no two of them share a sector.
    static let placeSize = 256
  }

  /// The names that have a place, in its order. Files have it: only append.
  private static let names = ["catalogue", "documents", "settings", "cache", "origin"]
  /// The number of places in the page.
  static let placeCount = 16

  /// The index of its place; `nil` for a name that has none.
  var place: Int? { Self.names.firstIndex(of: name) }
  /// The offset in the keys file; `nil` for a name that has no place.
  var offset: Int? { place.map { KeyFile.Layout.pageSize + $0 * Layout.placeSize } }

  /// The encoded mark.
  func bytes(_ key: DataKey) throws(SealingError) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(Array(name.utf8))
    writer.fill(to: Layout.nameSize)
    writer.put(storeID)
    writer.put(generation)
    writer.put(sequence)
    writer.put(time)
    writer.put(found ?? 0)
    writer.fill(to: Layout.codeOffset)
    writer.put(try Self.code(of: writer.bytes, key))
    return writer.bytes(ofLayout: Layout.size)
  }

  /// Decodes a mark; `nil` for one that is empty, torn, or made with another key.
  init?(_ bytes: [UInt8], _ key: DataKey) throws(SealingError) {
    guard bytes.count == Layout.size, bytes.contains(where: { $0 != 0 }) else { return nil }
    guard try Self.code(of: Array(bytes[..<Layout.codeOffset]), key) == Array(bytes[Layout.codeOffset...]) else {
      return nil
    }
    var reader = ByteReader(bytes.rawSpan)
    guard let name = reader.bytes(Layout.nameSize), let storeID = reader.bytes(Layout.storeIDSize),
      let generation = reader.u64(), let sequence = reader.u64(), let time = reader.u64(),
      let found = reader.u64(), let text = String(validating: name.prefix { $0 != 0 }, as: UTF8.self)
    else { return nil }
    self.init(
      name: text, storeID: storeID, generation: generation, sequence: sequence, time: Int64(bitPattern: time),
      found: found == 0 ? nil : found)
  }

  private static func code(of bytes: [UInt8], _ key: DataKey) throws(SealingError) -> [UInt8] {
    try key.secret.derived(salt: [], info: Array("shelfmark mark".utf8) + bytes, count: Layout.codeSize).published()
  }
}
