import Bytes
import Sealing

/// The highest commit of a store that was seen: it tells that an older file was restored.
///
///      0 24  name, padded with zeros    24 16  store id    40 8  generation
///     48  8  sequence                   56  8  time        64 8  reserved      72 16  code
package struct StoreMark: Sendable, Equatable {
  /// The name of the store, such as `catalogue`.
  package var name: String
  /// The id of the store, 16 bytes.
  package var storeID: [UInt8]
  package var generation: UInt64
  package var sequence: UInt64
  /// When the mark was written, in microseconds since 1970 UTC.
  package var time: Int64

  package init(name: String, storeID: [UInt8], generation: UInt64, sequence: UInt64, time: Int64) {
    precondition(storeID.count == Layout.storeIDSize, "the id of a store has 16 bytes")
    (self.name, self.storeID) = (name, storeID)
    (self.generation, self.sequence, self.time) = (generation, sequence, time)
  }

  /// Whether the store that has this id, generation and sequence now was newer when the mark was written.
  ///
  /// Another store says nothing: it was made anew. A generation alone says nothing either: a rollback goes back to the one
  /// before, with a higher sequence.
  package func isNewer(thanStore storeID: [UInt8], sequence: UInt64) -> Bool {
    storeID == self.storeID && sequence < self.sequence
  }

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
      let text = String(validating: name.prefix { $0 != 0 }, as: UTF8.self)
    else { return nil }
    self.init(
      name: text, storeID: storeID, generation: generation, sequence: sequence, time: Int64(bitPattern: time))
  }

  private static func code(of bytes: [UInt8], _ key: DataKey) throws(SealingError) -> [UInt8] {
    try key.secret.derived(salt: [], info: Array("shelfmark mark".utf8) + bytes, count: Layout.codeSize).published()
  }
}
